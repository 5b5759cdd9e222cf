extension StoreFence {
    /// Drops every trigger of a fence, inside the transaction that `connection` has open.
    package static func lift(in connection: StoreConnection) throws {
        var names: [String] = []
        try connection.forEachRow(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND substr(name, 1, ?) = ?",
            [.integer(Int64(prefix.utf8.count)), .text(prefix)]
        ) { row in
            if let name = row.text(0) { names.append(name) }
        }
        for name in names { try connection.execute("DROP TRIGGER \(SQLName.quoted(name))") }
    }
}
