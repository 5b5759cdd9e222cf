import Foundation
import SafeFiles
import StoreAccess
import StoreFormat
import TestSupport
import Testing

@Suite(
    "Inspecting stores that another process has open",
    .verify,
    .enabled(if: SQLiteShell.isPresent, "sqlite3 is not installed")
)
struct LiveWriterTests {
    let scratch: ScratchFolder
    private let store: StoreLocation

    init() throws {
        scratch = try ScratchFolder()
        store = scratch.location("store.sqlite")
    }

    @Test("Only committed rows are read, and no file changes", arguments: LiveCase.all)
    func inspect(_ row: LiveCase) throws {
        try scratch.makeStore("PRAGMA journal_mode=\(row.mode); CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        let shell = try SQLiteShell(store.path)
        defer { shell.end() }
        try shell.execute(row.sql)
        let before = try scratch.everything()
        let found = try #require(try StoreInspector(depth: .digest).inspect(store).inspection)
        #expect(found.objectCount == row.rows)
        #expect(try scratch.everything() == before)
        // The writer was not affected either.
        try shell.execute("COMMIT; BEGIN; INSERT INTO t VALUES (9)")
    }

    @Test(
        "A store under continuous writes is read in a consistent state",
        arguments: ["WAL", "DELETE"]
    )
    func busy(_ mode: String) throws {
        try scratch.makeStore("PRAGMA journal_mode=\(mode); CREATE TABLE t(a); CREATE TABLE u(a)")
        let shell = try SQLiteShell(store.path)
        defer { shell.end() }
        // Two tables that are equal after every transaction.
        let pair = "BEGIN IMMEDIATE; INSERT INTO t VALUES (1); INSERT INTO u VALUES (1); COMMIT;\n"
        shell.send(".timeout 10000\nPRAGMA synchronous=OFF;\n" + String(repeating: pair, count: 600))
        for _ in 0..<20 {
            let found = try StoreInspector(lockTimeout: .seconds(60)).inspect(store)
            let rows = Set(found.inspection?.tables.map(\.rows) ?? [-1])
            #expect(rows.count == 1 && !rows.contains(-1), "\(found)")
        }
    }
}

struct LiveCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var mode: String
    var sql: String
    var rows: Int64

    static let all = [
        Self(
            testDescription: "a log that is open",
            mode: "WAL",
            sql: "INSERT INTO t VALUES (2); BEGIN; SELECT count(*) FROM t",
            rows: 2
        ),
        Self(
            testDescription: "a log with an open transaction",
            mode: "WAL",
            sql: "INSERT INTO t VALUES (2); BEGIN IMMEDIATE; INSERT INTO t VALUES (3)",
            rows: 2
        ),
        Self(testDescription: "an idle reader", mode: "DELETE", sql: "BEGIN; SELECT count(*) FROM t", rows: 1),
        Self(
            testDescription: "an open transaction",
            mode: "DELETE",
            sql: "BEGIN IMMEDIATE; INSERT INTO t VALUES (2)",
            rows: 1
        ),
        Self(
            testDescription: "an exclusive transaction that has written to the file",
            mode: "DELETE",
            sql: """
                PRAGMA cache_size=1; BEGIN EXCLUSIVE;
                WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO t SELECT zeroblob(900) FROM n
                """,
            rows: 1
        ),
    ]
}

/// The `sqlite3` shell as a process that has a store open.
final class SQLiteShell {
    private static let path = "/usr/bin/sqlite3"
    static var isPresent: Bool { FileManager.default.isExecutableFile(atPath: path) }

    private let process: ChildProgram

    init(_ store: String) throws {
        process = try ChildProgram([Self.path, "-batch", store], errors: .discarded)
    }

    /// Executes statements, and returns when they have ended.
    func execute(_ sql: String) throws {
        // The shell buffers its output, unless it goes through a pipe that is closed after it.
        send(sql + ";\n.once |cat\nSELECT 'and' || ' done';\n")
        var text = ""
        while !text.contains("and done") {
            let data = process.available()
            try #require(!data.isEmpty, "the writer ended: \(text)")
            text += String(decoding: data, as: UTF8.self)
        }
    }

    /// Sends statements without waiting for them.
    func send(_ sql: String) { process.say(sql) }

    /// Closes the input, and waits for the shell to execute it and exit.
    func end() {
        process.closeInput()
        _ = process.wait()
    }
}
