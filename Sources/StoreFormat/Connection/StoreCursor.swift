/// The rows of a query, one after the other at the caller's own pace; it must not outlive its connection.
package final class StoreCursor {
    private let statement: SQLStatement
    private var isAtEnd = false

    init(_ statement: SQLStatement) { self.statement = statement }

    /// Goes on to the next row; false when there is none.
    package func next() throws(StoreError) -> Bool {
        // SQLite would begin anew after the last row.
        guard !isAtEnd else { return false }
        isAtEnd = try !statement.step()
        return !isAtEnd
    }

    /// Lends the row that the cursor stands on; it is gone with the next step.
    package func withRow<R>(_ body: (borrowing StoreRow) throws -> R) rethrows -> R { try body(statement.row) }
}
