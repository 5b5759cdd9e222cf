import ArgumentParser
import FoundationEssentials
import StoreAccess
import StoreFormat
import StoreMigration

/// A database of a group container.
struct GroupOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The group that shares the store, instead of its path.", valueName: "id"))
    var group: String?

    @Option(
        help: ArgumentHelp(
            "The database's name in the group, without .sqlite. (default: the name of the call's other store)",
            valueName: "name"
        )
    )
    var name: String?

    @Option(
        help: ArgumentHelp(
            "The folder of all groups, instead of $STORE_MIGRATE_GROUPS.",
            valueName: "dir"
        )
    )
    var groups: PathArgument?

    mutating func validate() throws {
        if let name { try Self.requireName(name) }
    }

    static func requireName(_ name: String) throws {
        guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
            throw ValidationError("'\(name)' is not a database name")
        }
    }

    /// Throws for a malformed group identifier; does not check that the container exists.
    static func requireIdentifier(_ group: String) throws {
        do {
            _ = try GroupContainer(group, root: URL(filePath: "/"))
        } catch let error as StoreError {
            if error.code == .failed { throw ValidationError(error.message) }
        }
    }

    /// The container of the group.
    func container() throws -> GroupContainer { try Self.container(group ?? "", in: groups) }

    /// Throws for `--name` and `--groups` without a group, and for a group without the name of its database if the call
    /// names no other store that could give it.
    func requireComplete(hasOtherStore: Bool) throws {
        guard group != nil || (name == nil && groups == nil) else {
            throw ValidationError("--name and --groups go with --group")
        }
        guard group == nil || name != nil || hasOtherStore else { throw ValidationError("--group goes with --name") }
    }

    /// The named database in the group as a path; without a name, the one that is called as `store`.
    func path(ofDatabaseLike store: StoreLocation? = nil) throws -> PathArgument {
        let url =
            try store.map(url(ofDatabaseLike:))
            ?? name.map { try container().storeURL(databaseName: $0) } ?? container().url
        guard let path = PathArgument(argument: StoreLocation(url: url).path) else {
            throw ValidationError("name the store")
        }
        return path
    }

    /// The named database in the group; without a name, the one that is called as `store`.
    func url(ofDatabaseLike store: StoreLocation) throws -> URL {
        let container = try container()
        guard let name else { return container.url.appending(path: store.name) }
        return container.storeURL(databaseName: name)
    }

    /// The container of a group, which is never created here; a malformed identifier is a usage error.
    static func container(_ group: String, in groups: PathArgument?) throws -> GroupContainer {
        do {
            return try GroupContainer(group, root: groups?.url)
        } catch let error as StoreError where error.code == .failed {
            throw Failure(
                outcome: .usage,
                message: error.message,
                path: error.path,
                advice: "See 'store-migrate help container get'."
            )
        } catch let error as StoreError where error.code == .notFound && !error.path.isEmpty {
            throw Failure(
                outcome: .nothingFound,
                message: "there is no group container",
                path: error.path,
                advice: "Create it as the user who owns it.",
                next: .makeFolder(path: error.path)
            )
        }
    }
}
