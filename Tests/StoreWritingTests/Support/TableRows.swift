import StoreAccess

/// Every row of a store as a plain SQLite reader sees it, to find the rows that a save changed.
struct TableRows {
    private let rows: [String: [SQLValue: [String: SQLValue]]]

    /// Reads all ordinary tables; rows are identified by rowid, those of join tables by all their values.
    init(reading connection: StoreConnection) throws {
        var rows: [String: [SQLValue: [String: SQLValue]]] = [:]
        for table in try StoreSchema(reading: connection).tables where table.kind == .ordinary {
            var found: [SQLValue: [String: SQLValue]] = [:]
            let names = table.columns.map(\.name)
            try connection.forEachRow("SELECT rowid, * FROM \(SQLName.quoted(table.name))") { row in
                var values: [String: SQLValue] = [:]
                for (index, name) in names.enumerated() { values[name] = row.value(index + 1) }
                found[row.value(0)] = values
            }
            rows[table.name] = found
        }
        self.rows = rows
    }

    /// The change of one row.
    struct Change {
        let before: [String: SQLValue]?
        let after: [String: SQLValue]?

        var columns: Set<String> {
            Set((before ?? [:]).keys).union((after ?? [:]).keys).filter { before?[$0] != after?[$0] }
        }
    }

    /// The rows that differ, by table and rowid.
    func changes(to later: TableRows) -> [String: [Int64: Change]] {
        var result: [String: [Int64: Change]] = [:]
        for table in Set(rows.keys).union(later.rows.keys) {
            let (old, new) = (rows[table] ?? [:], later.rows[table] ?? [:])
            for key in Set(old.keys).union(new.keys) where old[key] != new[key] {
                result[table, default: [:]][key.integer ?? 0] = Change(before: old[key], after: new[key])
            }
        }
        return result
    }
}
