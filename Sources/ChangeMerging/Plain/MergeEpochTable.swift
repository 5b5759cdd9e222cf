import StoreFormat

/// The table in which a store that is none of Core Data's keeps the merges it saw, until somebody else remembers them.
enum MergeEpochTable {
    static let name = StoreSchema.mergeEpochTable

    /// The merges, the last one first.
    static func read(_ connection: StoreConnection) throws -> [String] {
        guard try isThere(connection) else { return [] }
        var epochs: [String] = []
        try connection.forEachRow("SELECT epoch FROM \(SQLName.quoted(name)) ORDER BY rowid DESC") { row in
            if let epoch = row.text(0) { epochs.append(epoch) }
        }
        return epochs
    }

    static func write(_ epoch: String, to connection: StoreConnection) throws {
        if try !isThere(connection) {
            try connection.execute("CREATE TABLE \(SQLName.quoted(name)) (epoch TEXT NOT NULL)")
        }
        try connection.run("INSERT INTO \(SQLName.quoted(name)) (epoch) VALUES (?)", [.text(epoch)])
    }

    /// Takes one merge out, or all of them, and the table with the last, in a transaction of the caller's.
    static func remove(_ epoch: String?, from connection: StoreConnection) throws {
        guard try isThere(connection) else { return }
        if let epoch {
            try connection.run("DELETE FROM \(SQLName.quoted(name)) WHERE epoch = ?", [.text(epoch)])
            guard try read(connection).isEmpty else { return }
        }
        try connection.execute("DROP TABLE \(SQLName.quoted(name))")
    }

    private static func isThere(_ connection: StoreConnection) throws -> Bool {
        try connection.value("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", [.text(name)]) != nil
    }
}
