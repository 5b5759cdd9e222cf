import ChangeMerging
import SafeFiles
import StoreFormat
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
        ]
    )
    func parks(_ value: String) throws {
        let triple = try PlainTriple(Self.schema)
        try triple.execute("UPDATE t SET data = \(value) WHERE id = 1", in: "old")
        try triple.execute("UPDATE t SET data = randomblob(1000000) WHERE id = 1", in: "shared")
        try triple.merge()
        #expect(triple.parked.map { $0.largeValues.keys.sorted() } == [["data"]])
        let result = try ChangeMerging.ParkedRows(reading: Self.parkedFile(triple))
            .restore(into: MergePlace(triple.connection("shared")), deadline: Deadline(after: .seconds(60)))
        #expect(result.updated == 1)
        let digests = try [triple.digest("old"), triple.digest()].map { $0.tables.first { $0.name == "t" } }
        #expect(digests[0] == digests[1])
    }
}
