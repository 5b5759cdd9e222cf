package import StoreFormat

/// A row that SQLite's recording does not see, as a merge found and left it.
///
/// It sees none of a table without primary key, of a virtual one, and of one with generated columns.
package struct UnkeyedRow: Hashable, Sendable, Codable {
    package let table: String
    /// The columns that tell the row from others; empty where rows are the same when they are equal.
    package let keyColumns: [String]
    package let columns: [String]
    /// Nil where the merge added it.
    package let before: [StoredValue]?
    /// Nil where the merge removed it.
    package let after: [StoredValue]?

    package init(table: String, keyColumns: [String], columns: [String], before: [SQLValue]?, after: [SQLValue]?) {
        self.table = table
        self.keyColumns = keyColumns
        self.columns = columns
        self.before = before?.map { StoredValue($0) }
        self.after = after?.map { StoredValue($0) }
    }
}
