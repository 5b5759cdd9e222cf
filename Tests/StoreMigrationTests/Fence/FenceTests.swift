import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("A fenced store")
struct FenceTests {
    /// A writer in a separate process, and the statement that it tries.
    private struct Attempt {
        let writer: StoreWriterProcess
        let sql: String
        let answer: FencedTable.Answer
        let isInTransaction: Bool
        let name: String

        init(
            _ store: StoreLocation,
            _ write: (sql: String, answer: FencedTable.Answer),
            inTransaction: Bool,
            _ when: String
        )
            throws
        {
            writer = try StoreWriterProcess(store.path)
            (sql, answer) = write
            isInTransaction = inTransaction
            name = "\(write.sql) [opened \(when)\(inTransaction ? ", in a transaction" : "")]"
        }
    }

    @Test("The status of a store that cannot be read does not say whether it is fenced")
    func unreadable() throws {
        let places = try Places()
        try places.old.makeStore("CREATE TABLE t (id INTEGER PRIMARY KEY)", as: places.name)
        try places.container.write(places.name, Array("this file is no database".utf8))

        let status = try places.migrator().statusAndWait()

        #expect(status.old.isFenced == false)
        #expect(status.new.presence == .unreadable)
        #expect(status.new.isFenced == nil)
    }

    @Test(
        "A fence refuses every kind of write without crashing the writer",
        arguments: FencedTable.all,
        ["wal", "delete"]
    )
    func writes(_ table: FencedTable, mode: String) throws {
        let places = try Places()
        try table.build(places.old, mode)
        let content = try places.digest(of: places.oldStore)
        var attempts = try attempts(table, on: places.oldStore, "before")
        let rows = try attempts.map { try $0.writer.execute(table.reading) }

        let outcome = try places.share()

        #expect(outcome.outcome == .shared)
        #expect(!outcome.findings.contains { $0.code == .notFenced })
        try attempts += self.attempts(table, on: places.oldStore, "afterwards")
        for attempt in attempts {
            try check(attempt, newPath: places.newStore.path)
            #expect(try attempt.writer.execute(table.reading) == rows.first, "reading after \(attempt.name)")
            #expect(attempt.writer.waitForExit() == 0, "\(attempt.name) ended its process")
        }
        #expect(try places.digest(of: places.oldStore) == content)
        #expect(try places.digest(of: places.newStore) == content)
        #expect(try places.migrator().statusAndWait().lateWrites == StatusReport.LateWrites.none)
        let plain = try StoreWriterProcess(places.oldStore.path)
        #expect(try plain.execute("PRAGMA integrity_check") == "value ok")
        // With some SQLite versions in use, a fence there would end the writer's process.
        let dangerous = try plain.execute(
            """
            SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND name LIKE '!_store!_migrate!_fence%' ESCAPE '!' \
            AND (tbl_name LIKE '%!_data' ESCAPE '!' OR tbl_name LIKE '%!_config' ESCAPE '!')
            """
        )
        #expect(dangerous == "value 0")
    }

    @Test("A quote with a combining mark in the new path is text in the fence, never SQL")
    func quoteInName() throws {
        let places = try Places(name: "it'\u{301}s.sqlite")
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)", as: places.name)

        #expect(try places.share().outcome == .shared)

        let answer = try StoreWriterProcess(places.oldStore.path).execute("INSERT INTO t VALUES (2)")
        #expect(answer.contains("store moved to \(places.newStore.path) (store-migrate "))
        #expect(try places.isFenced(places.oldStore))
        #expect(try places.share().outcome == .alreadyShared)
    }

    private func attempts(_ table: FencedTable, on store: StoreLocation, _ when: String) throws -> [Attempt] {
        try table.writes.flatMap { write in
            try [false, true].map { try Attempt(store, write, inTransaction: $0, when) }
        }
    }

    private func check(_ attempt: Attempt, newPath: String) throws {
        var answers: [String] = []
        if attempt.isInTransaction {
            #expect(try attempt.writer.execute("BEGIN") == "ok")
            // Twice, because apps retry; a full-text index keeps state of the first attempt in memory.
            for _ in 1...2 { answers.append(try attempt.writer.execute(attempt.sql)) }
            answers.append(try attempt.writer.execute("COMMIT"))
            if try attempt.writer.execute("BEGIN") != "ok" { _ = try attempt.writer.execute("ROLLBACK") }
            _ = try attempt.writer.execute("ROLLBACK")
        } else {
            answers.append(try attempt.writer.execute(attempt.sql))
        }
        #expect(!answers.contains("error gone"), "\(attempt.name): \(answers)")
        switch attempt.answer {
        case .refused:
            #expect(answers.first?.contains("store moved to \(newPath)") == true, "\(attempt.name): \(answers)")
        case .failed:
            // A full-text index writes only at the end of the transaction, and is refused then.
            #expect(answers.contains { $0.hasPrefix("error ") }, "\(attempt.name): \(answers)")
        case .harmless:
            #expect(answers.allSatisfy { $0 == "ok" }, "\(attempt.name): \(answers)")
        case .ineffective:
            break
        }
    }

    @Test(
        "Lifting a fence removes all its triggers and none of the app's",
        arguments: FencedTable.all,
        ["wal", "delete"]
    )
    func lifting(_ table: FencedTable, mode: String) throws {
        let places = try Places()
        try table.build(places.old, mode)
        let content = try places.digest(of: places.oldStore)
        try changeFence(of: places) { _ = try $0.set(transaction: String(repeating: "a", count: 32), newPath: "/new") }
        #expect(try places.digest(of: places.oldStore) == content)
        #expect(try fence(of: places)?.newPath == "/new")

        try changeFence(of: places) { try $0.lift() }

        #expect(try fence(of: places) == nil)
        #expect(try places.digest(of: places.oldStore) == content)
        let writer = try StoreWriterProcess(places.oldStore.path)
        for name in table.triggers {
            #expect(try writer.execute("SELECT type FROM sqlite_schema WHERE name = '\(name)'") == "value trigger")
        }
        #expect(
            try writer.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'")
                == "value \(table.triggers.count)"
        )
        for write in table.writes {
            #expect(try writer.execute("BEGIN") == "ok")
            #expect(try writer.execute(write.sql) == "ok", "\(write.sql)")
            #expect(try writer.execute("ROLLBACK") == "ok")
        }
        #expect(writer.waitForExit() == 0)
    }

    @Test(
        "A share waits for a writer's open transaction, and copies its rows",
        arguments: ["wal", "delete"]
    )
    func writerInTransaction(mode: String) throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=\(mode); CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        let reader = try StoreWriterProcess(places.oldStore.path)
        #expect(try reader.execute("BEGIN") == "ok")
        #expect(try reader.execute("SELECT count(*) FROM t") == "value 1")
        if mode == "delete" { #expect(try reader.execute("COMMIT") == "ok") }

        #expect(try places.share().outcome == .shared)

        let answer = try reader.execute("INSERT INTO t VALUES (2)")
        #expect(answer.hasPrefix("error "), "a reader that turns writer")
        _ = try reader.execute("ROLLBACK")
        #expect(try reader.execute("INSERT INTO t VALUES (2)").contains("store moved to"))
        #expect(try places.count("SELECT count(*) FROM t", in: places.newStore) == 1)
    }

    @Test("A table that cannot be fenced is reported, and late writes to it are detected")
    func notFenced() throws {
        let places = try Places()
        try places.old.makeStore(
            """
            CREATE VIRTUAL TABLE note USING fts5(body); INSERT INTO note VALUES ('one');
            CREATE VIRTUAL TABLE words USING fts5vocab(note, row);
            """
        )

        let outcome = try places.share()

        #expect(outcome.outcome == .shared)
        #expect(outcome.findings.contains { $0.code == .notFenced && $0.table == "words" })
    }

    private func changeFence(of places: Places, _ change: (FenceWriter) throws -> Void) throws {
        let connection = try places.old.open()
        try connection.beginWriting(deadline: Deadline(after: .seconds(60)))
        try change(FenceWriter(connection))
        try connection.commit(deadline: Deadline(after: .seconds(60)))
        try connection.close()
    }

    private func fence(of places: Places) throws -> StoreFence? {
        try StoreReader().withView(of: places.oldStore) { try StoreFence(reading: $0.connection) }
    }
}
