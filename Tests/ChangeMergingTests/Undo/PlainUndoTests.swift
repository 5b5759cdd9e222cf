import ChangeMerging
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@Suite("Rolling back a merge of plain SQLite stores")
struct PlainUndoTests {
    private static let schema = """
        PRAGMA trusted_schema = ON;
        CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT UNIQUE, face BLOB);
        CREATE TABLE tag (name TEXT PRIMARY KEY, hue INTEGER) WITHOUT ROWID;
        CREATE TABLE line (text TEXT, n REAL);
        CREATE TABLE sized (name TEXT UNIQUE, id INTEGER PRIMARY KEY, size INTEGER AS (length(name)) STORED, v AS (id));
        CREATE VIRTUAL TABLE kept USING fts5(body);
        CREATE VIRTUAL TABLE found USING fts5(name, content='person', content_rowid='id');
        INSERT INTO person VALUES (1, 'ann', x'00ff'), (2, 'bob', NULL), (3, 'cid', x'');
        INSERT INTO tag VALUES ('red', 1), ('blue', NULL);
        INSERT INTO line VALUES ('a', 1.5), ('a', 1.5), ('b', NULL);
        INSERT INTO kept VALUES ('alpha'), ('beta'); INSERT INTO sized (name, id) VALUES ('a', 1), ('bb', 2), ('c', 3);
        INSERT INTO found (found) VALUES ('rebuild');
        """

    private static func merged() throws -> (triple: PlainTriple, before: StoreDigest, file: DurableFile) {
        let triple = try PlainTriple(schema)
        try triple.execute(
            """
            UPDATE person SET name = 'tmp' WHERE id = 1; UPDATE person SET name = 'ann' WHERE id = 2;
            UPDATE person SET name = 'bob', face = x'01' WHERE id = 1; DELETE FROM person WHERE id = 3;
            INSERT INTO person VALUES (4, 'dan', NULL); DELETE FROM tag WHERE name = 'red'; INSERT INTO tag VALUES ('x', 1);
            DELETE FROM line WHERE rowid = 1; INSERT INTO line VALUES ('c', 2), ('c', 2);
            INSERT INTO kept (rowid, body) VALUES (9, 'gamma'); DELETE FROM kept WHERE rowid = 1;
            UPDATE kept SET body = 'betamax' WHERE rowid = 2; DELETE FROM sized WHERE id = 3;
            UPDATE sized SET name = 'x' WHERE id = 1; UPDATE sized SET name = 'a' WHERE id = 2;
            UPDATE sized SET name = 'bb' WHERE id = 1; INSERT INTO sized (name, id) VALUES ('c', 9);
            """,
            in: "old"
        )
        try triple.execute(
            "INSERT INTO person VALUES (4, 'eve', NULL); UPDATE tag SET hue = 7 WHERE name = 'blue'",
            in: "shared"
        )
        let before = try triple.digest()
        let file = try triple.folder.directory.createFile("record", mode: 0o600)
        try triple.merge { try ChangesetRecording($0, to: file) }
        #expect(try triple.digest() != before)
        return (triple, before, try triple.folder.directory.openFile("record", for: .reading))
    }

    private static func content(_ triple: PlainTriple) throws -> [[String]] {
        try [
            "SELECT * FROM person", "SELECT * FROM tag", "SELECT * FROM line ORDER BY 1, 2",
            "SELECT rowid, * FROM kept", "SELECT * FROM sized",
        ]
        .map { try triple.rows($0) }
    }

    @Test(
        "A rollback restores rows of tables with and without keys and of search indexes; the merge can run again"
    )
    func undo() throws {
        let (triple, _, file) = try Self.merged()
        let connection = try triple.connection("shared")
        let merged = try Self.content(triple)
        let result = try MergeUndo(reading: file)
            .undo(in: MergePlace(connection), deadline: Deadline(after: .seconds(60)))
        #expect(result.inserted + result.updated + result.deleted > 8)
        let content = try Self.content(triple)
        #expect(content[0] == ["1 ann [0, 255]", "2 bob -", "3 cid []", "4 eve -"])
        #expect(content[1] == ["blue 7", "red 1"])
        #expect(content[2] == ["a 1.5", "a 1.5", "b -"])
        #expect(content[3] == ["1 alpha", "2 beta"])
        #expect(content[4] == ["a 1 1 1", "bb 2 2 2", "c 3 1 3"])
        #expect(try triple.rows("SELECT rowid FROM found WHERE found MATCH 'dan'").isEmpty)
        for index in ["kept", "found"] {
            try triple.execute("INSERT INTO \(index) (\(index)) VALUES ('integrity-check')", in: "shared")
        }
        #expect(try StoreMerger.epoch(of: connection) == nil)
        #expect(try triple.merge().result.outcome == .merged)
        #expect(try Self.content(triple) == merged)
    }

    @Test(
        "A row written after the merge fails the rollback, and nothing changes",
        arguments: [
            "UPDATE person SET name = 'zoe' WHERE id = 5", "DELETE FROM person WHERE id = 1",
            "INSERT INTO person VALUES (3, 'new', NULL)", "DELETE FROM line WHERE text = 'c'",
            "UPDATE kept SET body = 'z' WHERE rowid = 9", "UPDATE sized SET name = 'z' WHERE id = 1",
            "UPDATE person SET face = NULL WHERE id = 1", "INSERT INTO sized (name, id) VALUES ('new', 3)",
            "INSERT INTO person VALUES (9, 'cid', NULL)",
        ]
    )
    func laterWrites(_ sql: String) throws {
        let (triple, _, file) = try Self.merged()
        try triple.execute(sql, in: "shared")
        let before = try triple.digest()
        let error = #expect(throws: StoreError.self) {
            try MergeUndo(reading: file)
                .undo(in: MergePlace(triple.connection("shared")), deadline: Deadline(after: .seconds(60)))
        }
        #expect(error?.code == .changedMeanwhile)
        #expect(try triple.digest() == before)
    }

    @Test("A rollback counts the rows that it inserts, updates and deletes")
    func counts() throws {
        let triple = try PlainTriple(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)"
        )
        try triple.execute(
            "UPDATE t SET v = 9 WHERE id < 3; DELETE FROM t WHERE id = 3; INSERT INTO t VALUES (4, 4), (5, 5), (6, 6)",
            in: "old"
        )
        let file = try triple.folder.directory.createFile("record", mode: 0o600)
        try triple.merge { try ChangesetRecording($0, to: file) }

        let result = try MergeUndo(reading: triple.folder.directory.openFile("record", for: .reading))
            .undo(in: MergePlace(triple.connection("shared")), deadline: Deadline(after: .seconds(60)))

        #expect((result.inserted, result.updated, result.deleted) == (1, 2, 3))
        #expect(try triple.rows("SELECT * FROM t") == ["1 1", "2 2", "3 3"])
    }

    @Test("A truncated or altered record is rejected", arguments: [0, 3, 40, 100, -1, -9])
    func tornRecords(_ place: Int) throws {
        let (triple, _, _) = try Self.merged()
        var bytes = try triple.folder.bytes("record")
        if place < 0 { bytes.removeLast(-place) } else { bytes[place] ^= 0x55 }
        try triple.folder.write("torn", bytes)
        let file = try triple.folder.directory.openFile("torn", for: .reading)
        let error = #expect(throws: StoreError.self) { _ = try MergeUndo(reading: file) }
        #expect(error?.code == .damaged)
    }
}
