import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Sharing under live writers", .verify, .serialized)
struct LiveWriterTests {
    private static let writers = 6

    @Test(
        "Every row acknowledged to a writer is in the new store, or reported as a late write",
        arguments: ["wal", "delete"],
        1...20
    )
    func nothingIsLost(mode: String, round: Int) throws {
        let places = try Places()
        try places.old.makeStore(
            "PRAGMA journal_mode=\(mode); CREATE TABLE log (id INTEGER PRIMARY KEY, writer INTEGER, text TEXT);"
                + "CREATE INDEX log_writer ON log (writer)"
        )
        let writers = try (1...Self.writers).map { try StoreWriterProcess(places.oldStore.path, loop: $0) }
        for writer in writers { writer.waitForLines(10) }

        let outcome = try places.share { $0.lockTimeout = .seconds(60) }

        let lines = try writers.flatMap { try $0.finish(closingInput: false) }
        let acknowledged = Set(lines.compactMap { Int64($0) })
        let arrived = try rows(places.newStore)
        let stayed = try rows(places.oldStore)
        #expect(outcome.outcome == .shared)
        #expect(acknowledged.isSubset(of: arrived), "acknowledged rows are missing in the new store")
        #expect(arrived == stayed, "the two places differ though writers were refused")
        #expect(arrived.subtracting(acknowledged).isEmpty, "rows that were never acknowledged")
        #expect(lines.filter { $0 == "fenced" }.count == Self.writers)
        #expect(try places.migrator().statusAndWait().lateWrites == StatusReport.LateWrites.none)
        #expect(try places.share().outcome == .alreadyShared)
    }

    @Test("With capture, the next share merges rows that writers add later", arguments: ["wal", "delete"])
    func captured(mode: String) throws {
        let places = try Places()
        try places.old.makeStore(
            "PRAGMA journal_mode=\(mode); CREATE TABLE log (id INTEGER PRIMARY KEY, writer INTEGER, text TEXT)"
        )
        let writer = try StoreWriterProcess(places.oldStore.path, loop: 1)
        writer.waitForLines(10)

        try places.share { $0.oldStore = .capture }

        writer.waitForLines(20)
        let acknowledged = try Set(writer.finish().compactMap { Int64($0) })
        // Rows from before the lock are shared, all others are late.
        #expect(acknowledged.isSubset(of: try rows(places.oldStore)))
        let isWhole = try acknowledged.isSubset(of: rows(places.newStore))
        let late = try places.share { $0.oldStore = .capture }
        #expect(late.outcome == (isWhole ? .alreadyShared : .merged))
        #expect(try acknowledged.isSubset(of: rows(places.newStore)))
    }

    @Test(
        "A lock that is never released ends the share at its deadline, without leftovers",
        arguments: ["wal", "delete"]
    )
    func heldLock(mode: String) throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=\(mode); CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        let writer = try StoreWriterProcess(places.oldStore.path)
        #expect(try writer.execute("BEGIN IMMEDIATE") == "ok")

        let error = #expect(throws: MigrationError.self) {
            try places.share { $0.lockTimeout = .milliseconds(200) }
        }

        #expect(error?.outcome == .busy)
        #expect(try places.container.directory.entries().isEmpty)
        #expect(try !places.old.directory.entries().contains(".store-migrate"))
        #expect(try writer.execute("COMMIT") == "ok")
    }

    private func rows(_ location: StoreLocation) throws -> Set<Int64> {
        var rows: Set<Int64> = []
        try StoreReader()
            .withView(of: location) { view in
                rows = []
                try view.connection.forEachRow("SELECT id FROM log") { rows.insert($0.integer(0)) }
            }
        return rows
    }
}
