public import StoreFormat

/// The table of contents of an archive, its first member `manifest.json`; the same store gives the same manifest.
///
/// It names no machine, no user and no path.
public struct BackupManifest: Hashable, Sendable, Codable {
    /// A file of the archive.
    public struct Member: Hashable, Sendable, Codable {
        public let name: String
        public let bytes: Int64
        /// SHA-256 of its bytes in lower-case hexadecimal.
        public let sha256: String
    }

    /// The store that was backed up.
    public struct Store: Hashable, Sendable, Codable {
        /// An entity, or a table of plain SQLite, and its number of rows.
        public struct Count: Hashable, Sendable, Codable {
            public let name: String
            public let objects: Int64
        }

        /// The main file's name.
        public let name: String
        public let kind: StoreInspection.Kind
        public let uuid: String?
        /// SHA-256 over the version hashes of the model's entities, by name; nil where the store has none.
        public let model: String?
        /// The build number of the framework that wrote the store.
        public let frameworkVersion: Int64?
        public let entities: [Count]
        public let history: HistorySummary?
        /// The content digest.
        public let digest: String
        /// The main file's permission bits, without those that let a program run.
        public let mode: UInt32

        /// Objects, or rows in plain SQLite.
        public var objectCount: Int64 { entities.reduce(0) { $0 &+ $1.objects } }
    }

    /// The name of the member that holds it.
    public static let memberName = "manifest.json"
    /// The newest version of the layout that this package reads and writes.
    public static let currentVersion = 1

    public let formatVersion: Int
    /// The name and version of the program that wrote the archive.
    public let tool: String
    public let store: Store
    /// The members after this one, in their order.
    public internal(set) var members: Members
    /// SHA-256 of this manifest, written with an empty text here.
    var checksum = ""

    package init(tool: String, store: Store, members: some Sequence<Member>) {
        formatVersion = Self.currentVersion
        self.tool = tool
        self.store = store
        self.members = members as? Members ?? Members(members)
    }

    /// The bytes of all members that follow.
    public var byteCount: Int64 { members.reduce(0) { $0 &+ $1.bytes } }
}
