import ChangeMerging
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@Suite("Merging large values of plain stores")
struct PlainLargeValueTests {
    private static let schema = """
        CREATE TABLE t (id INTEGER PRIMARY KEY, title TEXT, data BLOB);
        INSERT INTO t VALUES (1, 'a', zeroblob(3000000)), (2, 'b', x'01'), (3, 'c', zeroblob(1000000));
        """

    /// The same rows where SQLite cannot open a single value, or where a text has other bytes.
    private static let schemas = [
        schema, "PRAGMA encoding = 'UTF-16le';" + schema, schema.replacing("BLOB)", with: "BLOB) WITHOUT ROWID"),
        schema.replacing("BLOB)", with: "BLOB, twice AS (id + id))"),
        schema.replacing("(id INTEGER PRIMARY KEY", with: "(id TEXT COLLATE NOCASE PRIMARY KEY")
            .replacing("BLOB)", with: "BLOB) WITHOUT ROWID"),
    ]

    private static func record(_ triple: PlainTriple, _ settings: MergeSettings = MergeSettings()) throws -> DurableFile
    {
        let file = try triple.folder.directory.createFile("record", mode: 0o600)
        try triple.merge(settings) { try ChangesetRecording($0, to: file) }
        return try triple.folder.directory.openFile("record", for: .reading)
    }

    private static func undo(_ file: DurableFile, in triple: PlainTriple) throws {
        _ = try MergeUndo(reading: file)
            .undo(in: MergePlace(triple.connection("shared")), deadline: Deadline(after: .seconds(60)))
        try triple.execute("DROP TABLE IF EXISTS \(SQLName.quoted(StoreSchema.mergeEpochTable))", in: "shared")
    }

    private static func parkedFile(_ triple: PlainTriple) throws -> DurableFile {
        let file = try triple.folder.directory.createFile("parked", mode: 0o600)
        var end: Int64 = 0
        for row in triple.parked {
            try row.write { piece in
                try file.write(piece, at: end)
                end += Int64(piece.count)
            }
        }
        return try triple.folder.directory.openFile("parked", for: .reading)
    }

    @Test(
        "A large value that the old store changed, added or deleted arrives, and an undo restores the former one",
        arguments: [
            "UPDATE t SET data = randomblob(2000000) WHERE id = 1",
            "UPDATE t SET data = randomblob(2000000), title = 'x' WHERE id IN (1, 2)",
            "UPDATE t SET data = CAST(hex(zeroblob(400000)) AS TEXT) WHERE id = 3",
            "UPDATE t SET data = CAST(x'ff' || hex(zeroblob(400000)) AS TEXT) WHERE id = 3",
            "UPDATE t SET data = NULL WHERE id = 1", "DELETE FROM t WHERE id = 1; DELETE FROM t WHERE id = 2",
            "INSERT INTO t VALUES (9, 'new', randomblob(900000))", "UPDATE t SET title = 'other' WHERE id = 1",
        ],
        schemas
    )
    func changes(_ sql: String, _ schema: String) throws {
        let triple = try PlainTriple(schema)
        try triple.execute(sql, in: "old")
        let before = try triple.digest().tables.first { $0.name == "t" }
        let after = try triple.digest("old").tables.first { $0.name == "t" }
        let record = try Self.record(triple)
        #expect(try triple.digest().tables.first { $0.name == "t" } == after)
        try Self.undo(record, in: triple)
        #expect(try triple.digest().tables.first { $0.name == "t" } == before)
    }

    @Test("Equal rows without a key that differ in nothing but a large value are merged one by one")
    func bag() throws {
        let triple = try PlainTriple("CREATE TABLE t (v); INSERT INTO t VALUES (zeroblob(300000)), (zeroblob(300000))")
        try triple.execute("UPDATE t SET v = randomblob(300000) WHERE rowid = 1", in: "old")
        try triple.execute("INSERT INTO t VALUES (CAST(hex(zeroblob(150000)) AS TEXT))", in: "shared")
        let record = try Self.record(triple)
        let rows = "SELECT typeof(v), length(v), v = zeroblob(300000) FROM t ORDER BY 1, 3"
        #expect(try triple.rows(rows) == ["blob 300000 0", "blob 300000 1", "text 300000 0"])
        try Self.undo(record, in: triple)
        #expect(try triple.rows(rows) == ["blob 300000 1", "blob 300000 1", "text 300000 0"])
    }

    @Test("A large text of a search index arrives and is rolled back")
    func searchIndex() throws {
        let triple = try PlainTriple("CREATE VIRTUAL TABLE f USING fts5(a, b); INSERT INTO f VALUES ('x', 'y')")
        try triple.execute("UPDATE f SET a = replace(hex(zeroblob(200000)), '00', 'word ')", in: "old")
        let record = try Self.record(triple)
        #expect(try triple.rows("SELECT length(a), b FROM f WHERE f MATCH 'word'") == ["1000000 y"])
        try Self.undo(record, in: triple)
        #expect(try triple.rows("SELECT a, b FROM f") == ["x y"])
    }

    @Test("A small change of a row with a large value records the change alone")
    func recordsOnlyWhatChanged() throws {
        let triple = try PlainTriple(Self.schema)
        try triple.execute("UPDATE t SET title = 'other' WHERE id = 1", in: "old")
        #expect(try Self.record(triple).status().size < 10_000)
    }

    @Test("An undo refuses where a large value was written after the merge")
    func refusesLaterWrite() throws {
        let triple = try PlainTriple(Self.schema)
        try triple.execute("UPDATE t SET data = randomblob(2000000) WHERE id = 1", in: "old")
        let record = try Self.record(triple)
        try triple.execute("UPDATE t SET data = randomblob(2000000) WHERE id = 1", in: "shared")
        let error = #expect(throws: StoreError.self) { try Self.undo(record, in: triple) }
        #expect(error?.code == .changedMeanwhile)
    }

    @Test(
        "A large value that loses is parked byte for byte, and restored",
        arguments: [
            "randomblob(1000001)", "CAST(hex(randomblob(400000)) AS TEXT)",
            "CAST(x'fe' || hex(zeroblob(400000)) AS TEXT)",
            #"replace(hex(zeroblob(200000)), '00', '"\é' || char(7) || '€')"#,
        ],
        [false, true]
    )
    func parks(_ value: String, _ isWithoutRowID: Bool) throws {
        let triple = try PlainTriple(isWithoutRowID ? Self.schemas[2] : Self.schema)
        try triple.execute("UPDATE t SET data = \(value) WHERE id = 1", in: "old")
        try triple.execute("UPDATE t SET data = randomblob(1000000) WHERE id = 1", in: "shared")
        try triple.merge()
        #expect(triple.parked.map { $0.largeValues.keys.sorted() } == [["data"]])
        let result = try ChangeMerging.ParkedRowRestorer(reading: Self.parkedFile(triple))
            .restore(into: MergePlace(triple.connection("shared")), deadline: Deadline(after: .seconds(60)))
        #expect(result.updated == 1)
        let digests = try [triple.digest("old"), triple.digest()].map { $0.tables.first { $0.name == "t" } }
        #expect(digests[0] == digests[1])
    }
}
