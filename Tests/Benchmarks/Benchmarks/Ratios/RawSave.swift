import Foundation
import GRDBSQLite

/// The peer of a save: inserts things with prepared statements, and maintains Core Data's keys and history.
struct RawSave {
    struct Failure: Error {
        let message: String
    }

    private let connection: OpaquePointer?

    /// Opens a store with the runtime's settings for writing.
    init(_ url: URL) throws {
        var connection: OpaquePointer?
        let code = sqlite3_open_v2(url.path, &connection, SQLITE_OPEN_READWRITE, nil)
        self.connection = connection
        guard code == SQLITE_OK else { throw failure }
        try execute("PRAGMA synchronous = EXTRA; PRAGMA wal_autocheckpoint = 0")
    }

    func close() { sqlite3_close_v2(connection) }

    /// Inserts things in one transaction, with a row of history for each where the store keeps one.
    func insert(_ things: [ThingValues], tracksHistory: Bool) throws {
        let count = things.count
        try execute("BEGIN IMMEDIATE")
        let entity = try number("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Thing'")
        let first = try number("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Thing'") + 1
        try execute("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + \(count) WHERE Z_NAME = 'Thing'")
        let insertion = try prepared(
            """
            INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZNAME, ZNOTE, ZISEVEN, ZAT, ZWEIGHT, ZBOX)
            VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?, ?)
            """
        )
        defer { sqlite3_finalize(insertion) }
        for (index, values) in zip(Int64(0)..., things) {
            sqlite3_bind_int64(insertion, 1, first + index)
            sqlite3_bind_int64(insertion, 2, entity)
            sqlite3_bind_int64(insertion, 3, values.number)
            bind(values.name, to: insertion, at: 4)
            bind(values.note, to: insertion, at: 5)
            sqlite3_bind_int64(insertion, 6, values.isEven ? 1 : 0)
            sqlite3_bind_double(insertion, 7, values.at.timeIntervalSinceReferenceDate)
            sqlite3_bind_double(insertion, 8, values.weight)
            sqlite3_bind_null(insertion, 9)
            try step(insertion)
        }
        if tracksHistory { try writeHistory(of: count, entity: entity, first: first) }
        try execute("COMMIT")
    }

    private func writeHistory(of count: Int, entity: Int64, first: Int64) throws {
        try execute(
            """
            UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_NAME = 'TRANSACTION';
            UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + \(count) WHERE Z_NAME = 'CHANGE';
            INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP)
            SELECT Z_MAX, Z_ENT, 700000000.5 FROM Z_PRIMARYKEY WHERE Z_NAME = 'TRANSACTION';
            """
        )
        let transaction = try number("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'TRANSACTION'")
        let change = try number("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'CHANGE'") - Int64(count) + 1
        let insertion = try prepared(
            """
            INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS)
            VALUES (?, 16001, 0, ?, ?, ?, NULL)
            """
        )
        defer { sqlite3_finalize(insertion) }
        for index in 0..<Int64(count) {
            sqlite3_bind_int64(insertion, 1, change + index)
            sqlite3_bind_int64(insertion, 2, entity)
            sqlite3_bind_int64(insertion, 3, first + index)
            sqlite3_bind_int64(insertion, 4, transaction)
            try step(insertion)
        }
    }

    // MARK: SQLite

    private var failure: Failure { Failure(message: String(cString: sqlite3_errmsg(connection))) }

    private func execute(_ sql: String) throws {
        guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else { throw failure }
    }

    private func prepared(_ sql: String) throws -> OpaquePointer? {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK else { throw failure }
        return statement
    }

    private func step(_ statement: OpaquePointer?) throws {
        guard sqlite3_step(statement) == SQLITE_DONE else { throw failure }
        sqlite3_reset(statement)
    }

    private func number(_ sql: String) throws -> Int64 {
        let statement = try prepared(sql)
        defer { sqlite3_finalize(statement) }
        guard sqlite3_step(statement) == SQLITE_ROW else { throw failure }
        return sqlite3_column_int64(statement, 0)
    }

    private func bind(_ text: String, to statement: OpaquePointer?, at index: Int32) {
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_bind_text(statement, index, text, Int32(text.utf8.count), copied)
    }
}
