/// The rows of a query, read one at a time by the caller; it must not outlive its connection.
package final class StoreCursor {
    private let statement: SQLStatement
    private var isAtEnd = false

    init(_ statement: SQLStatement) { self.statement = statement }

    /// Steps to the next row; false if there is none.
    package func next() throws(StoreError) -> Bool {
        // After the last row SQLite would restart the query.
        guard !isAtEnd else { return false }
        isAtEnd = try !statement.step()
        return !isAtEnd
    }

    /// Passes the current row, which the next step invalidates.
    package func withRow<R>(_ body: (borrowing StoreRow) throws -> R) rethrows -> R { try body(statement.row) }
}
