import CSQLite
import SafeFiles
import StoreAccess
import Synchronization
import SystemPackage
import TestSupport
import Testing

@Suite("StoreConnection")
struct StoreConnectionTests {
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test("A name with special characters opens exactly that file", arguments: NameCase.all)
    func names(_ row: NameCase) throws {
        let location = try scratch.makeStore("CREATE TABLE t(a); INSERT INTO t VALUES (7)", as: row.name)
        for access in [StoreConnection.Access.immutable, .liveReading, .privateCopy] {
            let connection = try StoreConnection(location, access: access)
            #expect(try connection.value("SELECT a FROM t") == .integer(7))
            try connection.close()
        }
        #expect(try scratch.directory.entries() == [row.name])
    }

    @Test(
        "No access creates a missing file",
        arguments: [StoreConnection.Access.immutable, .privateCopy, .liveReading, .liveWriting]
    )
    func createsNothing(_ access: StoreConnection.Access) throws {
        #expect {
            try StoreConnection(scratch.location("none.sqlite"), access: access)
        } throws: { ($0 as? StoreError)?.code == .notFound }
        #expect(try scratch.directory.entries() == [])
    }

    @Test("Only a regular file with one name is opened")
    func kinds() throws {
        try scratch.makeStore("CREATE TABLE t(a)", as: "real.sqlite")
        try FilePath(scratch.path + "/link.sqlite").makeSymbolicLink(to: scratch.path + "/real.sqlite")
        try FilePath(scratch.path + "/fifo.sqlite").makeFIFO()
        _ = try scratch.directory.createDirectory("folder.sqlite", mode: 0o700)
        for name in ["link.sqlite", "fifo.sqlite", "folder.sqlite"] {
            #expect {
                try StoreConnection(scratch.location(name), access: .liveReading)
            } throws: { ($0 as? StoreError)?.code == .unreadable }
        }
        try FilePath(scratch.path + "/second.sqlite").makeHardLink(to: scratch.path + "/real.sqlite")
        #expect {
            try StoreConnection(scratch.location("real.sqlite"), access: .liveReading)
        } throws: { ($0 as? StoreError)?.code == .unreadable }
    }

    @Test("A folder is reached through symbolic links")
    func linkedFolder() throws {
        try scratch.makeStore("CREATE TABLE t(a)", as: "a.sqlite")
        let other = try ScratchFolder()
        try FilePath(other.path + "/way").makeSymbolicLink(to: scratch.path)
        let location = StoreLocation(folder: other.path + "/way", name: "a.sqlite")
        #expect(try StoreConnection(location, access: .immutable).value("SELECT count(*) FROM t") == .integer(0))
    }

    @Test("Every kind of value comes back as it was bound", arguments: ValueCase.all)
    func values(_ row: ValueCase) throws {
        try scratch.makeStore("CREATE TABLE t(a)")
        let connection = try scratch.open()
        try connection.run("INSERT INTO t VALUES (?)", [row.value])
        #expect(try connection.value("SELECT a FROM t") == row.value)
        #expect(try connection.value("SELECT typeof(a) FROM t") == .text(row.storageClass))
    }

    @Test("Invalid UTF-8 is passed byte for byte")
    func invalidText() throws {
        let location = try scratch.makeStore("CREATE TABLE t(a TEXT); INSERT INTO t VALUES (CAST(x'61ff62' AS TEXT))")
        let connection = try StoreConnection(location, access: .immutable)
        var bytes: [UInt8] = []
        try connection.forEachRow("SELECT a FROM t") { row in
            #expect(row.type(0) == .text)
            bytes = row.withBytes(0) { Array($0) }
        }
        #expect(bytes == [0x61, 0xff, 0x62])
    }

    @Test("Statements inside a loop over rows do not affect it")
    func nestedStatements() throws {
        let location = try scratch.makeStore("CREATE TABLE t(a); INSERT INTO t VALUES (1), (2), (3)")
        let connection = try StoreConnection(location, access: .immutable)
        var sums: [Int64] = []
        try connection.forEachRow("SELECT a FROM t ORDER BY a") { row in
            let below = try connection.value(
                "SELECT coalesce(sum(a), 0) FROM t WHERE a <= ?",
                [.integer(row.integer(0))]
            )
            sums.append(below?.integer ?? -1)
        }
        #expect(sums == [1, 3, 6])
    }

    @Test("A body that throws ends its loop and leaves the connection usable")
    func throwingBody() throws {
        struct Stop: Error {}
        let location = try scratch.makeStore("CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)")
        let connection = try StoreConnection(location, access: .immutable)
        #expect(throws: Stop.self) { try connection.forEachRow("SELECT a FROM t") { _ in throw Stop() } }
        #expect(try connection.value("SELECT count(*) FROM t") == .integer(2))
        try connection.close()
    }

    @Test("More than one statement, too few arguments and names that do not exist are errors")
    func mistakes() throws {
        let location = try scratch.makeStore("CREATE TABLE t(a)")
        let connection = try StoreConnection(location, access: .immutable)
        #expect(throws: StoreError.self) { try connection.value("SELECT 1; SELECT 2") }
        #expect(throws: StoreError.self) { try connection.value("SELECT ?") }
        #expect(throws: StoreError.self) { try connection.value("SELECT \"no such column\" FROM t") }
        try connection.close()
        #expect(throws: StoreError.self) { try connection.value("SELECT 1") }
    }

    @Test(
        "Reading accesses cannot write",
        arguments: [StoreConnection.Access.immutable, .liveReading, .liveRecovering]
    )
    func readingOnly(_ access: StoreConnection.Access) throws {
        let location = try scratch.makeStore("CREATE TABLE t(a)")
        let connection = try StoreConnection(location, access: access)
        #expect {
            try connection.execute("INSERT INTO t VALUES (1)")
        } throws: { ($0 as? StoreError)?.code == .notWritable }
    }

    @Test("A killed writer's transaction is rolled back by a reader that may write to the store, and by no other")
    func recovering() throws {
        let location = try scratch.makeStore("CREATE TABLE t(a); INSERT INTO t VALUES ('committed')")
        let committed = try scratch.bytes("store.sqlite")
        let open = try StoreConnection(location, access: .liveReading)
        try scratch.interruptWriter("UPDATE t SET a = 'lost'")
        let interrupted = try scratch.everything().mapValues(\.bytes)
        for attempt in [
            { try open.value("SELECT a FROM t") },
            { try StoreConnection(location, access: .liveReading).value("SELECT a FROM t") },
        ] {
            let error = #expect(throws: StoreError.self) { try attempt() }
            #expect(error?.code == .busy)
            #expect(error?.message.contains("killed") == true)
        }
        #expect(try scratch.everything().mapValues(\.bytes) == interrupted)

        let recovering = try StoreConnection(location, access: .liveRecovering)
        #expect(try recovering.value("SELECT a FROM t") == .text("committed"))
        #expect(try open.value("SELECT a FROM t") == .text("committed"))
        #expect(try scratch.bytes("store.sqlite") == committed)
        #expect(try scratch.directory.entries() == ["store.sqlite"])
    }

    @Test("A private copy in WAL mode is read without a shared-memory file")
    func noSharedMemory() throws {
        try scratch.makeStore("PRAGMA journal_mode=WAL; CREATE TABLE t(a)")
        let writer = try scratch.open()
        try writer.execute("INSERT INTO t VALUES (1)")
        let copy = try ScratchFolder()
        try scratch.copyFiles(to: copy)
        let connection = try StoreConnection(copy.location("store.sqlite"), access: .privateCopy)
        #expect(try connection.value("SELECT count(*) FROM t") == .integer(1))
        #expect(try copy.directory.entries() == ["store.sqlite", "store.sqlite-wal"])
    }

    @Test("Closing a live connection does not checkpoint the log")
    func noCheckpoint() throws {
        try scratch.makeStore("PRAGMA journal_mode=WAL; CREATE TABLE t(a)")
        let writer = try scratch.open()
        try writer.execute("INSERT INTO t VALUES (1)")
        let before = try scratch.bytes("store.sqlite")
        let reader = try StoreConnection(scratch.location("store.sqlite"), access: .liveReading)
        #expect(try reader.value("SELECT count(*) FROM t") == .integer(1))
        try writer.close()
        try reader.close()
        #expect(try scratch.bytes("store.sqlite") == before)
        #expect(try scratch.directory.status(of: "store.sqlite-wal")?.size ?? 0 > 0)
    }

    @Test("Waiting for the write lock ends at the deadline, and succeeds when the lock is released")
    func waiting() throws {
        try scratch.makeStore("CREATE TABLE t(a)")
        let first = try scratch.open()
        let second = try scratch.open()
        try first.beginWriting(deadline: Deadline(after: .seconds(60)))
        #expect {
            try second.beginWriting(deadline: Deadline(after: .milliseconds(20)))
        } throws: { ($0 as? StoreError)?.code == .busy }
        first.rollback()
        try second.beginWriting(deadline: Deadline(after: .seconds(60)))
        try second.execute("INSERT INTO t VALUES (1)")
        try second.commit(deadline: Deadline(after: .seconds(60)))
        #expect(try first.value("SELECT count(*) FROM t") == .integer(1))
    }

    @Test("A commit that readers prevent leaves its transaction open")
    func commitBusy() throws {
        try scratch.makeStore("CREATE TABLE t(a)")
        let reader = try StoreConnection(scratch.location("store.sqlite"), access: .liveReading)
        let writer = try scratch.open()
        try reader.beginReading()
        try writer.beginWriting(deadline: Deadline(after: .seconds(60)))
        try writer.execute("INSERT INTO t VALUES (1)")
        #expect {
            try writer.commit(deadline: Deadline(after: .milliseconds(20)))
        } throws: { ($0 as? StoreError)?.code == .busy }
        reader.rollback()
        try writer.commit(deadline: Deadline(after: .seconds(60)))
        #expect(try reader.value("SELECT count(*) FROM t") == .integer(1))
    }

    @Test("A commit that fails is reported, even if the statement is reset before its end")
    func leftEarly() throws {
        let sql = "CREATE TABLE p(a PRIMARY KEY); CREATE TABLE c(a REFERENCES p DEFERRABLE INITIALLY DEFERRED)"
        let location = try scratch.makeStore(sql, as: "a.sqlite")
        let connection = try StoreConnection(location, access: .privateCopy)
        try connection.execute("PRAGMA foreign_keys = ON")
        // Its row comes first; the commit happens only when the statement is reset.
        #expect(throws: StoreError.self) { try connection.value("INSERT INTO c VALUES (7) RETURNING a") }
        #expect(try connection.value("SELECT count(*) FROM c") == .integer(0))
        try connection.close()
    }

    @Test("Waiting for a lock ends when the caller cancels")
    func cancelledWait() throws {
        try scratch.makeStore("CREATE TABLE t(a)")
        let first = try scratch.open()
        let second = try scratch.open()
        try first.beginWriting(deadline: Deadline(after: .seconds(60)))
        let calls = Mutex(0)
        let monitor = WorkMonitor(
            isCancelled: {
                calls.withLock { calls in
                    calls += 1
                    return calls > 3
                }
            }
        )
        #expect(throws: (any Error).self) {
            try second.beginWriting(deadline: Deadline(after: .seconds(600)), monitor: monitor)
        }
        #expect(calls.withLock { $0 } > 3)
        first.rollback()
        try second.beginWriting(deadline: Deadline(after: .seconds(60)))
    }

    @Test("Every access that reads is defensive, trusts no schema and loads no extension", arguments: SettingCase.all)
    func settings(_ row: SettingCase) throws {
        let location = try scratch.makeStore("CREATE TABLE t(a)")
        let connection = try StoreConnection(location, access: row.access)
        var values: [Int32] = []
        connection.withHandle { handle in
            for option in SettingCase.options { values.append(csqlite_configure(handle, option, -1)) }
        }
        #expect(values == row.values)
        #expect(connection.withHandle { sqlite3_limit($0, SQLITE_LIMIT_ATTACHED, -1) } == row.attachable)
        #expect(connection.withHandle { sqlite3_limit($0, SQLITE_LIMIT_WORKER_THREADS, -1) } == 0)
        #expect(connection.withHandle { sqlite3_limit($0, SQLITE_LIMIT_TRIGGER_DEPTH, -1) } == 100)
        #expect(try connection.value("PRAGMA mmap_size") ?? .integer(0) == .integer(0))
    }

    @Test("A file that is no database is rejected at opening")
    func noDatabase() throws {
        try scratch.write("text.sqlite", Array(String(repeating: "words ", count: 200).utf8))
        #expect {
            try StoreConnection(scratch.location("text.sqlite"), access: .liveReading)
        } throws: { ($0 as? StoreError)?.code == .notADatabase }
    }

    @Test("A cursor keeps its connection open until the cursor is released")
    func cursorOutlivesConnection() throws {
        let location = try scratch.makeStore("CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)")
        var connection: StoreConnection? = try StoreConnection(location, access: .immutable)
        let cursor = try #require(try connection?.cursor("SELECT a FROM t"))
        #expect(throws: StoreError.self) { try connection?.close() }
        connection = nil
        #expect(try cursor.next())
        #expect(try cursor.next())
        #expect(try !cursor.next())
    }

    @Test("Bytes are read and written through SQLite's own file handles")
    func files() throws {
        try scratch.makeStore("PRAGMA journal_mode=WAL; CREATE TABLE t(a)")
        let connection = try scratch.open()
        try connection.execute("INSERT INTO t VALUES (1)")
        for (file, name) in [(StoreConnection.File.main, "store.sqlite"), (.journal, "store.sqlite-wal")] {
            let size = try connection.size(of: file)
            var bytes = [UInt8](repeating: 1, count: Int(size))
            #expect(connection.isOpen(file))
            #expect(try bytes.withUnsafeMutableBytes { try connection.read(file, into: $0, at: 0) })
            #expect(try bytes == scratch.bytes(name))
            #expect(try !bytes.withUnsafeMutableBytes { try connection.read(file, into: $0, at: size - 1) })
            #expect(bytes.dropFirst().allSatisfy { $0 == 0 })
        }
    }

    @Test("A connection detects that its store was moved or replaced")
    func moved() throws {
        try scratch.makeStore("CREATE TABLE t(a)")
        let connection = try scratch.open()
        #expect(!connection.hasMoved)
        try scratch.directory.move("store.sqlite", to: "aside", in: scratch.directory)
        #expect(connection.hasMoved)
        try scratch.write("store.sqlite", [1])
        #expect(connection.hasMoved)
    }
}

struct SettingCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var access: StoreConnection.Access
    var values: [Int32]
    var attachable: Int32

    static let options = [
        SQLITE_DBCONFIG_DEFENSIVE, SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
        SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
        SQLITE_DBCONFIG_DQS_DML, SQLITE_DBCONFIG_DQS_DDL, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
        SQLITE_DBCONFIG_ENABLE_FKEY,
    ]

    static let all = [
        Self(
            testDescription: "immutable",
            access: .immutable,
            values: [1, 0, 0, 0, 0, 0, 0, 0, 1, 0],
            attachable: 0
        ),
        Self(
            testDescription: "live reading",
            access: .liveReading,
            values: [1, 0, 0, 0, 0, 0, 0, 0, 1, 0],
            attachable: 0
        ),
        Self(
            testDescription: "private copy",
            access: .privateCopy,
            values: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            attachable: 0
        ),
        Self(
            testDescription: "live writing",
            access: .liveWriting,
            values: [0, 0, 0, 0, 1, 1, 1, 1, 1, 0],
            attachable: 10
        ),
    ]
}

struct NameCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var name: String

    static let all = [
        Self(testDescription: "a space", name: "My Store.moody"),
        Self(testDescription: "no extension", name: "store"),
        Self(testDescription: "quotes", name: "a'b\"c.sqlite"),
        Self(testDescription: "a line feed", name: "a\nb.sqlite"),
        Self(testDescription: "a question mark", name: "a?mode=memory&cache=shared.sqlite"),
        Self(testDescription: "a number sign", name: "a#b.sqlite"),
        Self(testDescription: "percent signs", name: "a%41%00b.sqlite"),
        Self(testDescription: "a name like a URI", name: "file:x?vfs=none"),
        Self(testDescription: "a name like a memory database", name: ":memory:"),
        Self(testDescription: "other scripts", name: "Żółć-店.sqlite"),
        Self(testDescription: "a byte above 127 in two forms", name: "e\u{301}é.sqlite"),
        Self(testDescription: "a backslash", name: "a\\b.sqlite"),
    ]
}

struct ValueCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var value: SQLValue
    var storageClass: String

    static let all = [
        Self(testDescription: "null", value: .null, storageClass: "null"),
        Self(testDescription: "the smallest integer", value: .integer(.min), storageClass: "integer"),
        Self(testDescription: "the greatest integer", value: .integer(.max), storageClass: "integer"),
        Self(testDescription: "a real", value: .real(-0.1), storageClass: "real"),
        Self(testDescription: "an empty text", value: .text(""), storageClass: "text"),
        Self(testDescription: "a text", value: .text("añb店"), storageClass: "text"),
        Self(testDescription: "an empty blob", value: .blob([]), storageClass: "blob"),
        Self(testDescription: "a blob", value: .blob([0, 255, 0]), storageClass: "blob"),
    ]
}
