import StoreAccess
import Synchronization
import Testing

@testable import StoreVerification

@Suite("Reading with several connections")
struct ParallelReadingTests {
    /// A store that is large enough for threads.
    private func store() throws -> ScratchStore {
        try ScratchStore(
            "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, filling BLOB); CREATE INDEX byName ON item (name);",
            """
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 500)
            INSERT INTO item SELECT i, 'name ' || i, zeroblob(40000) FROM c
            """
        )
    }

    @Test(
        "Results come in the order of the pieces, with any distribution over workers",
        arguments: [StoreConnection.Access.immutable, .privateCopy]
    )
    func order(_ access: StoreConnection.Access) throws {
        let connection = try StoreConnection(store().location, access: access)
        let results = try ParallelReading(connection)
            .map(Array(1...200)) {
                $0
            } _: { piece, connection in
                try connection.value("SELECT id FROM item WHERE name = 'name \(piece)'")?.integer
            }
        #expect(results == (1...200).map { Int64($0) })
    }

    @Test("Several connections read one store with a log, and find its damage")
    func log() throws {
        let store = try store()
        let writer = try StoreConnection(store.location, access: .liveWriting)
        try writer.execute("PRAGMA journal_mode=WAL; UPDATE item SET name = 'changed ' || id WHERE id <= 200")
        try StoreReader()
            .read(store.location) { view in
                #expect(view.kind == .unlocked && ParallelReading.isWorthwhile(for: view.connection))
                let results = try ParallelReading(view.connection)
                    .map(Array(1...200)) {
                        $0
                    } _: { piece, connection in
                        try connection.value("SELECT id FROM item WHERE name = 'changed \(piece)'")?.integer
                    }
                #expect(results == (1...200).map { Int64($0) })
            }
        #expect(try StoreVerifier().verify(store.location, level: .sqlite).findings == [])
        try store.hidingIndex("byName", "UPDATE item SET name = 'other' WHERE id = 7")
        let findings = try StoreVerifier().verify(store.location, level: .sqlite).findings
        #expect(findings.contains { $0.code == .indexDiffers })
        try writer.close()
    }

    @Test("The first error ends the work of all workers")
    func failure() throws {
        let connection = try StoreConnection(store().location, access: .immutable)
        let begun = Mutex(0)
        // So many that the other workers cannot finish while a busy machine delays the one that failed.
        let pieces = Array(1...1_000_000)
        #expect(throws: StoreError.self) {
            _ = try ParallelReading(connection)
                .map(pieces) {
                    $0
                } _: { piece, connection in
                    begun.withLock { $0 += 1 }
                    if piece == 3 { throw StoreError(.cancelled, path: "", "stopped on request") }
                    return try connection.value("SELECT count(*) FROM item WHERE name = 'name 1'")?.integer
                }
        }
        #expect(begun.withLock { $0 } < pieces.count)
    }

    @Test("A large store has the findings of a small one")
    func large() throws {
        let store = try store()
        #expect(try StoreVerifier().verify(store.location, level: .sqlite).findings == [])
        try store.hidingIndex("byName", "UPDATE item SET name = 'other' WHERE id = 7")
        let findings = try StoreVerifier().verify(store.location, level: .sqlite).findings
        #expect(findings.contains { $0.code == .indexDiffers })
    }

    @Test("A cancelled proof stops")
    func cancelled() throws {
        let store = try ScratchStore(
            "CREATE TABLE item (id INTEGER PRIMARY KEY, name); CREATE INDEX byName ON item (name);",
            """
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 100000)
            INSERT INTO item SELECT i, i FROM c
            """
        )
        let reports = Mutex(0)
        let monitor = WorkMonitor(
            onProgress: { progress in
                reports.withLock { $0 += 1 }
                #expect(progress.done <= progress.total)
            },
            isCancelled: { reports.withLock { $0 } > 1 }
        )
        #expect(throws: StoreError.self) { try StoreVerifier(monitor: monitor).verify(store.location, level: .sqlite) }
        #expect(reports.withLock { $0 } == 2)
    }
}
