internal import CSQLite
internal import Synchronization

/// One prepared statement, stepped by hand, so that loops over rows cost no more than SQLite itself.
final class SQLStatement {
    private let pointer: OpaquePointer
    /// Retained, because the connection must not be closed before its statements.
    private let database: SQLiteDatabase
    private var connection: OpaquePointer { database.handle }
    private let path: String
    private let budget: StepBudget
    private let lenders: LargeValueLenders
    /// True while a caller reads one of its rows, so that no other caller reuses the statement.
    private(set) var isAtWork = false

    /// Prepares the only statement in `sql`; more than one is a bug here.
    init(
        _ sql: String,
        database: SQLiteDatabase,
        path: String,
        budget: StepBudget,
        lenders: LargeValueLenders,
        isKept: Bool
    ) throws(StoreError) {
        let connection = database.handle
        var sql = sql
        var pointer: OpaquePointer?
        var isFollowed = false
        let flags = isKept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let code = sql.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) { text in
                var tail: UnsafePointer<CChar>?
                let code = sqlite3_prepare_v3(
                    connection,
                    text.baseAddress,
                    Int32(clamping: text.count),
                    flags,
                    &pointer,
                    &tail
                )
                if let tail, let start = text.baseAddress {
                    isFollowed = text[min(start.distance(to: tail), text.count)...].contains { $0 > 32 && $0 != 59 }
                }
                return code
            }
        }
        guard code == SQLITE_OK else { throw SQLiteResult(code: code, of: connection).error(path: path) }
        guard let pointer, !isFollowed else {
            sqlite3_finalize(pointer)
            throw StoreError(.failed, path: path, "exactly one SQL statement was expected")
        }
        self.pointer = pointer
        self.database = database
        self.path = path
        self.budget = budget
        self.lenders = lenders
    }

    deinit { sqlite3_finalize(pointer) }

    /// Runs the statement with the given arguments, and resets it for the next use.
    ///
    /// `body` returns false to stop early.
    func run(_ arguments: [SQLValue], _ body: (borrowing StoreRow) throws -> Bool) throws {
        isAtWork = true
        defer {
            sqlite3_reset(pointer)
            if !arguments.isEmpty { sqlite3_clear_bindings(pointer) }
            isAtWork = false
        }
        try requireCount(of: arguments)
        try withBound(arguments) { try steps(body) }
    }

    private func steps(_ body: (borrowing StoreRow) throws -> Bool) throws {
        let row = StoreRow(statement: pointer, columnCount: Int(sqlite3_column_count(pointer)))
        while true {
            let code = sqlite3_step(pointer)
            if code == SQLITE_ROW {
                guard try body(row) else { return try leave() }
            } else if code == SQLITE_DONE {
                return
            } else {
                throw failure(code)
            }
        }
    }

    /// Resets the statement before its end, which is when SQLite commits its changes.
    private func leave() throws(StoreError) {
        let code = sqlite3_reset(pointer)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Binds the arguments for a cursor.
    func begin(_ arguments: [SQLValue]) throws(StoreError) {
        isAtWork = true
        try requireCount(of: arguments)
        for (index, argument) in arguments.enumerated() { try check(bind(argument, at: index)) }
    }

    /// Steps to the next row; false if there is none.
    func step() throws(StoreError) -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        case let code: throw failure(code)
        }
    }

    /// The current row.
    var row: StoreRow { StoreRow(statement: pointer, columnCount: Int(sqlite3_column_count(pointer))) }

    private func failure(_ code: Int32) -> StoreError {
        budget.error(SQLiteResult(code: code, of: connection), path: path)
    }

    private func requireCount(of arguments: [SQLValue]) throws(StoreError) {
        guard arguments.count == Int(sqlite3_bind_parameter_count(pointer)) else {
            throw StoreError(.failed, path: path, "an SQL statement was given the wrong number of arguments")
        }
    }

    private func check(_ code: Int32) throws(StoreError) {
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Blobs of at least this size are passed to SQLite without a copy.
    private static let leastLent = 65_536

    /// Binds the arguments from `index` on for as long as `body` runs.
    private func withBound(_ arguments: [SQLValue], from index: Int = 0, _ body: () throws -> Void) throws {
        var index = index
        while index < arguments.count {
            if case .blob(let bytes) = arguments[index], bytes.count >= Self.leastLent {
                return try bytes.withUnsafeBytes {
                    let (start, count) = ($0.baseAddress, UInt64($0.count))
                    // No destructor: the bytes outlive the steps, after which the binding is cleared.
                    try check(sqlite3_bind_blob64(pointer, Int32(clamping: index + 1), start, count, nil))
                    defer {
                        sqlite3_reset(pointer)
                        sqlite3_clear_bindings(pointer)
                    }
                    try withBound(arguments, from: index + 1, body)
                }
            }
            if case .large(let value) = arguments[index] {
                try bind(value, at: index)
            } else {
                try check(bind(arguments[index], at: index))
            }
            index += 1
        }
        try body()
    }

    /// Reads a large value into memory that SQLite owns, so that the value is copied once.
    private func bind(_ value: LargeValue, at place: Int) throws {
        let size = UInt64(value.byteCount)
        guard let start = sqlite3_malloc64(size) else { throw failure(SQLITE_NOMEM) }
        let index = Int32(clamping: place + 1)
        var offset = 0
        do {
            try value.forEachPiece(from: lenders.sources) { piece in
                let rest = UnsafeMutableRawBufferPointer(start: start, count: value.byteCount)[offset...]
                guard piece.count <= rest.count else {
                    offset += piece.count
                    return
                }
                UnsafeMutableRawBufferPointer(rebasing: rest).copyMemory(from: piece)
                offset += piece.count
            }
        } catch {
            sqlite3_free(start)
            throw error
        }
        let free: sqlite3_destructor_type = { sqlite3_free($0) }
        let bytes = UnsafeRawPointer(start)
        try check(
            value.isText
                ? sqlite3_bind_text64(
                    pointer,
                    index,
                    bytes.assumingMemoryBound(to: CChar.self),
                    size,
                    free,
                    UInt8(SQLITE_UTF8)
                ) : sqlite3_bind_blob64(pointer, index, bytes, size, free)
        )
    }

    private func bind(_ argument: SQLValue, at place: Int) -> Int32 {
        let index = Int32(clamping: place + 1)
        // SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch argument {
        case .null: return sqlite3_bind_null(pointer, index)
        // A cursor's arguments are keys, which are held whole.
        case .large: return SQLITE_MISUSE
        case .integer(let value): return sqlite3_bind_int64(pointer, index, value)
        case .real(let value): return sqlite3_bind_double(pointer, index, value)
        case .text(let text):
            return text.withSQLiteBytes {
                sqlite3_bind_text64(pointer, index, $0.baseAddress, UInt64($0.count), copied, $1)
            }
        case .blob(let bytes):
            guard !bytes.isEmpty else { return sqlite3_bind_zeroblob(pointer, index, 0) }
            return bytes.withUnsafeBytes {
                sqlite3_bind_blob64(pointer, index, $0.baseAddress, UInt64($0.count), copied)
            }
        }
    }
}

/// Limits the steps of SQLite's virtual machine for one statement, and checks for cancellation.
///
/// A page tree in which every entry points at the same page claims more rows than could ever be read. The budget grows
/// with the size of the file, and is far above the cost of valid statements on a file of that size.
final class StepBudget: Sendable {
    private static let stepsBetweenCalls: Int32 = 1_000
    private static let callsForAnyFile: Int64 = 40_000
    private static let bytesPerCall: Int64 = 10

    private struct State {
        /// Unlimited, until a size is set.
        var whole = Int64.max
        var left = Int64.max
        var monitor = WorkMonitor.silent
        var isStopped = false
    }
    private let state = Mutex(State())

    /// Limits a connection from now on; the budget must live as long as the connection.
    func install(on connection: OpaquePointer) {
        sqlite3_progress_handler(
            connection,
            Self.stepsBetweenCalls,
            { context in
                guard let context else { return 1 }
                return Unmanaged<StepBudget>.fromOpaque(context).takeUnretainedValue().take() ? 0 : 1
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    /// Sets the budget of the next statement on a file of `bytes` bytes.
    func allow(forBytes bytes: Int64) {
        state.withLock { $0.whole = Self.callsForAnyFile + max(0, bytes) / Self.bytesPerCall }
        renew()
    }

    /// Gives the next statement the same budget: the file has not grown.
    func renew() {
        state.withLock { $0.left = $0.whole }
    }

    /// Ends statements as soon as the monitor is asked to stop; returns the former monitor.
    func stop(by monitor: WorkMonitor) -> WorkMonitor {
        state.withLock {
            let former = $0.monitor
            $0.monitor = monitor
            $0.isStopped = false
            return former
        }
    }

    /// The error for a result code of SQLite; if this budget caused it, the message says so.
    func error(_ result: SQLiteResult, path: String) -> StoreError {
        guard result.primary == SQLITE_INTERRUPT, state.withLock({ $0.isStopped }) else {
            return result.error(path: path)
        }
        return StoreError(.cancelled, path: "", "stopped on request")
    }

    /// Throws where the caller asked to stop: for work on a connection that SQLite's machine does not do.
    func checkCancellation() throws(StoreError) {
        guard
            state.withLock({
                if (try? $0.monitor.checkCancellation()) == nil { $0.isStopped = true }
                return !$0.isStopped
            })
        else { throw StoreError(.cancelled, path: "", "stopped on request") }
    }

    private func take() -> Bool {
        state.withLock {
            $0.left -= 1
            if (try? $0.monitor.checkCancellation()) == nil { $0.isStopped = true }
            return $0.left > 0 && !$0.isStopped
        }
    }
}
