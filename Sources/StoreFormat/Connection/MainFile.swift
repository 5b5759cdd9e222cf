internal import CSQLite

/// The bytes of a store's main file, read through a file handle of SQLite's that acquires no lock and opens no sidecar.
///
/// If this process has the store open elsewhere, closing a separate descriptor would release SQLite's locks. SQLite
/// tracks all its handles and keeps the locks.
final class MainFile {
    private let database: SQLiteDatabase
    private let path: String

    init(_ vetted: VettedFile, path: String) throws {
        database = try SQLiteDatabase(vetted, for: .immutable, path: path)
        self.path = path
    }

    /// The size in bytes.
    func size() throws -> Int64 {
        let size = csqlite_file_size(database.handle, CSQLiteFileMain)
        guard size >= 0 else { throw error(Int32(truncatingIfNeeded: -size)) }
        return size
    }

    /// Fills the buffer from `offset` on; bytes beyond the end of the file read as zero.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws {
        let code = csqlite_file_read(
            database.handle,
            CSQLiteFileMain,
            buffer.baseAddress,
            Int32(clamping: buffer.count),
            offset
        )
        guard code == SQLITE_OK || code == SQLiteResult.shortRead else { throw error(code) }
    }

    /// The header; nil if the file does not begin as a database.
    func header() throws -> StoreHeader? {
        try withUnsafeTemporaryAllocation(byteCount: StoreHeader.byteCount, alignment: 8) { buffer in
            try read(into: buffer, at: 0)
            return StoreHeader(UnsafeRawBufferPointer(buffer))
        }
    }

    private func error(_ code: Int32) -> StoreError {
        SQLiteResult(code: code, detail: String(cString: sqlite3_errstr(code))).error(path: path)
    }
}
