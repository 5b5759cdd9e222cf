/// One file of a store, or beside it.
public struct StoreFile: Hashable, Sendable, Codable {
    /// The role of a file.
    public enum Role: String, Sendable, Codable {
        case main
        case writeAheadLog
        case sharedMemory
        case journal
        /// A file in the folder of external binary data.
        case externalData
        /// A file beside the store that Core Data does not create, and that is not carried.
        case beside
    }

    public let role: Role
    /// The path relative to the store's folder.
    public let name: String
    /// The size in bytes.
    public let bytes: Int64

    /// The number of files, and their total size.
    package struct Total: Hashable, Sendable {
        package var count = 0
        package var bytes: Int64 = 0

        package init() {}
    }

    public init(role: Role, name: String, bytes: Int64) {
        self.role = role
        self.name = name
        self.bytes = bytes
    }
}
