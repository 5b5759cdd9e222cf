internal import CSQLite

/// The row a statement stands on; it is lent to the body of a loop and cannot outlive one step.
///
/// A column number out of range reads as null, as SQLite has it.
package struct StoreRow: ~Copyable {
    let statement: OpaquePointer
    package let columnCount: Int

    /// The storage class of a value as it is stored.
    package func type(_ column: Int) -> StorageClass {
        StorageClass(rawValue: sqlite3_column_type(statement, Int32(truncatingIfNeeded: column))) ?? .null
    }

    package func isNull(_ column: Int) -> Bool { type(column) == .null }

    /// The value as an integer; what is not one is converted as SQLite does it.
    package func integer(_ column: Int) -> Int64 {
        sqlite3_column_int64(statement, Int32(truncatingIfNeeded: column))
    }

    /// The value as a real; what is not one is converted as SQLite does it.
    package func real(_ column: Int) -> Double {
        sqlite3_column_double(statement, Int32(truncatingIfNeeded: column))
    }

    /// The text of a value that is stored as text, with invalid bytes repaired; nil for every other storage class.
    package func text(_ column: Int) -> String? {
        guard type(column) == .text else { return nil }
        let index = Int32(truncatingIfNeeded: column)
        guard let start = sqlite3_column_text(statement, index) else { return nil }
        let count = Int(sqlite3_column_bytes(statement, index))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Lends the bytes of a text or a blob as they are stored; they are gone when `body` returns.
    package func withBytes<R>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        let index = Int32(truncatingIfNeeded: column)
        // The order matters: asking for the blob first keeps SQLite from converting a text to another encoding.
        let start = sqlite3_column_blob(statement, index)
        let count = Int(sqlite3_column_bytes(statement, index))
        return try body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    /// The value with its storage class, copied.
    package func value(_ column: Int) -> SQLValue {
        switch type(column) {
        case .integer: .integer(integer(column))
        case .real: .real(real(column))
        case .text: .text(text(column) ?? "")
        case .blob: .blob(withBytes(column) { [UInt8]($0) })
        case .null: .null
        }
    }

    /// True when a value is the same as one of another row, storage class and all; nothing is copied.
    package func holds(_ column: Int, sameAs other: borrowing StoreRow, _ otherColumn: Int) -> Bool {
        let type = type(column)
        guard type == other.type(otherColumn) else { return false }
        switch type {
        case .null: return true
        case .integer: return integer(column) == other.integer(otherColumn)
        case .real: return real(column) == other.real(otherColumn)
        case .text, .blob:
            return withBytes(column) { bytes in
                other.withBytes(otherColumn) { bytes.count == $0.count && bytes.elementsEqual($0) }
            }
        }
    }
}
