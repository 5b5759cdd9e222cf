/// The facts about a store that a strategy decides by; they contain no row.
///
/// Members that come with later versions are optional, so that older requests stay readable.
public struct StoreFacts: Hashable, Sendable, Codable {
    /// What wrote the store.
    public enum Kind: String, Sendable, Codable {
        case coreData
        case sqlite
    }

    /// How the store keeps transactions.
    public enum JournalMode: String, Sendable, Codable {
        case wal
        case rollback
    }

    public var kind: Kind
    public var journalMode: JournalMode
    /// True when the store keeps a persistent history.
    public var hasHistory: Bool
    /// True when the store keeps a copy of its model, which writing objects requires.
    public var hasModel: Bool
    /// Objects of a Core Data store, rows of a plain one.
    public var objectCount: Int64
    /// The bytes of the store and its external files.
    public var byteCount: Int64
    public var externalFileCount: Int
    /// The permission bits of the old store.
    public var mode: UInt32
    /// The permission bits of the folder that the store is shared in.
    public var containerMode: UInt32
    /// The number of that folder's group.
    public var containerGroup: UInt32
    /// True when that folder is on a network file system.
    public var isContainerRemote: Bool

    /// Creates facts; the defaults are those of a small Core Data store with a log.
    public init(
        kind: Kind = .coreData,
        journalMode: JournalMode = .wal,
        hasHistory: Bool = false,
        hasModel: Bool = true,
        objectCount: Int64 = 0,
        byteCount: Int64 = 0,
        externalFileCount: Int = 0,
        mode: UInt32 = 0o644,
        containerMode: UInt32 = 0o755,
        containerGroup: UInt32 = 0,
        isContainerRemote: Bool = false
    ) {
        self.kind = kind
        self.journalMode = journalMode
        self.hasHistory = hasHistory
        self.hasModel = hasModel
        self.objectCount = objectCount
        self.byteCount = byteCount
        self.externalFileCount = externalFileCount
        self.mode = mode
        self.containerMode = containerMode
        self.containerGroup = containerGroup
        self.isContainerRemote = isContainerRemote
    }
}
