public import FoundationEssentials
internal import Glibc
internal import SafeFiles
internal import StoreAccess
internal import SystemPackage

/// A folder that an app and its extensions share, named by a group identifier.
///
/// Its parent is the first of: the given root, `$STORE_MIGRATE_GROUPS`, `$XDG_DATA_HOME/group-containers`,
/// `~/.local/share/group-containers`. It is never created here: a missing container is an error.
public struct GroupContainer: Hashable, Sendable {
    public let identifier: String
    /// The container's folder.
    public let url: URL

    /// Finds the container; if it is missing, throws `notFound` with the command that creates the folder.
    public init(_ identifier: String, root: URL? = nil) throws {
        try self.init(identifier, root: root?.absoluteURL.path) { name in
            getenv(name).flatMap { String(validatingCString: $0) }
        }
    }

    init(_ identifier: String, root: String?, environment: (String) -> String?) throws {
        guard Self.isValid(identifier) else {
            throw StoreError(
                .failed,
                path: "",
                "'\(identifier)' is no group identifier: use letters, digits, '.' and '-', and no '.' at the start"
            )
        }
        let root = try root ?? Self.defaultRoot(environment)
        let path = root.hasSuffix("/") ? root + identifier : root + "/" + identifier
        do throws(FileError) {
            _ = try Directory.open(path: path)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory:
                throw StoreError(
                    .notFound,
                    path: path,
                    "there is no group container; create it: mkdir -p \(Self.quotedForShell(path))"
                )
            case .notDirectory:
                throw StoreError(.unreadable, path: path, "the group container is not a folder")
            default: throw StoreError(.unreadable, path: path, "the group container cannot be opened (\(error.errno))")
            }
        }
        self.identifier = identifier
        url = URL(filePath: path, directoryHint: .isDirectory)
    }

    /// The URL of the store with that database name: `<name>.sqlite` in the container.
    public func storeURL(databaseName: String) -> URL {
        url.appending(path: databaseName + ".sqlite", directoryHint: .notDirectory)
    }

    private static func isValid(_ identifier: String) -> Bool {
        guard let first = identifier.utf8.first, first != UInt8(ascii: "."), identifier.utf8.count <= 255 else {
            return false
        }
        return identifier.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII
                && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                    || ".-".unicodeScalars.contains(scalar))
        }
    }

    /// The folder of all containers.
    ///
    /// An empty variable counts as unset; so does a relative `$XDG_DATA_HOME`, as its specification requires.
    private static func defaultRoot(_ environment: (String) -> String?) throws -> String {
        if let groups = environment("STORE_MIGRATE_GROUPS"), !groups.isEmpty {
            guard groups.hasPrefix("/") else {
                throw StoreError(.failed, path: groups, "$STORE_MIGRATE_GROUPS is not an absolute path")
            }
            return groups
        }
        do {
            return try StoreLocation.userData(environment) + "/group-containers"
        } catch {
            throw StoreError(
                .notFound,
                path: "",
                "cannot locate group containers: set $STORE_MIGRATE_GROUPS or $HOME"
            )
        }
    }

    private static func quotedForShell(_ text: String) -> String {
        let plain = text.utf8.allSatisfy {
            (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
                || [45, 46, 47, 95].contains($0)
        }
        guard !plain else { return text }
        // By Unicode scalar: a quote and a combining mark form one character, but a shell still sees the quote.
        return "'" + text.unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
    }
}

extension URL {
    /// The URL of the store `<name>.sqlite` in the container of a group.
    ///
    /// Throws as ``GroupContainer/init(_:root:)`` does when there is no container.
    public static func group(_ identifier: String, name: String) throws -> URL {
        try GroupContainer(identifier).storeURL(databaseName: name)
    }
}
