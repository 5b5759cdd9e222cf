import SafeFiles
import StoreAccess
import StoreFormat
import SystemPackage
import TestSupport
import Testing

@Suite("StoreInspector")
struct StoreInspectorTests {
    let scratch: ScratchFolder
    private let store: StoreLocation

    init() throws {
        scratch = try ScratchFolder()
        store = scratch.location("store.sqlite")
    }

    private func inspect(_ depth: StoreInspector.Depth = .counts) throws -> StoreCondition {
        try StoreInspector(depth: depth).inspect(store)
    }

    private func inspection(_ depth: StoreInspector.Depth = .counts) throws -> StoreInspection {
        try #require(try inspect(depth).inspection)
    }

    @Test("An empty file with the unfinished transaction of a dead writer is an empty file")
    func emptyBeforeTransaction() throws {
        try scratch.writeHalfFilledStore("store.sqlite")
        let before = try scratch.everything()
        #expect("\(try inspect())" == "emptyFile")
        let error = #expect(throws: StoreError.self) { try StoreReader().withView(of: store) { _ in } }
        #expect(error?.code.rawValue == "emptyFile")
        #expect(try scratch.everything() == before)
    }

    @Test("A store is locked during its first transaction, and readable after the commit")
    func firstTransaction() throws {
        try scratch.directory.createFile("store.sqlite", mode: 0o644).close()
        let writer = try StoreWriterProcess(store.path)
        #expect(try writer.execute("BEGIN IMMEDIATE") == "ok")
        #expect(try writer.execute("CREATE TABLE t (x)") == "ok")
        #expect(try scratch.directory.status(of: store.journalName).map { $0.size > 0 } == true)

        let condition = try StoreInspector(lockTimeout: .zero).inspect(store)

        guard case .unreadable(let unreadable) = condition else {
            Issue.record("the store was \(condition)")
            return
        }
        #expect(unreadable.reason == .locked)
        #expect(try writer.execute("COMMIT") == "ok")
        #expect(try inspection().tables.map(\.name) == ["t"])
        #expect(writer.waitForExit() == 0)
    }

    @Test("A missing file, an empty file and an orphaned sidecar give different results", arguments: EmptyCase.all)
    func withoutStore(_ row: EmptyCase) throws {
        for (name, size) in row.files { try scratch.write(name, [UInt8](repeating: 1, count: size)) }
        let before = try scratch.everything()
        #expect("\(try inspect())" == row.expected)
        #expect(try scratch.everything() == before)
    }

    @Test("A store in a missing folder is absent")
    func absentFolder() throws {
        let location = StoreLocation(folder: scratch.path + "/none", name: "store.sqlite")
        #expect("\(try StoreInspector().inspect(location))" == "absent")
    }

    @Test("An unreadable store is a result with a reason, not an error", arguments: RefusalCase.all)
    func unreadable(_ row: RefusalCase) throws {
        try row.make(scratch)
        guard case .unreadable(let unreadable) = try inspect() else {
            Issue.record("it was not found unreadable")
            return
        }
        #expect(unreadable.reason == row.reason)
    }

    @Test("A plain SQLite store is inspected by its tables and row counts")
    func plain() throws {
        try scratch.makeStore(
            """
            CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO t VALUES (1), (2), (3);
            CREATE TABLE k(a PRIMARY KEY) WITHOUT ROWID; INSERT INTO k VALUES (1);
            CREATE TABLE "a ""b"" c"(a);
            CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f VALUES ('x'), ('y');
            CREATE VIRTUAL TABLE g USING fts4(a); INSERT INTO g VALUES ('x');
            CREATE VIRTUAL TABLE r USING rtree(id, a, b); INSERT INTO r VALUES (1, 2, 3);
            PRAGMA user_version=7; PRAGMA application_id=8;
            """
        )
        let found = try inspection()
        #expect(found.kind == .sqlite)
        let rows = ["t": 3, "k": 1, "a \"b\" c": 0, "f": 2, "g": 1, "r": 1] as [String: Int64]
        #expect(Dictionary(uniqueKeysWithValues: found.tables.map { ($0.name, $0.rows) }) == rows)
        #expect(found.objectCount == 8)
        #expect(!found.isBlank)
        #expect(found.header.userVersion == 7)
        #expect(found.header.applicationID == 8)
        #expect(found.metadata == nil && found.model == nil && found.history == nil && found.digest == nil)
        #expect(found.files == [StoreFile(role: .main, name: "store.sqlite", bytes: try size())])
        #expect(found.findings == [])
    }

    private func size() throws -> Int64 { try #require(try scratch.directory.status(of: "store.sqlite")).size }

    @Test(
        "A full-text index without content counts as content unless it is empty",
        arguments: [
            "fts5(a, content='')", "fts5(a, content='', columnsize=0)", "fts5(a, content='t')",
            "fts5(a, content='t', columnsize=0)", "fts4(a, content='')", "fts4(a, content='', matchinfo=fts3)",
        ]
    )
    func contentless(_ module: String) throws {
        try scratch.makeStore("CREATE TABLE t (a); CREATE VIRTUAL TABLE f USING \(module)")
        #expect(try inspection().isEmpty)
        let writer = try scratch.open()
        try writer.execute("INSERT INTO f (rowid, a) VALUES (1, 'word')")
        try writer.close()
        #expect(try !inspection().isEmpty)
    }

    @Test("A database without tables is blank; one with only a virtual table is not")
    func blank() throws {
        try scratch.makeStore("PRAGMA user_version=1")
        #expect(try inspection().isBlank)
        try scratch.makeStore("CREATE VIRTUAL TABLE f USING fts5(a)", as: "virtual")
        let condition = try StoreInspector().inspect(scratch.location("virtual"))
        #expect(condition.inspection?.isBlank == false)
    }

    @Test("The depth of an inspection decides whether it counts and digests")
    func depth() throws {
        try scratch.makeStore("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        #expect(try inspection(.layout).tables == [.init(name: "t", rows: 0)])
        #expect(try inspection(.counts).tables == [.init(name: "t", rows: 1)])
        #expect(try inspection(.counts).digest == nil)
        let digest = try StoreDigest(of: StoreConnection(store, access: .immutable), externalData: nil)
        #expect(try inspection(.digest).digest == digest)
    }

    @Test("External files, sidecars and other files beside a store are listed")
    func files() throws {
        try scratch.makeStore("PRAGMA journal_mode=WAL; CREATE TABLE t(a)")
        try scratch.makeStore("CREATE TABLE t(a)", as: "other.sqlite")
        try scratch.write("store.sqlite-shm", [1, 2, 3])
        try scratch.write("other.sqlite-wal", [])
        try scratch.write("manifest.json", [1, 2])
        try scratch.write(".hidden", [1])
        let blobs = try scratch.directory.createDirectory("blobs", mode: 0o755)
        try blobs.createFile("one", mode: 0o644).close()
        let support = try scratch.directory.createDirectory(".store_SUPPORT", mode: 0o755)
        let external = try support.createDirectory("_EXTERNAL_DATA", mode: 0o755)
        let file = try external.createFile("8C1A", mode: 0o644)
        try [UInt8](repeating: 7, count: 10).withUnsafeBytes { try file.write($0, at: 0) }
        try file.close()
        try FilePath(external.path + "/link").makeSymbolicLink(to: "8C1A")

        let found = try inspection(.digest)
        #expect(
            found.files == [
                StoreFile(role: .main, name: "store.sqlite", bytes: try size()),
                StoreFile(role: .sharedMemory, name: "store.sqlite-shm", bytes: 3),
                StoreFile(role: .externalData, name: ".store_SUPPORT/_EXTERNAL_DATA/8C1A", bytes: 10),
                StoreFile(role: .beside, name: "blobs", bytes: 0),
                StoreFile(role: .beside, name: "manifest.json", bytes: 2),
            ]
        )
        #expect(
            found.findings.map(\.code) == [
                .sharedMemoryWithoutLog, .walHeaderWithoutLog, .externalDataIsNoFile, .besideNotCarried,
            ]
        )
        #expect(found.findings.map(\.severity) == [.info, .info, .warning, .info])
        #expect(found.digest?.externalFiles != nil)
        #expect(found.byteCount == (try size()) + 10)
    }

    @Test("A symbolic link in place of the external-files folder makes the store unreadable")
    func linkedExternalFiles() throws {
        try scratch.makeStore("CREATE TABLE t(a)")
        let support = try scratch.directory.createDirectory(".store_SUPPORT", mode: 0o755)
        try FilePath(support.path + "/_EXTERNAL_DATA").makeSymbolicLink(to: "/tmp")
        guard case .unreadable(let unreadable) = try inspect() else {
            Issue.record("it was not found unreadable")
            return
        }
        #expect(unreadable.path == support.path + "/_EXTERNAL_DATA")
    }

    @Test("An empty log is a finding, and a log with rows is not")
    func logs() throws {
        let origin = try ScratchFolder()
        try origin.makeStore("PRAGMA journal_mode=WAL; CREATE TABLE t(a)")
        let writer = try origin.open()
        try writer.execute("INSERT INTO t VALUES (1)")
        try origin.copyFiles(to: scratch)
        #expect(try inspection().findings == [])
        #expect(try inspection().objectCount == 1)
        try scratch.directory.openFile("store.sqlite-wal", for: .writing).truncate(to: 0)
        #expect(try inspection().findings.map(\.code) == [.emptyLog])
        #expect(try inspection().objectCount == 0)
    }

    @Test("Stores of a folder are recognised by their first bytes, regardless of their names")
    func stores() throws {
        let names = ["a.sqlite", "b", "c.moody", "ż 店.db", "x-wal"]
        for name in names { try scratch.makeStore("CREATE TABLE t(a)", as: name) }
        try scratch.write("empty.sqlite", [])
        try scratch.write("text.sqlite", Array(repeating: 65, count: 4096))
        try scratch.write("a.sqlite-wal", try scratch.bytes("a.sqlite"))
        _ = try scratch.directory.createDirectory("folder.sqlite", mode: 0o755)
        try FilePath(scratch.path + "/link.sqlite").makeSymbolicLink(to: "a.sqlite")
        #expect(try StoreInspector.stores(in: scratch.path).map(\.name) == names.sorted())
    }
}

struct EmptyCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var files: [String: Int]
    var expected: String

    static let all = [
        Self(testDescription: "nothing", files: [:], expected: "absent"),
        Self(testDescription: "an empty file", files: ["store.sqlite": 0], expected: "emptyFile"),
        Self(
            testDescription: "an empty file with empty sidecars",
            files: ["store.sqlite": 0, "store.sqlite-wal": 0],
            expected: "emptyFile"
        ),
        Self(testDescription: "an empty log", files: ["store.sqlite-wal": 0], expected: "absent"),
        Self(testDescription: "a shared-memory file", files: ["store.sqlite-shm": 9], expected: "absent"),
        Self(
            testDescription: "a log",
            files: ["store.sqlite-wal": 9],
            expected: "orphanSidecar(names: [\"store.sqlite-wal\"])"
        ),
        Self(
            testDescription: "a journal beside an empty file",
            files: ["store.sqlite": 0, "store.sqlite-journal": 9],
            expected: "orphanSidecar(names: [\"store.sqlite-journal\"])"
        ),
        Self(
            testDescription: "both",
            files: ["store.sqlite-wal": 9, "store.sqlite-journal": 9],
            expected: "orphanSidecar(names: [\"store.sqlite-wal\", \"store.sqlite-journal\"])"
        ),
    ]
}
