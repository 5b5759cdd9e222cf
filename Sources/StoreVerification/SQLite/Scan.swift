internal import CSQLite
internal import StoreAccess

/// Steps a statement without copying values: the loop over millions of rows of the index proof.
final class Scan {
    private let statement: OpaquePointer
    private let connection: OpaquePointer
    private let path: String

    /// Nil when SQLite cannot prepare the statement, for example because of an unknown collation.
    init?(_ sql: String, on connection: OpaquePointer, path: String) {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK, let statement else { return nil }
        self.statement = statement
        self.connection = connection
        self.path = path
    }

    deinit { sqlite3_finalize(statement) }

    /// Steps through all rows; the pointer is valid until `body` returns.
    @inline(__always)
    func forEachRow(_ body: (OpaquePointer) throws -> Void) throws {
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_ROW {
                try body(statement)
            } else if code == SQLITE_DONE {
                return
            } else {
                throw error(code)
            }
        }
    }

    private func error(_ code: Int32) -> StoreError {
        switch code & 0xff {
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_INTERRUPT, SQLITE_TOOBIG:
            StoreError(.damaged, path: path, "the store is damaged (SQLite code \(code))")
        case SQLITE_BUSY, SQLITE_LOCKED: StoreError(.busy, path: path, "another process holds a lock on the store")
        case SQLITE_IOERR: StoreError(.inputOutput, path: path, "input or output failed (SQLite code \(code))")
        default: StoreError(.failed, path: path, "SQLite could not read the next row (code \(code))")
        }
    }
}

extension Scan {
    /// True when the program that this `EXPLAIN` statement lists reads every entry of one index and nothing else.
    ///
    /// Only then does the scan read the index itself: an evaluated condition would hide an entry that should not exist, and a
    /// table lookup would return the table's value.
    var readsOneIndexAlone: Bool {
        let plainOperations: Set<String> = [
            "Init", "Transaction", "Goto", "Explain", "OpenRead", "ColumnsUsed", "DeferredSeek", "RealAffinity",
            "IdxRowid", "ResultRow", "Next", "Halt", "Noop", "Column", "Rewind",
        ]
        var isPlain = true
        var scanned: Set<Int64> = []
        var read: Set<Int64> = []
        do {
            try forEachRow { statement in
                guard let name = sqlite3_column_text(statement, 1).map({ String(cString: $0) }) else { return }
                let cursor = sqlite3_column_int64(statement, 2)
                if !plainOperations.contains(name) { isPlain = false }
                if name == "Rewind" { scanned.insert(cursor) }
                if name == "Column" || name == "IdxRowid" { read.insert(cursor) }
            }
        } catch {
            return false
        }
        return isPlain && scanned.count == 1 && read == scanned
    }
}
