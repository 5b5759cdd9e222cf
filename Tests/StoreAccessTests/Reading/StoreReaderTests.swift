import Glibc
import SafeFiles
import StoreAccess
import Synchronization
import SystemPackage
import TestSupport
import Testing

@Suite("StoreReader")
struct StoreReaderTests {
    let scratch: ScratchFolder
    private let store: StoreLocation

    init() throws {
        scratch = try ScratchFolder()
        store = scratch.location("store.sqlite")
    }

    private func count(_ view: StoreView) throws -> Int64? {
        try view.connection.value("SELECT count(*) FROM t")?.integer
    }

    @Test("A store without a log or journal is read in place", arguments: ["DELETE", "WAL"])
    func atRest(_ mode: String) throws {
        try scratch.makeStore("PRAGMA journal_mode=\(mode); CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        let before = try scratch.everything()
        try StoreReader()
            .withView(of: store) { view throws in
                #expect(view.kind == .immutable)
                #expect(try count(view) == 1)
                #expect(view.header.journalMode == (mode == "WAL" ? .wal : .rollback))
                #expect(view.externalData == nil)
            }
        #expect(try scratch.everything() == before)
    }

    @Test("Rows that are only in the log are read, and the log stays unchanged")
    func log() throws {
        let origin = try ScratchFolder()
        try origin.makeStore("PRAGMA journal_mode=WAL; CREATE TABLE t(a)")
        let writer = try origin.open()
        try writer.execute("INSERT INTO t VALUES (1), (2); PRAGMA user_version=9")
        try origin.copyFiles(to: scratch)
        let before = try scratch.everything()
        try StoreReader()
            .withView(of: store) { view throws in
                #expect(view.kind == .privateCopy)
                #expect(try count(view) == 2)
                #expect(view.header.userVersion == 9)
            }
        #expect(try scratch.everything() == before)
        #expect(try scratch.directory.entries() == ["store.sqlite", "store.sqlite-wal"])
    }

    @Test("A private copy is neither flushed nor checkpointed")
    func discardedCopy() throws {
        let origin = try ScratchFolder()
        try origin.makeStore("PRAGMA journal_mode=WAL; CREATE TABLE t(a)")
        let writer = try origin.open()
        try writer.execute("INSERT INTO t VALUES (1)")
        try origin.copyFiles(to: scratch)
        try StoreReader()
            .withView(of: store) { view throws in
                #expect(try view.connection.value("PRAGMA synchronous") == .integer(0))
            }
        // The caller's own copy shows what closing leaves.
        let files = try scratch.bytes("store.sqlite")
        let log = try scratch.bytes("store.sqlite-wal")
        let copy = try StoreConnection(store, access: .discardedCopy)
        #expect(try copy.value("SELECT count(*) FROM t") == .integer(1))
        try copy.close()
        #expect(try scratch.bytes("store.sqlite") == files)
        #expect(try scratch.bytes("store.sqlite-wal") == log)
    }

    @Test("A hot journal is rolled back in the copy only")
    func hotJournal() throws {
        try makeHotJournal(in: scratch)
        let before = try scratch.everything()
        try StoreReader()
            .withView(of: store) { view throws in
                #expect(view.kind == .privateCopy)
                #expect(try view.connection.value("SELECT sum(length(a)) FROM t") == .integer(100_000))
                #expect(try view.connection.value("SELECT count(*) FROM t WHERE a LIKE 'new%'") == .integer(0))
            }
        #expect(try scratch.everything() == before)
    }

    /// A store as left by a crash during a transaction: half of the new pages, and the journal that rolls them back.
    private func makeHotJournal(in folder: ScratchFolder) throws {
        try folder.makeStore(
            """
            CREATE TABLE t(a);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
            INSERT INTO t SELECT substr('old' || hex(zeroblob(1000)), 1, 1000) FROM n
            """
        )
        try folder.interruptWriter("UPDATE t SET a = 'new' || a")
        #expect(try folder.bytes("store.sqlite").contains(UInt8(ascii: "w")))
        #expect(try folder.bytes("store.sqlite-journal").count > 512)
    }

    @Test(
        "A journal's super-journal decides its rollback, and is never changed",
        arguments: [true, false]
    )
    func superJournal(_ isThere: Bool) throws {
        try makeHotJournal(in: scratch)
        let name = scratch.path + "/bystander"
        if isThere { try scratch.write("bystander", Array("untouched".utf8)) }
        let size = Int64(try scratch.bytes("store.sqlite-journal").count)
        try scratch.overwrite("store.sqlite-journal", at: size, Self.superJournalNote(name))
        let before = try scratch.everything()
        let new = try StoreReader()
            .withView(of: store) { view throws in
                try view.connection.value("SELECT count(*) > 0 FROM t WHERE a LIKE 'new%'")
            }
        // Without the super-journal the transaction was committed, and the journal is a leftover.
        #expect(new == .integer(isThere ? 0 : 1))
        #expect(try scratch.everything() == before)
    }

    @Test("Opening a store for writing rolls its journal back and keeps the file that the journal names")
    func namedFile() throws {
        try makeHotJournal(in: scratch)
        let victims = try ScratchFolder()
        try victims.write("bystander", Array("untouched".utf8))
        let size = Int64(try scratch.bytes("store.sqlite-journal").count)
        try scratch.overwrite("store.sqlite-journal", at: size, Self.superJournalNote(victims.path + "/bystander"))
        let connection = try StoreConnection(store, access: .liveWriting)
        #expect(try connection.value("SELECT count(*) FROM t WHERE a LIKE 'new%'") == .integer(0))
        try connection.execute("INSERT INTO t VALUES ('late')")
        try connection.close()
        #expect(try victims.directory.entries() == ["bystander"])
        #expect(try scratch.directory.entries() == ["store.sqlite"])
    }

    private static func superJournalNote(_ name: String) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        let bytes = Array(name.utf8)
        return number(0x4000_0000 / 4096 + 1) + bytes + number(bytes.count) + number(bytes.reduce(0) { $0 + Int($1) })
            + [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
    }

    @Test("A store written during every read in place is read by a transaction")
    func movesInPlace() throws {
        try scratch.makeStore("CREATE TABLE t(a)")
        let writer = try scratch.open()
        var calls: Int64 = 0
        let seen = try StoreReader()
            .withView(of: store) { view throws in
                calls += 1
                #expect(view.kind == (calls < 4 ? .immutable : .live))
                if view.kind == .immutable { try writer.execute("INSERT INTO t VALUES (1)") }
                return try count(view)
            }
        #expect(calls == 4)
        #expect(seen == 3)
    }

    @Test("A store written during every copy is read by a transaction")
    func movesWhileCopied() throws {
        try scratch.makeStore("PRAGMA journal_mode=WAL; CREATE TABLE t(a)")
        let writer = try scratch.open()
        try writer.execute("INSERT INTO t VALUES (0)")
        let location = store
        let monitor = WorkMonitor(onProgress: { progress in
            guard progress.phase == .copying else { return }
            do {
                let other = try StoreConnection(location, access: .liveWriting)
                try other.execute("INSERT INTO t VALUES (1)")
                try other.close()
            } catch {
                Issue.record(error)
            }
        })
        let size = try scratch.bytes("store.sqlite").count
        try StoreReader(monitor: monitor)
            .withView(of: store) { view throws in
                #expect(view.kind == .live)
                #expect(try count(view) ?? 0 > 3)
                // The view does not change while another connection writes.
                let before = try count(view)
                try writer.execute("INSERT INTO t VALUES (2)")
                #expect(try count(view) == before)
            }
        #expect(try scratch.bytes("store.sqlite").count == size)
    }

    @Test("A copy is used at the second try if the store did not change during it")
    func secondTry() throws {
        try scratch.makeStore("PRAGMA journal_mode=WAL; CREATE TABLE t(a)")
        let writer = try scratch.open()
        try writer.execute("INSERT INTO t VALUES (0)")
        let isFirst = Mutex(true)
        let location = store
        let monitor = WorkMonitor(onProgress: { _ in
            let mustWrite = isFirst.withLock { first in
                defer { first = false }
                return first
            }
            guard mustWrite else { return }
            do {
                try StoreConnection(location, access: .liveWriting).execute("INSERT INTO t VALUES (1)")
            } catch {
                Issue.record(error)
            }
        })
        try StoreReader(monitor: monitor)
            .withView(of: store) { view throws in
                #expect(view.kind == .privateCopy)
                #expect(try count(view) == 2)
            }
    }

    @Test("A store locked beyond the deadline is unreadable with the reason locked")
    func locked() throws {
        let tables = (0..<40).map { "CREATE TABLE t\($0)(a); INSERT INTO t\($0) VALUES (1);" }.joined()
        try scratch.makeStore(tables)
        let writer = try WriterInTransaction(try scratch.open())
        let monitor = WorkMonitor(onProgress: { _ in writer.touchAnotherPage() })
        #expect {
            try StoreReader(lockTimeout: .milliseconds(20), monitor: monitor).withView(of: store) { _ in }
        } throws: { ($0 as? UnreadableStore)?.reason == .locked }
    }

    @Test("A file that is not a readable store is refused with its reason", arguments: RefusalCase.all)
    func refusals(_ row: RefusalCase) throws {
        try row.make(scratch)
        let before = try scratch.everything()
        for copiesLog in [true, false] {
            #expect {
                let body: (StoreView) throws -> Void = { _ in Issue.record("a view was passed") }
                try copiesLog ? StoreReader().withView(of: store, body) : StoreReader().read(store, body)
            } throws: { error in
                #expect((error as? UnreadableStore)?.reason == row.reason, "\(error)")
                return (error as? UnreadableStore)?.path.hasPrefix(scratch.path) == true
            }
        }
        #expect(try scratch.everything() == before)
    }

    @Test("A missing store and an unreadable one give different errors")
    func absent() throws {
        for location in [store, StoreLocation(folder: scratch.path + "/none", name: "x")] {
            #expect {
                try StoreReader().withView(of: location) { _ in }
            } throws: { ($0 as? StoreError)?.code == .notFound }
        }
    }

    @Test("A file without read permission is refused with the reason permission", arguments: PermissionCase.all)
    func permission(_ row: PermissionCase) throws {
        let origin = try ScratchFolder()
        try origin.makeStore("PRAGMA journal_mode=WAL; CREATE TABLE t(a)")
        let writer = try origin.open()
        try writer.execute("INSERT INTO t VALUES (1)")
        try origin.copyFiles(to: scratch)
        try FilePath(scratch.path).setMode(row.folder)
        try FilePath(store.path).setMode(row.main)
        try FilePath(store.path + "-wal").setMode(row.log)
        defer { try? FilePath(scratch.path).setMode(0o700) }
        let reason = try OtherUser.run { () -> UnreadableStore.Reason? in
            do {
                return try StoreReader().withView(of: store) { _ in nil }
            } catch let error as UnreadableStore {
                return error.reason
            }
        }
        #expect(reason == row.reason)
    }
}

/// A writer in an exclusive transaction, which moves the journal on request.
private final class WriterInTransaction: Sendable {
    private struct State: ~Copyable {
        let connection: StoreConnection
        var next = 1
    }
    private let state: Mutex<State>

    init(_ connection: sending StoreConnection) throws {
        try connection.execute("PRAGMA cache_size=1; BEGIN EXCLUSIVE; UPDATE t0 SET a = 2")
        state = Mutex(State(connection: connection))
    }

    func touchAnotherPage() {
        state.withLock { state in
            do {
                try state.connection.execute("UPDATE t\(state.next % 40) SET a = a + 1")
            } catch {
                Issue.record(error)
            }
            state.next += 1
        }
    }
}

struct PermissionCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var folder: UInt32 = 0o755
    var main: UInt32 = 0o644
    var log: UInt32 = 0o644
    var reason: UnreadableStore.Reason?

    static let all =
        [
            Self(testDescription: "main file", main: 0, reason: .permission),
            Self(testDescription: "log", log: 0, reason: .permission),
            Self(testDescription: "folder", folder: 0, reason: .permission),
        ] + (geteuid() == 0 ? [Self(testDescription: "nothing", reason: nil)] : [])
}
