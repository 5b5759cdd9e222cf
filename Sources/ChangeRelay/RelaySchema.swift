import SafeFiles
import StoreAccess

/// The tables of a queue.
enum RelaySchema {
    /// `SMrl`, the application ID in the database header.
    private static let applicationID: Int64 = 0x534D_726C
    private static let version: Int64 = 1

    /// Creates the tables in an empty file; throws for a foreign file.
    static func prepare(_ connection: StoreConnection, deadline: Deadline) throws {
        try connection.execute("PRAGMA synchronous=FULL")
        if try connection.inReadTransaction({ try isPrepared(connection) }) { return }
        try connection.execute("PRAGMA journal_mode=WAL", until: deadline)
        try connection.inTransaction(until: deadline) {
            // Another process may have created the tables first.
            if try !isPrepared(connection) { try connection.execute(tables) }
        }
    }

    /// False for an empty file; throws for a foreign file.
    ///
    /// Call it in a transaction when other processes may write: otherwise the values it reads may come from before and
    /// after a concurrent creation.
    static func isPrepared(_ connection: StoreConnection) throws -> Bool {
        let id = try connection.value("PRAGMA application_id")?.integer ?? 0
        let found = try connection.value("PRAGMA user_version")?.integer ?? 0
        let tables = try connection.value("SELECT count(*) FROM sqlite_schema")?.integer ?? 0
        if id == 0, found == 0, tables == 0 { return false }
        guard id == applicationID else { throw RelayError.notARelay(connection.location.path) }
        guard found <= version else { throw RelayError.tooNew(connection.location.path) }
        return true
    }

    private static let tables = """
        CREATE TABLE notice (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            writer TEXT NOT NULL,
            number INTEGER NOT NULL,
            author TEXT,
            posted REAL NOT NULL,
            content BLOB NOT NULL,
            count INTEGER,
            UNIQUE (writer, number)
        );
        CREATE TABLE consumer (
            name TEXT PRIMARY KEY,
            position INTEGER NOT NULL,
            needs_refresh INTEGER NOT NULL DEFAULT 0,
            store TEXT,
            history INTEGER
        ) WITHOUT ROWID;
        CREATE TABLE import (
            source TEXT PRIMARY KEY,
            entries INTEGER NOT NULL,
            digest TEXT NOT NULL,
            sequence INTEGER NOT NULL
        ) WITHOUT ROWID;
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        """
}

/// Creates the relay's files beside a store.
enum NewRelayFile {
    /// Creates an empty file if absent, with the store's mode and group, so that every writer of the store may write
    /// it; beside a read-only store, its owner may.
    static func createIfAbsent(_ name: String, likeStore store: String, in folder: Directory) throws {
        if try folder.isIntroduced(name) {
            guard try folder.status(of: name)?.size == 0 else { return }
            // The process that created the file may have been killed before it removed its temporary folder. Beside a file
            // with content, no process searches for such a folder, so the removal must be durable before the first write.
            folder.removeUnintroduced()
            return try folder.synchronize()
        }
        let status = try folder.status(of: store)
        _ = try folder.introduce(name) { nursery in
            let file = try nursery.createFile(name, mode: status.map { $0.mode & 0o666 | 0o200 } ?? 0o600)
            if let status { try file.setGroupIfAllowed(status.group) }
            // fsync mode and group: after a power failure without it, other users could not open the file.
            try file.synchronize()
            try file.close()
        }
    }
}

/// How much a queue keeps for consumers that stay away.
public struct RelayLimits: Sendable, Hashable {
    /// With more notices than this, the oldest are dropped even if consumers have not read them.
    public var mostNotices: Int64
    /// A consumer that leaves a notice unread for longer than this no longer keeps notices in the queue.
    public var longestDelay: Duration

    public init(mostNotices: Int64 = 100_000, longestDelay: Duration = .seconds(7 * 86_400)) {
        self.mostNotices = mostNotices
        self.longestDelay = longestDelay
    }
}
