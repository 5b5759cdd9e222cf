import SafeFiles
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import StoreAccess

/// ``StoreReader/read(_:_:)``: a log is read in place.
@Suite("Reading a log without a lock")
struct UnlockedReadingTests {
    private let scratch: ScratchFolder
    private let store: StoreLocation

    init() throws {
        scratch = try ScratchFolder()
        store = scratch.location("store.sqlite")
    }

    /// A store with one row in the main file and another in the log, and the connection that keeps it open.
    private func liveStore(in folder: ScratchFolder? = nil) throws -> StoreConnection {
        let folder = folder ?? scratch
        try folder.makeStore("PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        let writer = try folder.open()
        try writer.execute("INSERT INTO t VALUES (2); PRAGMA user_version=9")
        return writer
    }

    private func sum(_ view: StoreView) throws -> Int64? {
        try view.connection.value("SELECT sum(a) FROM t")?.integer
    }

    @Test("Rows that are only in the log are read without a copy, and no file changes", arguments: [true, false])
    func log(_ hasIndex: Bool) throws {
        let origin = hasIndex ? scratch : try ScratchFolder()
        let writer = try liveStore(in: origin)
        if !hasIndex { try origin.copyFiles(to: scratch) }
        let before = try scratch.everything()
        let phases = Mutex<Set<StoreProgress.Phase>>([])
        let monitor = WorkMonitor(onProgress: { progress in phases.withLock { _ = $0.insert(progress.phase) } })
        try StoreReader(monitor: monitor)
            .read(store) { view throws in
                #expect(view.kind == .unlocked)
                #expect(try sum(view) == 3)
                #expect(view.header.userVersion == 9)
                #expect(view.header.journalMode == .wal)
                #expect(try view.connection.hasSameBytes(as: writer) == false)
            }
        #expect(phases.withLock { $0.isEmpty }, "nothing was copied")
        #expect(try scratch.everything() == before)
    }

    @Test("A store without a log is read in place, and one with a journal from a copy")
    func otherStores() throws {
        try scratch.makeStore("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        try StoreReader().read(store) { view throws in #expect(view.kind == .immutable) }
        try scratch.interruptWriter(
            """
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
            INSERT INTO t SELECT hex(zeroblob(1000)) FROM n
            """
        )
        let before = try scratch.everything()
        try StoreReader()
            .read(store) { view throws in
                #expect(view.kind == .privateCopy)
                #expect(try sum(view) == 1)
            }
        #expect(try scratch.everything() == before)
    }

    /// What a writer does during the reading.
    enum Change: String, CaseIterable {
        case commit = "INSERT INTO t VALUES (4)"
        case checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)"
        case newGeneration = "PRAGMA wal_checkpoint(RESTART); INSERT INTO t VALUES (4)"
        case otherMode = "PRAGMA journal_mode=DELETE"
    }

    @Test("A writer is not blocked, and what was read before its commit is dropped", arguments: Change.allCases)
    func changes(_ change: Change) throws {
        let writer = try liveStore()
        var kinds: [StoreView.Kind] = []
        let seen = try StoreReader()
            .read(store) { view throws in
                kinds.append(view.kind)
                // In the first view the change is invisible, and may damage what it shows.
                if kinds.count == 1 { try writer.execute(change.rawValue) }
                return try? sum(view)
            }
        #expect(seen == (change == .commit || change == .newGeneration ? 7 : 3))
        #expect(kinds.count == 2 && kinds.first == .unlocked && kinds.last != .unlocked, "\(kinds)")
    }

    @Test("Reading that fails while the store is written is repeated; another failure is the caller's")
    func failures() throws {
        struct Failure: Error {}
        let writer = try liveStore()
        var calls = 0
        let seen = try StoreReader()
            .read(store) { view throws in
                calls += 1
                guard calls > 1 else {
                    try writer.execute("INSERT INTO t VALUES (4)")
                    throw Failure()
                }
                return try sum(view)
            }
        #expect(seen == 7 && calls == 2)
        #expect(throws: Failure.self) { try StoreReader().read(store) { _ in throw Failure() } }
    }

    @Test("A view keeps one state while the log grows")
    func oneState() throws {
        let writer = try liveStore()
        var results: [Int64?] = []
        try StoreReader()
            .read(store) { view throws in
                guard view.kind == .unlocked else { return }
                results.append(try sum(view))
                try writer.execute("INSERT INTO t VALUES (4)")
                results.append(try sum(view))
                #expect(throws: StoreError.self) { try view.connection.execute("INSERT INTO t VALUES (8)") }
            }
        #expect(results == [3, 3])
        #expect(try writer.value("SELECT sum(a) FROM t") == .integer(7))
    }

    @Test("Reading leaves the locks of this process in place")
    func locks() throws {
        let writer = try liveStore()
        try StoreReader().read(store) { view throws in #expect(try sum(view) == 3) }
        // Another process would switch the mode if this one's lock on the main file were gone.
        let switched = try ChildProgram.run(["sqlite3", store.path, "PRAGMA journal_mode=DELETE"])
        #expect(!switched.output.contains("delete"), "\(switched.output)")
        try writer.execute("INSERT INTO t VALUES (4)")
        #expect(try writer.value("SELECT sum(a) FROM t") == .integer(7))
    }

    @Test("Reading does not wait for a writer in the middle of a transaction, and does not return its rows")
    func uncommitted() throws {
        let writer = try liveStore()
        let committed = try scratch.bytes("store.sqlite-wal").count
        try writer.beginWriting(deadline: Deadline(after: .seconds(5)))
        // More pages than the cache contains are in the log before the commit.
        try writer.execute(
            """
            PRAGMA cache_size=1;
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
            INSERT INTO t SELECT zeroblob(1000) FROM n
            """
        )
        #expect(try scratch.bytes("store.sqlite-wal").count > committed)
        try StoreReader(lockTimeout: .milliseconds(20))
            .read(store) { view throws in
                #expect(view.kind == .unlocked)
                #expect(try sum(view) == 3)
            }
    }

    @Test("A main file that lost its end is refused as truncated, also with a log")
    func truncated() throws {
        let origin = try ScratchFolder()
        // The schema has pages of its own, which are lost.
        let tables = (0..<200).map { "CREATE TABLE table\($0)(a, b, c);" }.joined()
        try origin.makeStore("PRAGMA journal_mode=WAL;" + tables)
        let writer = try origin.open()
        try writer.execute("INSERT INTO table7 VALUES (1, 2, 3)")
        try scratch.write("store.sqlite", Array(origin.bytes("store.sqlite").prefix(8192)))
        try scratch.write("store.sqlite-wal", origin.bytes("store.sqlite-wal"))
        let before = try scratch.everything()
        #expect {
            try StoreReader().read(store) { _ in Issue.record("a view was passed") }
        } throws: { ($0 as? UnreadableStore)?.reason == .truncated }
        #expect(try scratch.everything() == before)
    }

    @Test("A log that is a link or a FIFO is not followed", arguments: ["symlink", "hard link", "fifo"])
    func hostileLog(_ kind: String) throws {
        let origin = try ScratchFolder()
        let writer = try liveStore(in: origin)
        try origin.copyFiles(to: scratch)
        try writer.close()
        let log = scratch.path + "/store.sqlite-wal"
        let other = scratch.path + "/other"
        let words: [String] =
            switch kind {
            case "symlink": ["sh", "-c", "mv '\(log)' '\(other)' && ln -s '\(other)' '\(log)'"]
            case "hard link": ["ln", log, other]
            default: ["sh", "-c", "rm '\(log)' && mkfifo '\(log)'"]
            }
        #expect(try ChildProgram.run(words).status == 0)
        let names = try scratch.directory.entries()
        do {
            // A FIFO has no size, so that the store counts as one without a log.
            try StoreReader()
                .read(store) { view throws in
                    #expect(kind == "fifo" && view.kind == .immutable)
                }
        } catch let error as UnreadableStore {
            #expect([.symbolicLink, .hardLink, .specialFile].contains(error.reason), "\(error)")
        }
        #expect(try scratch.directory.entries() == names)
    }

    @Test("The fingerprint of a log changes with every commit, also over the frames of one that was rolled back")
    func fingerprints() throws {
        let writer = try liveStore()
        var seen: [LogFingerprint] = []
        func expectNew(_ sql: String) throws {
            try writer.execute(sql)
            let log = try scratch.directory.openFile("store.sqlite-wal", for: .reading)
            let fingerprint = try LogFingerprint(of: log)
            #expect(try fingerprint == LogFingerprint(of: writer) && !seen.contains(fingerprint), "\(sql)")
            seen.append(fingerprint)
        }
        try expectNew("SELECT 1")
        try expectNew("INSERT INTO t VALUES (4)")
        let filling = """
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
            INSERT INTO t SELECT zeroblob(1000) FROM n
            """
        try expectNew("PRAGMA cache_size = 1; BEGIN; \(filling); ROLLBACK")
        let size = try scratch.bytes("store.sqlite-wal").count
        try expectNew("INSERT INTO t VALUES (5)")
        #expect(try scratch.bytes("store.sqlite-wal").count == size, "the commit overwrote the other frames")
        try expectNew("PRAGMA wal_checkpoint(RESTART); INSERT INTO t VALUES (6)")
        #expect(try scratch.bytes("store.sqlite-wal").count == size)
    }

    @Test(
        "What is read beside a busy writer is a state that it committed, whenever it checkpoints",
        arguments: [1, 40, 1000]
    )
    func besideWriter(checkpointAt pages: Int) throws {
        try scratch.makeStore(
            """
            PRAGMA journal_mode=WAL; CREATE TABLE t(a, filling);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
            INSERT INTO t SELECT 0, zeroblob(400) FROM n
            """
        )
        let writer = try ChildProgram(["sqlite3", "-batch", store.path])
        defer {
            writer.closeInput()
            _ = writer.wait()
        }
        // Every commit writes all pages of the table.
        let commits = String(repeating: "UPDATE t SET a = a + 1;\n", count: 2000)
        writer.say(".timeout 60000\nPRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=\(pages);\n" + commits)
        for _ in 0..<200 {
            let isWhole = try StoreReader(lockTimeout: .seconds(60))
                .read(store) { view throws in
                    try view.connection.value("SELECT count(*) = 200 AND min(a) = max(a) FROM t")
                }
            #expect(isWhole == .integer(1))
        }
    }

    @Test("A store that is written while it is read, without space for a copy, is read in a transaction")
    func withoutSpace() throws {
        let writer = try liveStore()
        // With holes the file is larger than any folder for temporary files.
        let main = try scratch.directory.openFile("store.sqlite", for: .writing)
        try main.truncate(to: 1 << 43)
        try main.close()
        var kinds: [StoreView.Kind] = []
        let seen = try StoreReader()
            .read(store) { view throws in
                kinds.append(view.kind)
                if kinds.count == 1 { try writer.execute("INSERT INTO t VALUES (4)") }
                return try sum(view)
            }
        #expect(seen == 7 && kinds == [.unlocked, .live], "\(kinds)")
        #expect {
            try StoreReader().withView(of: store) { _ in Issue.record("a view was passed") }
        } throws: { ($0 as? StoreError)?.code == .noSpace }
    }
}
