internal import CSQLite

/// The current row of a statement; it is valid only inside the body of a loop, until the next step.
///
/// A column number out of range reads as null, as in SQLite.
package struct StoreRow: ~Copyable {
    let statement: OpaquePointer
    package let columnCount: Int

    /// The storage class of a value as it is stored.
    package func type(_ column: Int) -> StorageClass {
        StorageClass(rawValue: sqlite3_column_type(statement, Int32(truncatingIfNeeded: column))) ?? .null
    }

    package func isNull(_ column: Int) -> Bool { type(column) == .null }

    /// The value as an integer, converted by SQLite's rules if necessary.
    package func integer(_ column: Int) -> Int64 {
        sqlite3_column_int64(statement, Int32(truncatingIfNeeded: column))
    }

    /// The value as a real, converted by SQLite's rules if necessary.
    package func real(_ column: Int) -> Double {
        sqlite3_column_double(statement, Int32(truncatingIfNeeded: column))
    }

    /// The text for display and names, if it is stored as text; ``value(_:)`` has its exact bytes.
    package func text(_ column: Int) -> String? {
        guard type(column) == .text else { return nil }
        return SQLText(copying: stored(column)).string
    }

    /// A row's value can be used unprotected, because all connections here have no mutex.
    func stored(_ column: Int) -> OpaquePointer? { sqlite3_column_value(statement, Int32(truncatingIfNeeded: column)) }

    /// Passes the stored bytes of a text or a blob; they are invalid once `body` returns.
    package func withBytes<R>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try SQLValue.withBytes(of: stored(column), body)
    }

    /// The value with its storage class, copied.
    package func value(_ column: Int) -> SQLValue { SQLValue(copying: stored(column)) }

    /// True if a value equals one of another row, storage class included; nothing is copied.
    package func holds(_ column: Int, sameAs other: borrowing StoreRow, _ otherColumn: Int) -> Bool {
        let type = type(column)
        guard type == other.type(otherColumn) else { return false }
        switch type {
        case .null: return true
        case .integer: return integer(column) == other.integer(otherColumn)
        case .real: return real(column).bitPattern == other.real(otherColumn).bitPattern
        case .text, .blob:
            return withBytes(column) { bytes in
                other.withBytes(otherColumn) { bytes.count == $0.count && SQLValue.order(bytes, $0) == 0 }
            }
        }
    }
}
