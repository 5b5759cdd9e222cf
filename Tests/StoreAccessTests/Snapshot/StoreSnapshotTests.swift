import SafeFiles
import StoreAccess
import TestSupport
import Testing

@Suite("Copying a store while it is written")
struct StoreSnapshotTests {
    private static let rows = """
        CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
        INSERT INTO t SELECT i, hex(randomblob(20)) FROM n;
        """

    /// A store, a connection that copies it, one that writes to it, and the target file.
    private struct Bench {
        let scratch: ScratchFolder
        let source: StoreConnection
        let writer: StoreConnection
        let target: DurableFile

        init(mode: String) throws {
            scratch = try ScratchFolder()
            try scratch.makeStore("PRAGMA journal_mode=\(mode);" + StoreSnapshotTests.rows)
            source = try scratch.open()
            writer = try scratch.open()
            target = try scratch.directory.createFile("copy.sqlite", mode: 0o600)
        }

        func wal() throws -> WriteAheadLogSnapshot {
            try WriteAheadLogSnapshot(source: source, holder: scratch.open(), target: target, pageSize: 4096)
        }

        func rollback() -> RollbackSnapshot {
            RollbackSnapshot(source: source, target: target) { try scratch.directory.token(of: "store.sqlite") }
        }

        /// Completes under the write lock and compares both stores by digest.
        func complete(_ snapshot: any StoreSnapshot) throws -> Bool {
            let lock = try scratch.open()
            try lock.beginWriting(deadline: Deadline(after: .seconds(60)))
            let isChanged = try snapshot.complete(under: lock)
            let copy = try StoreConnection(scratch.location("copy.sqlite"), access: .immutable)
            #expect(try copy.value("PRAGMA integrity_check")?.text == "ok")
            let digest = try StoreDigest(of: copy, externalData: nil)
            #expect(try digest == StoreDigest(of: lock, externalData: nil))
            lock.rollback()
            return isChanged
        }
    }

    @Test("Frames in the log are replayed, including those written during the copy")
    func frames() throws {
        let bench = try Bench(mode: "wal")
        let snapshot = try bench.wal()
        try bench.writer.execute("UPDATE t SET text = 'before' WHERE id < 100")
        try snapshot.copy(monitor: .silent)
        try bench.writer.execute(
            "UPDATE t SET text = 'after' WHERE id BETWEEN 50 AND 150; DELETE FROM t WHERE id > 1500"
        )
        #expect(try snapshot.settle())
        try bench.writer.execute("INSERT INTO t VALUES (5000, 'tail')")
        #expect(try bench.complete(snapshot))
    }

    @Test("A settled copy without later writes is complete")
    func settled() throws {
        let bench = try Bench(mode: "wal")
        let snapshot = try bench.wal()
        try snapshot.copy(monitor: .silent)
        #expect(try snapshot.settle())
        #expect(try !bench.complete(snapshot))
    }

    @Test("A log that was checkpointed and restarted is read from its first frame")
    func restartedLog() throws {
        let bench = try Bench(mode: "wal")
        try bench.writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let snapshot = try bench.wal()
        try snapshot.copy(monitor: .silent)
        for round in 0..<5 {
            try bench.writer.execute("UPDATE t SET text = 'round \(round)'")
            _ = try snapshot.settle()
            try bench.writer.execute("INSERT INTO t (text) VALUES ('between')")
            _ = try bench.writer.value("PRAGMA wal_checkpoint(PASSIVE)")
        }
        _ = try bench.complete(snapshot)
    }

    @Test("An uncommitted transaction is not copied")
    func uncommitted() throws {
        let bench = try Bench(mode: "wal")
        try bench.writer.execute("PRAGMA cache_size = 1; BEGIN; UPDATE t SET text = 'never committed'")
        let snapshot = try bench.wal()
        try snapshot.copy(monitor: .silent)
        #expect(try snapshot.settle())
        bench.writer.rollback()
        _ = try bench.complete(snapshot)
        let copy = try StoreConnection(bench.scratch.location("copy.sqlite"), access: .immutable)
        #expect(try copy.value("SELECT count(*) FROM t WHERE text = 'never committed'")?.integer == 0)
    }

    @Test("A copy of a store that shrank has no surplus pages")
    func shrunk() throws {
        let bench = try Bench(mode: "wal")
        let snapshot = try bench.wal()
        try snapshot.copy(monitor: .silent)
        try bench.writer.execute("DELETE FROM t WHERE id > 10; VACUUM")
        #expect(try bench.complete(snapshot))
        #expect(try bench.target.status().size < 20 * 4096)
    }

    @Test("In rollback mode differing pages are patched under the lock")
    func patched() throws {
        let bench = try Bench(mode: "delete")
        let snapshot = bench.rollback()
        try snapshot.copy(monitor: .silent)
        #expect(snapshot.settle())
        try bench.writer.execute(
            "UPDATE t SET text = 'later' WHERE id % 7 = 0; INSERT INTO t SELECT id + 9000, text FROM t"
        )
        #expect(try bench.complete(snapshot))
    }

    @Test("In rollback mode an unchanged store's copy is complete, and that of a store that shrank is truncated")
    func quietRollback() throws {
        let quiet = try Bench(mode: "delete")
        let snapshot = quiet.rollback()
        try snapshot.copy(monitor: .silent)
        #expect(snapshot.settle())
        #expect(try !quiet.complete(snapshot))

        let shrinking = try Bench(mode: "delete")
        let other = shrinking.rollback()
        try other.copy(monitor: .silent)
        try shrinking.writer.execute("DELETE FROM t WHERE id > 10; VACUUM")
        #expect(try shrinking.complete(other))
        #expect(try shrinking.target.status().size < 20 * 4096)
    }
}
