import ArgumentParser
import StoreFormat

/// One store, given as a path or as a database of a group.
struct StoreArguments: ParsableArguments {
    @Argument(help: "The store: the path of its main file.")
    var path: PathArgument?

    @OptionGroup var group: GroupOptions

    func validate() throws {
        guard (path == nil) != (group.group == nil) else {
            throw ValidationError("name the store once: STORE, or --group ID --name NAME")
        }
        guard (group.group == nil) == (group.name == nil), group.group != nil || group.groups == nil else {
            throw ValidationError("--group goes with --name, and --groups with both")
        }
    }

    /// The named store; throws for a group without a container.
    var store: PathArgument {
        get throws {
            if let path { return path }
            let url = try group.container().storeURL(databaseName: group.name ?? "")
            guard let path = PathArgument(argument: StoreLocation(url: url).path) else {
                throw ValidationError("name the store")
            }
            return path
        }
    }
}
