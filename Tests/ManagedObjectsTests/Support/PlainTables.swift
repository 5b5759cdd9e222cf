import StoreAccess

/// Every row of a store's ordinary tables, without any knowledge of Core Data.
struct PlainTables {
    struct Table {
        let columns: [String]
        /// By rowid.
        var rows: [Int64: [SQLValue]] = [:]
    }

    /// A row that differs between two readings.
    struct Change: Hashable {
        let table: String
        let rowID: Int64
        /// Nil for an inserted row.
        let before: [String: SQLValue]?
        /// Nil for a deleted row.
        let after: [String: SQLValue]?

        /// The columns that differ in a row that exists before and after.
        var columns: Set<String> {
            guard let before, let after else { return [] }
            return Set(before.keys.filter { before[$0] != after[$0] })
        }
    }

    private(set) var tables: [String: Table] = [:]

    init(_ connection: StoreConnection) throws {
        var names: [String] = []
        let list = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
        try connection.forEachRow(list) { if let name = $0.text(0) { names.append(name) } }
        for name in names where !name.hasPrefix("sqlite_") {
            var columns: [String] = []
            try connection.forEachRow("SELECT name FROM pragma_table_info(?)", [.text(name)]) {
                columns.append($0.text(0) ?? "")
            }
            var table = Table(columns: columns)
            try connection.forEachRow("SELECT rowid, * FROM \(SQLName.quoted(name))") { row in
                table.rows[row.integer(0)] = (1..<row.columnCount).map { row.value($0) }
            }
            tables[name] = table
        }
    }

    func value(_ column: String, of rowID: Int64, in table: String) -> SQLValue {
        guard let table = tables[table], let row = table.rows[rowID], let index = table.columns.firstIndex(of: column)
        else { return .null }
        return row[index]
    }

    /// The rows of a table by column name.
    func rows(of table: String) -> [(rowID: Int64, values: [String: SQLValue])] {
        guard let table = tables[table] else { return [] }
        return table.rows.sorted { $0.key < $1.key }.map { ($0.key, Self.named($0.value, table)) }
    }

    func changes(to later: PlainTables) -> [Change] {
        var result: [Change] = []
        for (name, table) in later.tables {
            let former = tables[name] ?? Table(columns: table.columns)
            for rowID in Set(former.rows.keys).union(table.rows.keys) where former.rows[rowID] != table.rows[rowID] {
                result.append(
                    Change(
                        table: name,
                        rowID: rowID,
                        before: former.rows[rowID].map { Self.named($0, former) },
                        after: table.rows[rowID].map { Self.named($0, table) }
                    )
                )
            }
        }
        return result
    }

    private static func named(_ row: [SQLValue], _ table: Table) -> [String: SQLValue] {
        Dictionary(zip(table.columns, row)) { first, _ in first }
    }
}
