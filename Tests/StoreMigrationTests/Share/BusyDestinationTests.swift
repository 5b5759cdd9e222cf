import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("A store at the new path with a writer")
struct BusyDestinationTests {
    /// With some versions of SQLite a writer that begins the log anew during a checkpoint can make later commits vanish.
    @Test("The log of a store at the destination is not checkpointed while a writer has the lock")
    func logOfWriter() throws {
        let places = try Places()
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        try places.container.makeStore("PRAGMA journal_mode=wal; CREATE TABLE t (x)")
        // Progress is reported by the sharing thread only, so no lock is needed.
        nonisolated(unsafe) let writer = try StoreWriterProcess(places.newStore.path)
        #expect(try writer.execute("PRAGMA user_version = 7") == "ok")
        let main = try places.container.bytes(places.name)
        #expect(try places.container.bytes(places.name + "-wal").count > 0)

        let write: @Sendable (StoreProgress) -> Void = { progress in
            guard progress.phase == .publishing, progress.done == 0 else { return }
            #expect((try? writer.execute("BEGIN IMMEDIATE")) == "ok")
        }
        let error = #expect(throws: MigrationError.self) {
            try places.share({ $0.lockTimeout = .milliseconds(200) }, onProgress: write)
        }

        #expect(error?.outcome == .busy)
        #expect(try places.container.bytes(places.name) == main)
        #expect(try writer.execute("COMMIT") == "ok")
        #expect(writer.waitForExit() == 0)
        #expect(try places.share().outcome == .shared)
        #expect(try places.count("SELECT count(*) FROM t", in: places.newStore) == 1)
    }
}
