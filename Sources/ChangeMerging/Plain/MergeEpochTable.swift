import StoreFormat

/// The table in which a store that is none of Core Data's keeps the merge it saw last, until somebody else remembers it.
enum MergeEpochTable {
    static let name = StoreSchema.mergeEpochTable

    static func read(_ connection: StoreConnection) throws -> String? {
        guard try isThere(connection) else { return nil }
        return try connection.value("SELECT max(epoch) FROM \(SQLName.quoted(name))")?.text
    }

    static func write(_ epoch: String, to connection: StoreConnection) throws {
        if try isThere(connection) {
            try connection.run("DELETE FROM \(SQLName.quoted(name))", [])
        } else {
            try connection.execute("CREATE TABLE \(SQLName.quoted(name)) (epoch TEXT NOT NULL)")
        }
        try connection.run("INSERT INTO \(SQLName.quoted(name)) (epoch) VALUES (?)", [.text(epoch)])
    }

    /// Takes it away, in a transaction of the caller's.
    static func drop(from connection: StoreConnection) throws {
        try connection.execute("DROP TABLE IF EXISTS \(SQLName.quoted(name))")
    }

    private static func isThere(_ connection: StoreConnection) throws -> Bool {
        try connection.value("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", [.text(name)]) != nil
    }
}
