import ChangeMerging
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("A merge into a store that changes while the merge is planned")
struct MergeStepTests {
    private struct Endless: Error {}

    /// Merges a store, and writes to the receiver after each of the first plans; returns the number of plans.
    private func merge(_ places: Places, changing changes: Int) throws -> Result<Int, any Error> {
        let source = try StoreConnection(places.oldStore, access: .liveReading)
        let program = try places.container.open(places.name)
        defer { for connection in [source, program] { try? connection.close() } }
        let step = MergeStep(
            base: nil,
            old: MergePlace(source),
            from: places.oldStore,
            into: places.newStore,
            effect: .arrival,
            settings: MergeSettings(),
            surroundings: Surroundings(lockTimeout: .seconds(60))
        )
        let journal = try ScratchFolder()
        var plans = 0
        return Result {
            _ = try step.carryOut(
                epoch: RunContext.drawTransaction(),
                keeping: MergeRecords(of: "epoch", in: journal.directory)
            ) { _, _ in
                plans += 1
                guard plans < 100 else { throw Endless() }
                if plans <= changes { try program.execute("INSERT INTO t VALUES ('meanwhile \(plans)', 1)") }
            }
            return plans
        }
    }

    private func places() throws -> Places {
        let places = try Places()
        for (folder, name) in [(places.old, "old"), (places.container, "new")] {
            try folder.makeStore(
                "PRAGMA journal_mode=wal; CREATE TABLE t (name TEXT PRIMARY KEY, x); INSERT INTO t VALUES ('\(name)', 1)"
            )
        }
        return places
    }

    @Test("The merge is planned again after each change, and has the rows of both stores and the program")
    func planned() throws {
        let places = try places()
        #expect(try merge(places, changing: 7).get() == 8)
        #expect(try places.count("SELECT count(*) FROM t", in: places.newStore) == 9)
        #expect(try places.count("SELECT count(*) FROM t WHERE name = 'old'", in: places.newStore) == 1)
    }

    @Test("A store that changes after every plan is busy in the end, and is not merged into")
    func busy() throws {
        let places = try places()
        let error = #expect(throws: StoreError.self) { try merge(places, changing: .max).get() }
        #expect(error?.code == .busy)
        #expect(error?.path == places.newStore.path)
        #expect(try places.count("SELECT count(*) FROM t WHERE name = 'old'", in: places.newStore) == 0)
    }
}
