package import StoreFormat

/// A row that SQLite's session extension does not see, before and after a merge.
///
/// The extension sees no row of a table without a primary key, of a virtual table, or of one with generated columns.
package struct UnkeyedRow: Hashable, Sendable, Codable {
    package let table: String
    /// The columns that identify the row; empty if rows are identified by all their values.
    package let keyColumns: [String]
    package let columns: [String]
    /// Nil if the merge added the row.
    package let before: [StoredValue]?
    /// Nil if the merge removed the row.
    package let after: [StoredValue]?

    package init(table: String, keyColumns: [String], columns: [String], before: [SQLValue]?, after: [SQLValue]?) {
        self.table = table
        self.keyColumns = keyColumns
        self.columns = columns
        self.before = before?.map { StoredValue($0) }
        self.after = after?.map { StoredValue($0) }
    }
}
