package import StoreFormat

/// A row of a table without primary key, or of a virtual one, as a merge found and left it: SQLite's recording sees neither.
package struct UnkeyedRow: Hashable, Sendable, Codable {
    package let table: String
    /// The number of a virtual table's row; nil where rows are the same when they are equal.
    package let key: Int64?
    package let columns: [String]
    /// Nil where the merge added it.
    package let before: [StoredValue]?
    /// Nil where the merge removed it.
    package let after: [StoredValue]?

    package init(table: String, key: Int64?, columns: [String], before: [SQLValue]?, after: [SQLValue]?) {
        self.table = table
        self.key = key
        self.columns = columns
        self.before = before?.map { StoredValue($0) }
        self.after = after?.map { StoredValue($0) }
    }
}
