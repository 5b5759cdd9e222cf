import SafeFiles
import StoreAccess
import StoreFormat
import TestSupport
import Testing

@Suite("Hostile stores")
struct HostileStoreTests {
    let scratch: ScratchFolder
    private let store: StoreLocation

    init() throws {
        scratch = try ScratchFolder()
        store = scratch.location("store.sqlite")
    }

    /// An expression that fails when it is evaluated.
    private static let bomb = "abs(-9223372036854775807 - a)"

    @Test("An inspection evaluates no expression of the schema", arguments: BombCase.all)
    func bombs(_ row: BombCase) throws {
        try scratch.makeStore(row.sql.replacing("BOMB", with: Self.bomb))
        let before = try scratch.everything()
        let found = try #require(try StoreInspector(depth: .digest).inspect(store).inspection)
        #expect(found.objectCount == row.rows)
        #expect(try scratch.everything() == before)
    }

    @Test("The test expressions fail when they are evaluated")
    func bombsWork() throws {
        try scratch.makeStore(
            "CREATE TABLE t(a); INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN b AS (\(Self.bomb))"
        )
        let connection = try scratch.open()
        #expect(throws: StoreError.self) { try connection.value("SELECT b FROM t") }
    }

    @Test(
        "Every reading access disables views and triggers and protects the schema",
        arguments: [
            StoreConnection.Access.immutable, .privateCopy, .discardedCopy, .liveReading,
        ]
    )
    func switchedOff(_ access: StoreConnection.Access) throws {
        try scratch.makeStore(
            """
            CREATE TABLE t(a); CREATE VIEW v AS SELECT 1;
            CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT RAISE(ABORT, 'fired'); END;
            """
        )
        let connection = try StoreConnection(store, access: access)
        #expect(throws: StoreError.self) { try connection.value("SELECT * FROM v") }
        #expect(throws: StoreError.self) { try connection.execute("ATTACH ':memory:' AS other") }
        if access.isPrivate {
            try connection.execute("INSERT INTO t VALUES (1)")
            #expect(throws: StoreError.self) {
                try connection.execute("PRAGMA writable_schema=1; DELETE FROM sqlite_schema")
            }
        }
    }

    @Test("A statement that never ends is stopped with an error")
    func endless() throws {
        try scratch.makeStore("CREATE TABLE t(a)")
        let connection = try StoreConnection(store, access: .immutable)
        let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n"
        #expect {
            try connection.value(sql)
        } throws: { ($0 as? StoreError)?.code == .damaged && "\($0)".contains("steps") }
        #expect(try connection.value("SELECT count(*) FROM t") == .integer(0))
    }

    @Test("A row that claims more bytes than exist is reported as damage at once", arguments: ClaimCase.all)
    func claims(_ row: ClaimCase) throws {
        try scratch.makeStore("CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(100))")
        // The cell: 103 bytes of payload, rowid 1, a header of 3 bytes that claims "blob of 100 bytes".
        let bytes = try scratch.bytes("store.sqlite")
        let cell: [UInt8] = [103, 1, 3, 0x81, 0x54]
        let offset = try #require(bytes.indices.last { bytes[$0...].starts(with: cell) })
        try scratch.overwrite("store.sqlite", at: Int64(offset), row.cell)
        guard case .unreadable(let unreadable) = try StoreInspector(depth: .digest).inspect(store) else {
            Issue.record("it was read")
            return
        }
        #expect(unreadable.reason == .damaged)
    }

    @Test("A definition with more columns than SQLite supports is reported as damage")
    func columns() throws {
        try scratch.makeStore("CREATE TABLE t(a)")
        let list = (0..<65_536).map { "c\($0)" }.joined(separator: ",")
        let writer = try scratch.open()
        try writer.execute("PRAGMA writable_schema=1; UPDATE sqlite_schema SET sql = 'CREATE TABLE t(\(list))'")
        try writer.close()
        guard case .unreadable(let unreadable) = try StoreInspector().inspect(store) else {
            Issue.record("it was read")
            return
        }
        #expect(unreadable.reason == .damaged)
    }

    @Test("A page tree with a cycle is reported as damage")
    func circle() throws {
        try scratch.makeStore(
            """
            PRAGMA page_size=512; CREATE TABLE t(a);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO t SELECT zeroblob(100) FROM n
            """
        )
        // The root of the table is an inner page; its last child is set to the root itself.
        let root =
            try StoreConnection(store, access: .immutable)
            .value("SELECT rootpage FROM sqlite_schema")?
            .integer ?? 0
        let start = (root - 1) * 512
        #expect(try scratch.bytes("store.sqlite")[Int(start)] == 5)
        try scratch.overwrite("store.sqlite", at: start + 8, [0, 0, 0, UInt8(root)])
        guard case .unreadable(let unreadable) = try StoreInspector().inspect(store) else {
            Issue.record("it was read")
            return
        }
        #expect(unreadable.reason == .damaged)
    }

    @Test("A single damaged byte of a header or schema gives a result, never a trap")
    func everyByte() throws {
        try scratch.makeStore("CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); INSERT INTO t VALUES (1, 'x')")
        let whole = try scratch.bytes("store.sqlite")
        var answers: Set<String> = []
        let places = Array(0..<112) + Array(whole.indices.dropFirst(112).prefix(4096 - 112).filter { whole[$0] != 0 })
        for place in places {
            for value in [UInt8(0), 1, 0x7f, 0xff] where whole[place] != value {
                try scratch.overwrite("store.sqlite", at: Int64(place), [value])
                do {
                    answers.insert(String("\(try StoreInspector(depth: .digest).inspect(store))".prefix(5)))
                } catch let error as StoreError where error.code == .incompatible {
                    // The byte is in a name, which is no valid UTF-8 with it.
                    answers.insert("name")
                }
                try scratch.overwrite("store.sqlite", at: Int64(place), [whole[place]])
            }
        }
        #expect(answers == ["store", "unrea", "name"])
    }
}

/// A schema with an expression that must not be evaluated, and the expected counts of an inspection.
struct BombCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var sql: String
    var rows: Int64

    static let all = [
        Self(
            testDescription: "a view",
            sql: "CREATE TABLE t(a); CREATE VIEW v AS SELECT BOMB FROM t; INSERT INTO t VALUES (1);",
            rows: 1
        ),
        Self(
            testDescription: "an endless view",
            sql: "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n;",
            rows: 0
        ),
        Self(
            testDescription: "triggers",
            sql: """
                CREATE TABLE t(a); INSERT INTO t VALUES (1);
                CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT BOMB FROM t; END;
                CREATE TRIGGER s BEFORE DELETE ON t BEGIN SELECT BOMB FROM t; END;
                """,
            rows: 1
        ),
        Self(
            testDescription: "a generated column",
            sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN b AS (BOMB);",
            rows: 1
        ),
        Self(
            testDescription: "a check",
            sql: "CREATE TABLE t(a CHECK (a IS NULL OR a > BOMB)); INSERT INTO t VALUES (NULL);",
            rows: 1
        ),
        Self(
            testDescription: "a default",
            sql: "CREATE TABLE t(a, b DEFAULT (abs(-9223372036854775807 - 1))); INSERT INTO t VALUES (1, 2);",
            rows: 1
        ),
        Self(
            testDescription: "an expression index",
            sql: "CREATE TABLE t(a); CREATE INDEX i ON t(BOMB + a) WHERE a > 1; INSERT INTO t VALUES (1);",
            rows: 1
        ),
        Self(
            testDescription: "a view by the name of Core Data's metadata",
            sql:
                "CREATE TABLE t(a); CREATE VIEW Z_METADATA AS SELECT BOMB AS Z_VERSION, 1 AS Z_UUID, 2 AS Z_PLIST FROM t;",
            rows: 0
        ),
    ]
}

/// Bytes that overwrite the cell of a row.
struct ClaimCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var cell: [UInt8]

    static let all = [
        Self(testDescription: "a value of 2 GiB in a small row", cell: [103, 1, 6, 0x90, 0x80, 0x80, 0x80, 0x0c]),
        Self(
            testDescription: "a row of 2 GiB",
            cell: [0x88, 0x80, 0x80, 0x80, 0x00, 1, 6, 0x90, 0x80, 0x80, 0x80, 0x0c]
        ),
        Self(testDescription: "a header longer than its row", cell: [103, 1, 0xff, 0xff, 0x7f]),
    ]
}
