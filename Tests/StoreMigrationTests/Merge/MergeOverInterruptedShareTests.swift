import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("A merge into a store whose share was interrupted")
struct MergeOverInterruptedShareTests {
    private func merging(_ from: ScratchFolder, into world: InterruptedWorld) throws -> StoreMerging {
        try from.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1), (2), (3); CREATE INDEX t_x ON t (x)")
        var options = MergeOptions()
        options.level = .sqlite
        options.lockTimeout = .seconds(60)
        return StoreMerging(from.location("store.sqlite").url, into: world.places.oldStore.url, options: options)
    }

    @Test(
        "A merge first recovers an interrupted share of the store, without damage to it",
        arguments: Interruption.publishing,
        ["wal", "delete"]
    )
    func recovers(_ interruption: Interruption, mode: String) throws {
        let world = try InterruptedWorld(interruption, mode: mode)
        let places = world.places
        let from = try ScratchFolder()
        let merging = try merging(from, into: world)
        if interruption.goesForward {
            // A finished share puts the store out of use.
            let error = #expect(throws: MigrationError.self) { try merging.mergeAndWait() }
            #expect(error?.outcome == .needsDecision)
            #expect(
                try Recovery(of: places.oldStore.url).resumeAndWait().outcome
                    == (interruption.isFenced ? .shared : .done)
            )
            #expect(try places.digest(of: places.newStore) == world.digest)
            #expect(try places.share().outcome == .alreadyShared)
        } else {
            #expect(try merging.mergeAndWait().outcome == .merged)
            #expect(try places.count("SELECT count(*) FROM t", in: places.oldStore) == 3)
            #expect(try places.container.directory.status(of: places.name) == nil)
            #expect(try places.share().outcome == .shared)
            #expect(try places.count("SELECT count(*) FROM t", in: places.newStore) == 3)
        }
    }

    @Test("A merge outside a share is not part of the run among whose records it stands")
    func recordsOfOlderVersions() {
        let places = (StoreLocation(folder: "/old", name: "s"), StoreLocation(folder: "/new", name: "s"))
        let identity = FileIdentity(device: 1, inode: 2)
        let run = JournalRecord.RunIdentity(
            transaction: "1",
            old: places.0,
            oldIdentity: identity,
            new: places.1,
            policy: .fence
        )
        let merging = JournalRecord.Merging(epoch: "2", from: places.1, into: places.0, oldState: nil, base: nil)
        let state = RunState([.begin(run), .nest(identity), .merging(merging), .merged(epoch: "2")])
        guard case .interrupted(let interrupted) = state else {
            Issue.record("the run is still to be ended")
            return
        }
        #expect(interrupted.merging == nil)
    }
}
