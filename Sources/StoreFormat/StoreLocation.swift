/// The path of a store, as a folder and the name of its main file, and the names derived from it.
///
/// Two locations are equal if their bytes are: the kernel distinguishes names that look alike.
public struct StoreLocation: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The folder's absolute path, without a trailing slash unless it is the root.
    public let folder: String
    /// The main file's name.
    public let name: String

    public init(folder: String, name: String) {
        self.folder = folder
        self.name = name
    }

    /// The longest path that SQLite opens on Unix, in bytes.
    package static let longestPath = 511

    /// The main file's absolute path.
    public var path: String { folder == "/" ? "/" + name : folder + "/" + name }
    public var description: String { path }

    /// The name of the write-ahead log.
    public var writeAheadLogName: String { name + "-wal" }
    /// The name of the shared-memory index of the write-ahead log.
    public var sharedMemoryName: String { name + "-shm" }
    /// The name of the rollback journal.
    public var journalName: String { name + "-journal" }
    /// The name of the relay, which contains the change notices of the processes that share the store.
    public var relayName: String { ".\(name).relay.sqlite" }
    /// The name of the file with which these processes wake each other.
    public var wakeName: String { ".\(name).wake" }
    /// The name of the parent of the external-files folder, derived from the store's name without extension.
    public var supportFolderName: String { "." + nameWithoutExtension + "_SUPPORT" }
    /// The name of the folder of external files inside the support folder.
    public static let externalDataFolderName = "_EXTERNAL_DATA"

    private var nameWithoutExtension: String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }
}

extension StoreLocation {
    public static func == (left: Self, right: Self) -> Bool {
        left.folder.hasSameBytes(as: right.folder) && left.name.hasSameBytes(as: right.name)
    }

    public func hash(into hasher: inout Hasher) {
        folder.hashBytes(into: &hasher)
        name.hashBytes(into: &hasher)
    }
}
