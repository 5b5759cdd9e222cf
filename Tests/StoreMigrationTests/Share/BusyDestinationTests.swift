import StoreFormat
import TestSupport
import Testing

@testable import StoreMigration

@Suite("A store at the new place that somebody writes to")
struct BusyDestinationTests {
    /// With some versions of SQLite a writer that begins the log anew during a checkpoint can make later commits vanish.
    @Test("Its log is not folded into it while its writer has the lock")
    func logOfWriter() throws {
        let places = try Places()
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        try places.container.makeStore("PRAGMA journal_mode=wal; CREATE TABLE t (x)")
        // What is told of progress is told by the thread that shares, one after the other.
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
