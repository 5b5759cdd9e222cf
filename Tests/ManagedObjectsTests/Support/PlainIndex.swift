import StoreAccess
import Synchronization

/// An index of a table's rows by the key in a column, built once for all keys.
final class PlainIndex: Sendable {
    private let tables: PlainTables
    private let columns = Mutex<[[String]: [Int64: [Int64]]]>([:])

    init(_ tables: PlainTables) { self.tables = tables }

    func rows(of table: String, where column: String, is key: Int64) -> [Int64] {
        columns.withLock { columns in
            if let known = columns[[table, column]] { return known[key] ?? [] }
            var rows: [Int64: [Int64]] = [:]
            if let table = tables.tables[table], let place = table.columns.firstIndex(of: column) {
                for (rowID, row) in table.rows {
                    if let key = row[place].integer { rows[key, default: []].append(rowID) }
                }
            }
            columns[[table, column]] = rows
            return rows[key] ?? []
        }
    }
}
