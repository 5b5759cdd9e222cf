import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("A run that copies nothing and fails")
struct ProtectTests {
    @Test("A run that is cancelled after fencing a captured store leaves no fence", arguments: ["wal", "delete"])
    func cancelledAfterFence(mode: String) throws {
        let places = try Places()
        try places.old.makeStore(
            "PRAGMA journal_mode=\(mode); CREATE TABLE t (x); INSERT INTO t VALUES (1), (2); CREATE TABLE u (x)"
        )
        // The digest of a small store checks for cancellation only at its external files.
        try places.writeExternalFile("blob", 7, count: 1000, in: places.old)
        try #require(try places.share { $0.oldStore = .capture }.outcome == .shared)
        let state = try StateFolder(of: places.oldStore, stateFolder: nil).state()

        let error = #expect(throws: MigrationError.self) {
            try places.migrator { $0.oldStore = .fence }
                .shareStoreIfNecessaryAndWait(isCancelled: {
                    (try? places.records().contains(.fenced)) ?? false
                })
        }

        #expect(error?.outcome == .cancelled)
        #expect(try places.records().last == .rolledBack)
        #expect(try !places.isFenced(places.oldStore))
        #expect(try StateFolder(of: places.oldStore, stateFolder: nil).state().run == state.run)
        #expect(try StoreWriterProcess(places.oldStore.path).execute("INSERT INTO t VALUES (3)") == "ok")
        #expect(try places.share { $0.oldStore = .fence }.outcome == .merged)
        #expect(try places.isFenced(places.oldStore))
    }

    @Test("Rows written after the inspection are not recorded as settled", arguments: Reason.allCases, [true, false])
    func writtenAfterInspection(_ reason: Reason, isFenced: Bool) throws {
        let places = try Places()
        let rows = "; INSERT INTO t VALUES (1)"
        try places.old.makeStore("CREATE TABLE t (x)" + (reason == .empty ? "" : rows))
        if reason == .unchanged {
            try places.share { $0.oldStore = .capture }
        } else {
            try places.container.makeStore("CREATE TABLE t (x)" + rows)
        }
        let once = Once()
        let old = places.oldStore.path
        // The trigger points of other tests pass by, too: the journal of this store identifies its own.
        TriggerPoint.observe { moment in
            guard moment == .protecting, case .begin? = (try? places.records())?.last, once.isFirst() else { return }
            _ = try? StoreWriterProcess(old).execute("INSERT INTO t VALUES (2)")
        }

        // A captured store that is unchanged needs no run.
        let isRun = reason != .unchanged || isFenced
        let outcome = try places.share { $0.oldStore = isFenced ? .fence : .capture }

        #expect(once.isFirst() != isRun)
        #expect(outcome.outcome == (isRun ? reason.outcome : .alreadyShared))
        let found = try places.count("SELECT count(*) FROM t WHERE x = 2", in: places.newStore)
        #expect(found == (outcome.outcome == .merged ? 1 : 0))
        #expect(try places.isFenced(places.oldStore) == (outcome.outcome == .merged))
    }

    /// Why a share copies nothing, and what it does after a write.
    enum Reason: CaseIterable {
        case empty
        case equal
        case unchanged

        var outcome: MigrationOutcome { self == .unchanged ? .merged : .bothHoldObjects }
    }
}
