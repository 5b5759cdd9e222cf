internal import CSQLite
internal import SystemPackage

/// SQLite's connection to a vetted main file; no other code in the package opens a database file.
///
/// Its statements retain it, so that it outlives them and every callback of SQLite.
final class SQLiteDatabase {
    /// SQLite's handle; valid until the connection is closed.
    let handle: OpaquePointer
    private(set) var isClosed = false
    private let path: String
    private var wait: BusyWait?
    private var budget: StepBudget?

    /// Opens the file without reading it: a file that replaced the store meanwhile is neither read nor recovered.
    init(_ vetted: VettedFile, for access: StoreConnection.Access, path: String) throws {
        try SQLiteLibrary.requireFitness(toOpen: path)
        self.path = path
        handle = try vetted.opening { try Self.open(vetted, for: access, path: path) }
        try vetted.requireUnchanged(isMoved: csqlite_has_moved(handle) != 0)
    }

    deinit {
        if !isClosed { sqlite3_close_v2(handle) }
    }

    private static func open(
        _ vetted: VettedFile,
        for access: StoreConnection.Access,
        path: String
    ) throws -> OpaquePointer {
        var handle: OpaquePointer?
        let mode = access.isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        let flags = mode | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        let uri = StoreURI.string(path: vetted.path, parameters: access.uriParameters)
        let code = sqlite3_open_v2(uri, &handle, flags, CSQLITE_FILE_SYSTEM)
        guard code == SQLITE_OK, let handle else {
            defer { sqlite3_close_v2(handle) }
            if code & 0xff == SQLITE_CANTOPEN, let handle, sqlite3_system_errno(handle) != 0 {
                throw UnreadableStore.error(for: Errno(rawValue: sqlite3_system_errno(handle)), path: path)
            }
            throw SQLiteResult(code: code, of: handle).error(path: path)
        }
        sqlite3_extended_result_codes(handle, 1)
        return handle
    }

    /// Applies the settings of the access and reads the schema, which rejects a file that is not a database.
    func prepare(for access: StoreConnection.Access, wait: BusyWait, budget: StepBudget) throws(StoreError) {
        (self.wait, self.budget) = (wait, budget)
        wait.install(on: handle)
        access.harden(handle)
        for pragma in access.pragmas { try execute("PRAGMA " + pragma) }
        if access != .liveWriting { budget.allow(forBytes: csqlite_file_size(handle, CSQLiteFileMain)) }
        budget.install(on: handle)
        try execute("SELECT 1 FROM sqlite_schema LIMIT 1")
    }

    private func execute(_ sql: String) throws(StoreError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteResult(code: code, of: handle).error(path: path) }
    }

    /// Closes the connection; fails while one of its statements is in use.
    func close() throws(StoreError) {
        let code = sqlite3_close(handle)
        guard code == SQLITE_OK else { throw SQLiteResult(code: code, of: handle).error(path: path) }
        isClosed = true
    }
}
