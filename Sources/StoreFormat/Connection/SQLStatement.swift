internal import CSQLite

/// One prepared statement, stepped by hand: the loops over rows must not pay for anything but SQLite itself.
final class SQLStatement {
    private let pointer: OpaquePointer
    /// Retained: the connection must not be closed before its statements.
    private let database: SQLiteDatabase
    private var connection: OpaquePointer { database.handle }
    private let path: String
    /// True while somebody stands on one of its rows, so that nobody else may reuse it.
    private(set) var isAtWork = false

    /// Prepares the first statement in `sql`; more than one is an error of ours.
    init(_ sql: String, database: SQLiteDatabase, path: String, isKept: Bool) throws(StoreError) {
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
    }

    deinit { sqlite3_finalize(pointer) }

    /// Runs it with the given arguments, and leaves it ready for the next use.
    ///
    /// `body` returns false to stop early.
    func run(_ arguments: [SQLValue], _ body: (borrowing StoreRow) throws -> Bool) throws {
        isAtWork = true
        defer {
            sqlite3_reset(pointer)
            if !arguments.isEmpty { sqlite3_clear_bindings(pointer) }
            isAtWork = false
        }
        try bind(arguments)
        let row = StoreRow(statement: pointer, columnCount: Int(sqlite3_column_count(pointer)))
        while true {
            let code = sqlite3_step(pointer)
            if code == SQLITE_ROW {
                guard try body(row) else { return try leave() }
            } else if code == SQLITE_DONE {
                return
            } else {
                throw SQLiteResult(code: code, of: connection).error(path: path)
            }
        }
    }

    /// Leaves it before its end, which is when SQLite commits what it changed.
    private func leave() throws(StoreError) {
        let code = sqlite3_reset(pointer)
        guard code == SQLITE_OK else { throw SQLiteResult(code: code, of: connection).error(path: path) }
    }

    /// Makes it ready to be stepped by a cursor.
    func begin(_ arguments: [SQLValue]) throws(StoreError) {
        isAtWork = true
        try bind(arguments)
    }

    /// Goes on to the next row of a statement that was begun; false when there is none.
    func step() throws(StoreError) -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        case let code: throw SQLiteResult(code: code, of: connection).error(path: path)
        }
    }

    /// The row that it stands on.
    var row: StoreRow { StoreRow(statement: pointer, columnCount: Int(sqlite3_column_count(pointer))) }

    private func bind(_ arguments: [SQLValue]) throws(StoreError) {
        guard arguments.count == Int(sqlite3_bind_parameter_count(pointer)) else {
            throw StoreError(.failed, path: path, "an SQL statement was given the wrong number of arguments")
        }
        for (index, argument) in arguments.enumerated() {
            let code = bind(argument, at: Int32(clamping: index + 1))
            guard code == SQLITE_OK else { throw SQLiteResult(code: code, of: connection).error(path: path) }
        }
    }

    private func bind(_ argument: SQLValue, at index: Int32) -> Int32 {
        // SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch argument {
        case .null: return sqlite3_bind_null(pointer, index)
        case .integer(let value): return sqlite3_bind_int64(pointer, index, value)
        case .real(let value): return sqlite3_bind_double(pointer, index, value)
        case .text(var text):
            return text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    // An empty string has no address, and SQLite takes "no address" for null.
                    guard let start = $0.baseAddress else { return sqlite3_bind_text(pointer, index, "", 0, copied) }
                    return sqlite3_bind_text64(pointer, index, start, UInt64($0.count), copied, UInt8(SQLITE_UTF8))
                }
            }
        case .blob(let bytes):
            guard !bytes.isEmpty else { return sqlite3_bind_zeroblob(pointer, index, 0) }
            return bytes.withUnsafeBytes {
                sqlite3_bind_blob64(pointer, index, $0.baseAddress, UInt64($0.count), copied)
            }
        }
    }
}
