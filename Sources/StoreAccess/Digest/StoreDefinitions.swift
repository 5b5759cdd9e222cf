/// The definitions that count as content: tables, indexes, triggers, views, the encoding, `user_version` and
/// `application_id`.
///
/// Excluded are this package's fence and merge marks, and SQLite's own tables.
package struct StoreDefinitions: Hashable, Sendable {
    /// One row of `sqlite_schema`.
    package struct Entry: Hashable, Sendable {
        package let type: String
        package let name: String
        /// The table or view that it belongs to; its own name for a table or view.
        package let table: String
        /// The statement that created it; nil for the index of a constraint.
        package let sql: String?
        /// SHA-256 of all four, byte by byte.
        package let digest: String

        package var key: Key { Key(type: type, name: name) }
    }

    /// A name as SQLite compares it; triggers have a namespace of their own.
    package struct Key: Hashable, Sendable {
        package let isTrigger: Bool
        package let name: String

        package init(type: String, name: String) {
            isTrigger = type == "trigger"
            self.name = name.lowercased()
        }
    }

    /// The header fields that are content.
    package static let headerFields = ["encoding", "user_version", "application_id"]

    /// The header fields by name.
    package let header: [String: SQLValue]
    package let entries: [Key: Entry]
    /// SHA-256 of all definitions: the value of ``StoreDigest/schema``.
    package let digest: String

    /// Reads the definitions, without `tables` and the entries that belong to them.
    package init(reading connection: StoreConnection, leavingOut tables: Set<String> = []) throws {
        var whole = ContentHasher()
        var header: [String: SQLValue] = [:]
        for field in Self.headerFields {
            let value = try connection.value("PRAGMA " + field) ?? .null
            header[field] = value
            switch value {
            case .integer(let number): whole.append(number)
            case .text(let text): whole.append(text.string)
            default: whole.appendNull()
            }
        }
        var entries: [Key: Entry] = [:]
        try connection.forEachRow(
            "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type COLLATE BINARY, name COLLATE BINARY"
        ) { row in
            let (type, name, table) = (row.text(0) ?? "", row.text(1) ?? "", row.text(2) ?? "")
            if type == "trigger", name.hasPrefix(StoreFence.prefix) { return }
            if name.hasPrefix("sqlite_stat") || name == "sqlite_sequence" || tables.contains(table)
                || table == StoreSchema.mergeEpochTable
            {
                return
            }
            var own = ContentHasher()
            for column in 0..<4 {
                whole.append(row, column)
                own.append(row, column)
            }
            let entry = Entry(type: type, name: name, table: table, sql: row.text(3), digest: own.finish())
            entries[entry.key] = entry
        }
        self.header = header
        self.entries = entries
        digest = whole.finish()
    }

    package subscript(table name: String) -> Entry? { entries[Key(type: "table", name: name)] }
}
