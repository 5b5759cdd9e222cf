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

/// Reads the texts and blobs of one column in pieces, regardless of their size.
///
/// Source: incremental I/O of SQLite's documentation (`sqlite3_blob_open`).
final class ValueReader {
    private static let pieceSize = 65_536

    private let connection: StoreConnection
    private let table: String
    private let column: String
    private let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)
    private var blob: OpaquePointer?

    init(_ connection: StoreConnection, table: String, column: String) {
        self.connection = connection
        self.table = table
        self.column = column
    }

    deinit {
        sqlite3_blob_close(blob)
        piece.deallocate()
    }

    /// Passes the row's stored value to `body`: its size first with no bytes, then its bytes.
    func read(row: Int64, _ body: (_ size: Int, UnsafeRawBufferPointer) throws -> Void) throws {
        try seek(row)
        let size = Int(sqlite3_blob_bytes(blob))
        try body(size, UnsafeRawBufferPointer(start: nil, count: 0))
        var offset = 0
        while offset < size {
            let count = min(Self.pieceSize, size - offset)
            try check(sqlite3_blob_read(blob, piece.baseAddress, Int32(count), Int32(clamping: offset)))
            try body(size, UnsafeRawBufferPointer(rebasing: piece[..<count]))
            offset += count
        }
    }

    private func seek(_ row: Int64) throws {
        if let blob {
            try check(sqlite3_blob_reopen(blob, row))
        } else {
            try check(connection.withHandle { sqlite3_blob_open($0, "main", table, column, row, 0, &blob) })
        }
    }

    private func check(_ code: Int32) throws {
        guard code != SQLITE_OK else { return }
        throw connection.withHandle { SQLiteResult(code: code, of: $0).error(path: connection.location.path) }
    }
}
