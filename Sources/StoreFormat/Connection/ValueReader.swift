internal import CSQLite

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
