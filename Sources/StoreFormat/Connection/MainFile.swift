internal import CSQLite
internal import SafeFiles
internal import SystemPackage

/// The bytes of a store's main file, read through a handle of SQLite's that takes no lock and looks at no sidecar.
///
/// When this process has the store open elsewhere, closing a descriptor of our own would drop those locks; SQLite knows
/// of all its handles and keeps them.
final class MainFile {
    private let connection: OpaquePointer
    private let path: String

    init(_ vetted: VettedFile, path: String) throws {
        try SQLiteLibrary.requireFitness(toOpen: path)
        connection = try vetted.opening { try Self.open(vetted, path: path) }
        self.path = path
        try vetted.requireUnchanged(isMoved: csqlite_has_moved(connection) != 0)
    }

    private static func open(_ vetted: VettedFile, path: String) throws -> OpaquePointer {
        var connection: OpaquePointer?
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        let uri = StoreURI.string(path: vetted.path, parameters: StoreConnection.Access.immutable.uriParameters)
        let code = sqlite3_open_v2(uri, &connection, flags, nil)
        guard code == SQLITE_OK, let connection else {
            defer { sqlite3_close_v2(connection) }
            if code & 0xff == SQLITE_CANTOPEN, let connection, sqlite3_system_errno(connection) != 0 {
                throw UnreadableStore.error(for: Errno(rawValue: sqlite3_system_errno(connection)), path: path)
            }
            throw SQLiteResult(code: code, of: connection).error(path: path)
        }
        return connection
    }

    deinit { sqlite3_close_v2(connection) }

    /// The size in bytes.
    func size() throws -> Int64 {
        let size = csqlite_file_size(connection, CSQLiteFileMain)
        guard size >= 0 else { throw error(Int32(truncatingIfNeeded: -size)) }
        return size
    }

    /// Fills the buffer from `offset` on; what lies beyond the end reads as zero.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws {
        let code = csqlite_file_read(
            connection,
            CSQLiteFileMain,
            buffer.baseAddress,
            Int32(clamping: buffer.count),
            offset
        )
        guard code == SQLITE_OK || code == SQLiteResult.shortRead else { throw error(code) }
    }

    /// The header; nil when this is not the start of a database.
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
