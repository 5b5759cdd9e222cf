import SafeFiles
import StoreAccess
import TestSupport
import Testing

@Suite("StoreDigest")
struct StoreDigestTests {
    private static let base = """
        CREATE TABLE plain(id INTEGER PRIMARY KEY, a, b TEXT);
        CREATE TABLE keyed(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
        CREATE TABLE counted(id INTEGER PRIMARY KEY AUTOINCREMENT, a);
        CREATE TABLE hidden(a, b AS (a || 'x'), c AS (a || 'y') STORED);
        CREATE TABLE taken(rowid, oid, _rowid_);
        CREATE INDEX byA ON plain(a);
        CREATE TRIGGER follow AFTER INSERT ON plain BEGIN DELETE FROM keyed WHERE k = new.b; END;
        CREATE VIEW both AS SELECT a FROM plain;
        INSERT INTO plain VALUES (1, 1, 'one'), (2, NULL, ''), (5, 2.5, 'two'), (9, x'00ff', NULL);
        INSERT INTO keyed VALUES ('a', 1), ('b', 'x');
        INSERT INTO counted(a) VALUES (1), (2);
        INSERT INTO hidden(a) VALUES ('h');
        INSERT INTO taken VALUES (1, 2, 3), (4, 5, 6);
        """

    private func digest(_ scratch: ScratchFolder, _ name: String = "store.sqlite") throws -> StoreDigest {
        let connection = try StoreConnection(scratch.location(name), access: .immutable)
        return try StoreDigest(of: connection, externalData: nil)
    }

    @Test("Every change of one value, type or definition changes the digest", arguments: ChangeCase.all)
    func changes(_ row: ChangeCase) throws {
        let scratch = try ScratchFolder()
        try scratch.makeStore(Self.base, as: "first")
        try scratch.makeStore(Self.base + ";" + row.sql, as: "second")
        let (first, second) = (try digest(scratch, "first"), try digest(scratch, "second"))
        #expect(first.value != second.value)
        let changed = zip(first.tables, second.tables).filter { $0 != $1 }.map(\.0.name)
        #expect(changed == row.tables)
        #expect((first.schema != second.schema) == row.changesSchema)
    }

    @Test("A change outside the content keeps the digest", arguments: SameCase.all)
    func same(_ row: SameCase) throws {
        let scratch = try ScratchFolder()
        try scratch.makeStore(Self.base, as: "first")
        try scratch.makeStore(row.before + Self.base + ";" + row.sql, as: "second")
        #expect(try digest(scratch, "first") == digest(scratch, "second"))
    }

    @Test("A digest has an entry for every table with pages, with its number of rows")
    func tables() throws {
        let scratch = try ScratchFolder()
        try scratch.makeStore(Self.base)
        let digest = try digest(scratch)
        #expect(digest.tables.map(\.name) == ["counted", "hidden", "keyed", "plain", "sqlite_sequence", "taken"])
        #expect(digest.tables.map(\.rows) == [2, 1, 2, 4, 1, 2])
        #expect(Set(digest.tables.map(\.digest)).count == 6)
        #expect(digest.externalFiles == nil)
    }

    @Test("A virtual table is digested through its shadow tables")
    func virtualTables() throws {
        let scratch = try ScratchFolder()
        let sql = "CREATE VIRTUAL TABLE f USING fts5(body); INSERT INTO f VALUES ('some words');"
        try scratch.makeStore(sql, as: "first")
        try scratch.makeStore(sql + "UPDATE f SET body = 'other words'", as: "second")
        let (first, second) = (try digest(scratch, "first"), try digest(scratch, "second"))
        #expect(!first.tables.contains { $0.name == "f" })
        #expect(first.tables.contains { $0.name == "f_content" })
        #expect(first.value != second.value)
    }

    @Test("Values as long as the buffer and longer are hashed", arguments: [65_535, 65_536, 65_537, 1_000_000])
    func largeValues(_ size: Int) throws {
        let scratch = try ScratchFolder()
        for (name, last) in [("first", "00"), ("second", "01"), ("third", "00")] {
            let values = "(zeroblob(\(size)), x'\(last)'), (1, 2)"
            try scratch.makeStore("CREATE TABLE t(a, b); INSERT INTO t VALUES \(values)", as: name)
        }
        #expect(try digest(scratch, "first") == digest(scratch, "third"))
        #expect(try digest(scratch, "first") != digest(scratch, "second"))
    }

    @Test("Names, sizes and bytes of external files change the digest")
    func externalFiles() throws {
        let scratch = try ScratchFolder()
        func digest(_ files: [String: [UInt8]]) throws -> String? {
            let folder = try ScratchFolder()
            for (name, bytes) in files { try folder.write(name, bytes) }
            return try StoreDigest.digest(ofFilesIn: folder.directory)
        }
        let some = try digest(["a": [1, 2], "b": []])
        #expect(try digest([:]) == nil)
        #expect(try digest(["a": [1, 2], "b": []]) == some)
        #expect(try digest(["a": [1, 3], "b": []]) != some)
        #expect(try digest(["a": [1, 2, 0], "b": []]) != some)
        #expect(try digest(["c": [1, 2], "b": []]) != some)
        #expect(try digest(["a": [1, 2]]) != some)
        #expect(try scratch.directory.entries() == [])
    }

    @Test(
        "Large values read in pieces give the same digest",
        arguments: [
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)", "CREATE TABLE t(a, b, rowid)",
            "CREATE TABLE t(a PRIMARY KEY, b) WITHOUT ROWID", "CREATE TABLE t(a, b, c AS (a || 'x') STORED)",
        ],
        ["UTF-8", "UTF-16le"]
    )
    func largeValues(_ table: String, _ encoding: String) throws {
        let scratch = try ScratchFolder()
        let location = try scratch.makeStore(
            """
            PRAGMA encoding='\(encoding)'; \(table);
            INSERT INTO t(a, b) VALUES (1, NULL), ('text', 2.5), (zeroblob(70000), x''), ('', 'ü' || hex(zeroblob(90000))),
            (-7, randomblob(200000)), ('last', 1)
            """
        )
        let connection = try StoreConnection(location, access: .immutable)
        let schema = try StoreSchema(reading: connection)
        let table = try #require(schema.table(named: "t"))
        let whole = try StoreDigest.digest(of: table, in: connection)
        #expect(try StoreDigest.digest(of: table, in: connection, greatestRow: 1000) == whole)
        #expect(whole.rows == 6)
        // The limit applied to that table only.
        #expect(try connection.value("SELECT length(zeroblob(5000))")?.integer == 5000)
    }

    @Test("Cancellation stops a long digest")
    func cancellation() throws {
        let scratch = try ScratchFolder()
        let location = try scratch.makeStore(
            """
            CREATE TABLE t(a);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000) INSERT INTO t SELECT i FROM n
            """
        )
        let connection = try StoreConnection(location, access: .immutable)
        #expect {
            try StoreDigest(of: connection, externalData: nil, monitor: WorkMonitor(isCancelled: { true }))
        } throws: { ($0 as? StoreError)?.code == .cancelled }
    }
}

/// A change that must change a digest, and the affected tables.
struct ChangeCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var sql: String
    var tables: [String] = []
    var changesSchema = false

    static let all = [
        Self(testDescription: "an integer", sql: "UPDATE plain SET a = 3 WHERE id = 1", tables: ["plain"]),
        Self(
            testDescription: "integer to real of equal value",
            sql: "UPDATE plain SET a = 1.0 WHERE id = 1",
            tables: ["plain"]
        ),
        Self(testDescription: "integer to text", sql: "UPDATE plain SET a = '1' WHERE id = 1", tables: ["plain"]),
        Self(testDescription: "null to empty text", sql: "UPDATE plain SET a = '' WHERE id = 2", tables: ["plain"]),
        Self(testDescription: "null to empty blob", sql: "UPDATE plain SET a = x'' WHERE id = 2", tables: ["plain"]),
        Self(testDescription: "null to zero", sql: "UPDATE plain SET a = 0 WHERE id = 2", tables: ["plain"]),
        Self(testDescription: "empty text to null", sql: "UPDATE plain SET b = NULL WHERE id = 2", tables: ["plain"]),
        Self(
            testDescription: "text to blob of the same bytes",
            sql: "UPDATE plain SET b = CAST(b AS BLOB) WHERE id = 1",
            tables: ["plain"]
        ),
        Self(
            testDescription: "the last bit of a real",
            sql: "UPDATE plain SET a = 2.5000000000000004 WHERE id = 5",
            tables: ["plain"]
        ),
        Self(
            testDescription: "one byte of a blob",
            sql: "UPDATE plain SET a = x'00fe' WHERE id = 9",
            tables: ["plain"]
        ),
        Self(
            testDescription: "an invalid byte of a text",
            sql: "UPDATE plain SET b = CAST(x'ff' AS TEXT) WHERE id = 1",
            tables: ["plain"]
        ),
        Self(testDescription: "a row's key", sql: "UPDATE plain SET id = 10 WHERE id = 9", tables: ["plain"]),
        Self(testDescription: "a row less", sql: "DELETE FROM plain WHERE id = 9", tables: ["plain"]),
        Self(
            testDescription: "two values swapped",
            sql: "UPDATE plain SET a = b, b = a WHERE id = 1",
            tables: ["plain"]
        ),
        Self(testDescription: "a value without rowid", sql: "UPDATE keyed SET v = 2 WHERE k = 'a'", tables: ["keyed"]),
        Self(testDescription: "a key without rowid", sql: "UPDATE keyed SET k = 'c' WHERE k = 'a'", tables: ["keyed"]),
        Self(
            testDescription: "the next key to be assigned",
            sql: "UPDATE sqlite_sequence SET seq = 9",
            tables: ["sqlite_sequence"]
        ),
        Self(testDescription: "a stored generated column", sql: "UPDATE hidden SET a = 'i'", tables: ["hidden"]),
        Self(
            testDescription: "a table whose columns use the rowid's names",
            sql: "UPDATE taken SET oid = 7 WHERE oid = 5",
            tables: ["taken"]
        ),
        Self(testDescription: "an index less", sql: "DROP INDEX byA", changesSchema: true),
        Self(testDescription: "a trigger less", sql: "DROP TRIGGER follow", changesSchema: true),
        Self(testDescription: "a view less", sql: "DROP VIEW both", changesSchema: true),
        Self(testDescription: "the user version", sql: "PRAGMA user_version = 4", changesSchema: true),
        Self(testDescription: "the application ID", sql: "PRAGMA application_id = 4", changesSchema: true),
        Self(
            testDescription: "a trigger that only looks like a fence",
            sql: "CREATE TRIGGER fence BEFORE INSERT ON plain BEGIN SELECT 1; END",
            changesSchema: true
        ),
    ]
}

/// A difference that is not content.
struct SameCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var before = ""
    var sql = ""

    static let all = [
        Self(testDescription: "nothing at all"),
        Self(testDescription: "the write-ahead log", sql: "PRAGMA journal_mode=WAL"),
        Self(testDescription: "another page size", before: "PRAGMA page_size=1024;"),
        Self(testDescription: "automatic vacuum", before: "PRAGMA auto_vacuum=INCREMENTAL;"),
        Self(
            testDescription: "free pages",
            sql: "CREATE TABLE x(a); INSERT INTO x VALUES (zeroblob(20000)); DROP TABLE x"
        ),
        Self(testDescription: "statistics", sql: "ANALYZE"),
        Self(
            testDescription: "a row inserted and rolled back",
            sql: "INSERT INTO plain VALUES (99, 1, 1); DELETE FROM plain WHERE id = 99"
        ),
        Self(
            testDescription: "a fence",
            sql: """
                CREATE TRIGGER _store_migrate_fence_0123456789abcdef0123456789abcdef_1_insert BEFORE INSERT ON plain
                BEGIN SELECT RAISE(ABORT, 'store moved to /x (store-migrate 0123456789abcdef0123456789abcdef)'); END
                """
        ),
    ]
}
