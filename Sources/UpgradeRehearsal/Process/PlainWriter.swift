import CSQLite

/// A plain SQLite connection, as an app without Core Data and without this package has it.
final class PlainWriter {
    /// SQLite's error message.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
        let code: Int32

        var isBusy: Bool { [SQLITE_BUSY, SQLITE_LOCKED].contains(code & 0xFF) }
    }

    private static let patience: Int32 = 2_000

    private let path: String
    private var handle: OpaquePointer?

    init(_ path: String) { self.path = path }

    deinit { close() }

    /// Executes statements in one transaction.
    func execute(_ statements: [String]) throws {
        guard statements.count > 1 else {
            for statement in statements { try execute(statement) }
            return
        }
        try execute("BEGIN IMMEDIATE")
        do {
            for statement in statements { try execute(statement) }
            try execute("COMMIT")
        } catch {
            try? execute("ROLLBACK")
            throw error
        }
    }

    /// Executes SQL as it is.
    func execute(_ sql: String) throws {
        let handle = try opened()
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else {
            throw Refusal(description: String(cString: sqlite3_errmsg(handle)), code: code)
        }
    }

    func close() {
        sqlite3_close_v2(handle)
        handle = nil
    }

    private func opened() throws -> OpaquePointer? {
        if let handle { return handle }
        let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil)
        guard code == SQLITE_OK else {
            let message = String(cString: sqlite3_errmsg(handle))
            close()
            throw Refusal(description: message, code: code)
        }
        sqlite3_busy_timeout(handle, Self.patience)
        return handle
    }
}
