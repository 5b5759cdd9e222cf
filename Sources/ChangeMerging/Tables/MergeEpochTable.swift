import StoreAccess

/// The table in which a plain SQLite store keeps the merges it contains, until the journal records them.
enum MergeEpochTable {
    static let name = StoreSchema.mergeEpochTable
    /// The prefix of a merge that was rolled back.
    private static let undone = "undone "

    /// The merges, the last one first.
    static func read(_ connection: StoreConnection) throws -> [String] {
        try rows(connection).filter { !$0.hasPrefix(undone) }
    }

    /// The merges that were rolled back, until the journal records the rollback.
    static func readUndone(_ connection: StoreConnection) throws -> [String] {
        try rows(connection).filter { $0.hasPrefix(undone) }.map { String($0.dropFirst(undone.count)) }
    }

    private static func rows(_ connection: StoreConnection) throws -> [String] {
        guard try isThere(connection) else { return [] }
        var rows: [String] = []
        try connection.forEachRow("SELECT epoch FROM \(SQLName.quoted(name)) ORDER BY rowid DESC") { row in
            if let text = row.text(0) { rows.append(text) }
        }
        return rows
    }

    static func writeUndone(_ epoch: String, to connection: StoreConnection) throws {
        try write(undone + epoch, to: connection)
    }

    static func write(_ epoch: String, to connection: StoreConnection) throws {
        if try !isThere(connection) {
            try connection.execute("CREATE TABLE \(SQLName.quoted(name)) (epoch TEXT NOT NULL)")
        }
        try connection.run("INSERT INTO \(SQLName.quoted(name)) (epoch) VALUES (?)", [.text(epoch)])
    }

    /// Removes one merge, rolled back or not, or all of them, in the caller's transaction.
    ///
    /// The last removal drops the table.
    static func remove(_ epoch: String?, from connection: StoreConnection) throws {
        guard try isThere(connection) else { return }
        if let epoch {
            try connection.run(
                "DELETE FROM \(SQLName.quoted(name)) WHERE epoch IN (?, ?)",
                [.text(epoch), .text(undone + epoch)]
            )
            guard try rows(connection).isEmpty else { return }
        }
        try connection.execute("DROP TABLE \(SQLName.quoted(name))")
    }

    private static func isThere(_ connection: StoreConnection) throws -> Bool {
        try connection.value("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", [.text(name)]) != nil
    }
}
