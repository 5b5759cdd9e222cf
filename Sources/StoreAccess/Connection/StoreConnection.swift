internal import CSQLite
package import SafeFiles

/// The only interface to SQLite: opens an existing store, with settings that match the intended access.
///
/// It never creates a file, never follows a symbolic link, never checkpoints a store that other processes may have
/// open, and never runs code from a hostile file. Use it from one task at a time.
package final class StoreConnection {
    package let location: StoreLocation
    package let access: Access
    private let lockTimeout: Duration
    private let wait: BusyWait
    let budget: StepBudget
    /// The tables in which large values were met.
    var largeValueAccess: [String: LargeValueAccess] = [:]
    let lenders = LargeValueLenders()
    private let database: SQLiteDatabase
    private var statements: [ExactText: SQLStatement] = [:]
    /// The last one used: repeated statements then need no lookup by text.
    private var lastStatement: (sql: String, statement: SQLStatement)?
    private var depth = 0

    /// Opens the store at `location`, which must be a regular file with one name.
    package convenience init(
        _ location: StoreLocation,
        access: Access,
        lockTimeout: Duration = .seconds(20)
    ) throws(StoreError) {
        let vetted: VettedFile
        do {
            vetted = try VettedFile(location)
        } catch {
            throw Self.storeError(error, path: location.path)
        }
        try self.init(vetted, at: location, access: access, lockTimeout: lockTimeout)
    }

    /// Opens a file that was vetted at `location`.
    init(
        _ vetted: VettedFile,
        at location: StoreLocation,
        access: Access,
        lockTimeout: Duration
    ) throws(StoreError) {
        let wait = BusyWait(until: Deadline(after: lockTimeout))
        let budget = StepBudget()
        do {
            let database = try SQLiteDatabase(vetted, for: access, path: location.path)
            try vetted.opening { try database.prepare(for: access, wait: wait, budget: budget) }
            self.database = database
            try vetted.requireUnchanged(isMoved: csqlite_has_moved(database.handle) != 0)
        } catch {
            throw Self.storeError(error, path: location.path)
        }
        self.location = location
        self.access = access
        self.lockTimeout = lockTimeout
        self.wait = wait
        self.budget = budget
    }

    /// Closes the connection; every use after that is an error.
    package func close() throws(StoreError) {
        guard !database.isClosed else { return }
        lastStatement = nil
        statements.removeAll()
        try database.close()
    }

    /// The error of the last call that a caller made on the handle itself.
    package var lastError: StoreError {
        withHandle { error(sqlite3_extended_errcode($0), $0) }
    }

    /// True if the name at which the store was opened now refers to another file, or to none.
    package var hasMoved: Bool { database.isClosed || csqlite_has_moved(database.handle) != 0 }

    /// Passes SQLite's own handle, for calls without a wrapper here; the connection must be open.
    package func withHandle<R>(_ body: (OpaquePointer) throws -> R) rethrows -> R {
        precondition(!database.isClosed, "the connection is closed")
        return try body(database.handle)
    }

    /// The open handle; throws if the connection was closed.
    func openHandle() throws(StoreError) -> OpaquePointer {
        guard !database.isClosed else {
            throw StoreError(.failed, path: location.path, "the connection was closed before")
        }
        return database.handle
    }

    // MARK: Statements

    /// Executes one or several statements, ignoring their rows.
    package func execute(_ sql: String) throws(StoreError) {
        let handle = try beginStatement(until: Deadline(after: lockTimeout))
        defer { depth -= 1 }
        guard !sql.utf8.contains(0) else { throw StoreError(.failed, path: location.path, "a statement contains NUL") }
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code, handle) }
    }

    private func error(_ code: Int32, _ handle: OpaquePointer) -> StoreError {
        budget.error(SQLiteResult(code: code, of: handle), path: location.path)
    }

    /// Runs `body`; its statements end with `cancelled` as soon as the monitor is asked to stop, even during a step.
    package func stopping<R>(by monitor: WorkMonitor, _ body: () throws -> R) rethrows -> R {
        try Self.stopping([self], by: monitor, body)
    }

    /// The same for several connections.
    package static func stopping<R>(
        _ connections: [StoreConnection],
        by monitor: WorkMonitor,
        _ body: () throws -> R
    ) rethrows -> R {
        let formers = connections.map { $0.budget.stop(by: monitor) }
        defer { for (connection, former) in zip(connections, formers) { _ = connection.budget.stop(by: former) } }
        return try body()
    }

    /// Calls `body` with each row in turn; the rows are streamed, and a body that throws ends the loop.
    ///
    /// Keep the statement if it is run repeatedly.
    package func forEachRow(
        _ sql: String,
        _ arguments: [SQLValue] = [],
        keepingStatement isKept: Bool = false,
        _ body: (borrowing StoreRow) throws -> Void
    ) throws {
        _ = try beginStatement(until: Deadline(after: lockTimeout))
        defer { depth -= 1 }
        let statement = try isKept ? keptStatement(sql) : newStatement(sql, isKept: false)
        try statement.run(arguments) {
            try body($0)
            return true
        }
    }

    /// Returns a cursor over the rows of a query, for reading two stores in step.
    package func cursor(_ sql: String, _ arguments: [SQLValue] = []) throws -> StoreCursor {
        _ = try beginStatement(until: Deadline(after: lockTimeout))
        defer { depth -= 1 }
        let statement = try newStatement(sql, isKept: false)
        try statement.begin(arguments)
        return StoreCursor(statement)
    }

    /// Returns the first column of the first row; nil when there is no row.
    package func value(_ sql: String, _ arguments: [SQLValue] = []) throws -> SQLValue? {
        _ = try beginStatement(until: Deadline(after: lockTimeout))
        defer { depth -= 1 }
        var result: SQLValue?
        try keptStatement(sql)
            .run(arguments) {
                result = $0.value(0)
                return false
            }
        return result
    }

    /// Runs one statement that changes the database.
    package func run(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) {
        _ = try beginStatement(until: Deadline(after: lockTimeout))
        defer { depth -= 1 }
        do {
            try keptStatement(sql).run(arguments) { _ in true }
        } catch {
            throw Self.storeError(error, path: location.path)
        }
    }

    /// Runs `body` with a limit on the size of a row: reading a larger one throws `valueTooLarge`.
    func withValueLimit<R>(_ bytes: Int, _ body: () throws -> R) throws -> R {
        let handle = try openHandle()
        let former = sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(clamping: bytes))
        defer { sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, former) }
        return try body()
    }

    // MARK: Transactions

    /// Begins a transaction and acquires the read lock, so that all later reads see one state.
    package func beginReading() throws {
        try execute("BEGIN")
        do {
            _ = try value("SELECT count(*) FROM (SELECT 1 FROM sqlite_schema LIMIT 1)")
        } catch {
            rollback()
            throw error
        }
    }

    /// Begins a transaction with the write lock; throws `busy` if the lock is not free before the deadline.
    package func beginWriting(deadline: Deadline, monitor: WorkMonitor = .silent) throws {
        // If SQLite cannot open a file for writing, it silently opens it read-only.
        guard try sqlite3_db_readonly(openHandle(), "main") == 0 else {
            throw StoreError(.notWritable, path: location.path, "this user may not write to the store")
        }
        try execute("BEGIN IMMEDIATE", until: deadline, monitor)
    }

    /// Commits; waits for blocking readers until the deadline, and leaves the transaction open after it.
    package func commit(deadline: Deadline) throws {
        try execute("COMMIT", until: deadline)
    }

    /// True while a transaction is open.
    package var isInTransaction: Bool { !database.isClosed && sqlite3_get_autocommit(database.handle) == 0 }

    /// True in a transaction that has read, and not written.
    var isOnlyReading: Bool { !database.isClosed && sqlite3_txn_state(database.handle, "main") == SQLITE_TXN_READ }

    /// Rolls the transaction back, if one is open.
    package func rollback() {
        guard isInTransaction else { return }
        sqlite3_exec(database.handle, "ROLLBACK", nil, nil, nil)
    }

    /// Executes one statement, and tries again while a lock blocks it.
    package func execute(
        _ sql: String,
        until deadline: Deadline,
        _ monitor: WorkMonitor = .silent
    ) throws(StoreError) {
        try retry(until: deadline, monitor) { sqlite3_exec($0, sql, nil, nil, nil) }
    }

    /// Repeats a call of SQLite, which returns its result code, while a lock blocks it.
    ///
    /// SQLite does not call the busy handler in every case: a backup stops calling it after the first time that it gives up.
    package func retry(
        until deadline: Deadline,
        _ monitor: WorkMonitor = .silent,
        _ call: (OpaquePointer) -> Int32
    ) throws(StoreError) {
        let handle = try beginStatement(until: deadline, monitor)
        defer { depth -= 1 }
        while true {
            try monitor.checkCancellation()
            let code = call(handle)
            if code == SQLITE_OK || code == SQLITE_DONE { return }
            let result = SQLiteResult(code: code, of: handle)
            guard result.isBusy else { throw result.error(path: location.path) }
            guard wait.step() else {
                try monitor.checkCancellation()
                throw result.error(path: location.path)
            }
        }
    }

    /// Prepares the limits of the next statement: its deadline, and its number of steps.
    private func beginStatement(
        until deadline: Deadline,
        _ monitor: WorkMonitor = .silent
    ) throws(StoreError) -> OpaquePointer {
        let handle = try openHandle()
        wait.begin(until: deadline, monitor)
        if depth == 0, access != .liveWriting {
            // Statements inside a loop use the budget of the loop.
            if access == .immutable || access == .unlocked {
                budget.renew()
            } else {
                budget.allow(forBytes: csqlite_file_size(handle, CSQLiteFileMain))
            }
        }
        depth += 1
        return handle
    }

    private func keptStatement(_ sql: String) throws(StoreError) -> SQLStatement {
        if let (text, statement) = lastStatement, text.hasSameBytes(as: sql), !statement.isAtWork { return statement }
        let key = ExactText(sql)
        if let statement = statements[key], !statement.isAtWork {
            lastStatement = (sql, statement)
            return statement
        }
        let statement = try newStatement(sql, isKept: true)
        lastStatement = nil
        if statements.count >= 128 { statements = statements.filter(\.value.isAtWork) }
        if statements[key] == nil { statements[key] = statement }
        return statement
    }

    private func newStatement(_ sql: String, isKept: Bool) throws(StoreError) -> SQLStatement {
        try SQLStatement(sql, database: database, path: location.path, budget: budget, lenders: lenders, isKept: isKept)
    }

    /// Converts any error of the modules below to a `StoreError`.
    private static func storeError(_ error: any Error, path: String) -> StoreError {
        switch error {
        case let error as StoreError: error
        case let error as UnreadableStore: error.storeError
        default: StoreError(.failed, path: path, "\(error)")
        }
    }
}

extension StoreConnection {
    /// Runs `body` in a read transaction, so that all reads see one state; an open transaction is used, and stays open.
    package func inReadTransaction<R>(_ body: () throws -> R) throws -> R {
        guard !isInTransaction else { return try body() }
        try beginReading()
        defer { rollback() }
        return try body()
    }

    /// Runs `body` in a transaction with the write lock, and commits it unless `body` throws.
    package func inTransaction<R>(until deadline: Deadline, _ body: () throws -> R) throws -> R {
        try beginWriting(deadline: deadline)
        do {
            let result = try body()
            try commit(deadline: deadline)
            return result
        } catch {
            rollback()
            throw error
        }
    }
}
