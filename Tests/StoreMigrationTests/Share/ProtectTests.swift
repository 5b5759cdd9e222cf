import SafeFiles
import StoreFormat
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
}
