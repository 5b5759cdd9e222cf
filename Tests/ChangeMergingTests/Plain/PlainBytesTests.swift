import ChangeMerging
import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreWriting
import TestSupport
import Testing

/// SQLite does not validate text, and permits keys of any storage class.
@Suite("A merge carries keys and values byte by byte")
struct PlainBytesTests {
    /// An encoding of a database, and texts in hexadecimal: valid ones, and ones that no decoder accepts.
    struct Encoding: Sendable, CustomTestStringConvertible {
        let name: String
        let texts: [String]

        var testDescription: String { name }
    }

    static let encodings = [
        Encoding(
            name: "UTF-8",
            // Invalid bytes, a surrogate, an overlong form, NULs, a byte order mark, U+FFFF, nothing.
            texts: ["FE", "FE61", "EDA080", "C080", "610062", "00", "EFBBBF61", "EFBFBF", ""]
        ),
        Encoding(
            name: "UTF-16le",
            // Lone surrogates, both byte order marks, U+FFFF, NULs, an odd byte that SQLite drops, nothing.
            texts: [
                "610062", "00D8", "00DC6100", "610000D86200", "FFFE6100", "FEFF6100", "FFFE00D8", "FFFF",
                "610000006200", "",
            ]
        ),
        Encoding(
            name: "UTF-16be",
            texts: [
                "006162", "D800", "DC000061", "0061D8000062", "FEFF0061", "FFFE0061", "FEFFD800", "FFFF",
                "006100000062", "",
            ]
        ),
    ]

    static let tables = [
        "(k TEXT PRIMARY KEY, v)", "(k PRIMARY KEY, v)", "(k TEXT PRIMARY KEY, v) WITHOUT ROWID",
        "(k TEXT, v, PRIMARY KEY (v, k)) WITHOUT ROWID", "(k TEXT, v)",
        "(k TEXT PRIMARY KEY, v, w AS (v || 'w'))",
    ]

    private static func text(_ bytes: String) -> String { "CAST(x'\(bytes)' AS TEXT)" }

    private static func triple(_ encoding: Encoding, _ table: String) throws -> PlainTriple {
        let rows = encoding.texts.map { "(\(text($0)), 0)" }.joined(separator: ", ")
        return try PlainTriple(
            "PRAGMA encoding = '\(encoding.name)'; CREATE TABLE t \(table); INSERT INTO t (k, v) VALUES \(rows)"
        )
    }

    @Test(
        "Rows with invalid text in keys and values are inserted, updated and deleted",
        arguments: encodings,
        tables
    )
    func carried(_ encoding: Encoding, _ table: String) throws {
        let triple = try Self.triple(encoding, table)
        for (index, bytes) in encoding.texts.enumerated() {
            let condition = "WHERE k IS \(Self.text(bytes))"
            try triple.execute(
                index % 2 == 0 ? "DELETE FROM t \(condition)" : "UPDATE t SET v = \(Self.text(bytes)) \(condition)",
                in: "old"
            )
            try triple.execute(
                "INSERT INTO t (k, v) VALUES (CAST(\(Self.text(bytes)) || 'x' AS TEXT), CAST(\(Self.text(bytes)) AS BLOB))",
                in: "old"
            )
        }

        let (summary, result) = try triple.merge()

        #expect(result.outcome == .merged)
        #expect(summary.conflicts.isEmpty && triple.parked.isEmpty)
        #expect(try Self.bytes(of: triple, "shared") == Self.bytes(of: triple, "old"))
    }

    /// Each row in hexadecimal; the cast keeps the bytes, which hex() alone would convert.
    private static func bytes(of triple: PlainTriple, _ name: String) throws -> [String] {
        let columns = ["k", "v"].map { "hex(CAST(\($0) AS BLOB)), typeof(\($0))" }.joined(separator: ", ")
        return try triple.rows("SELECT \(columns) FROM t ORDER BY 1, 3", in: name)
    }

    @Test("A parked row is restored from JSON with the same bytes", arguments: encodings)
    func parked(_ encoding: Encoding) throws {
        let triple = try Self.triple(encoding, "(k TEXT PRIMARY KEY, v)")
        try triple.execute("UPDATE t SET v = k", in: "old")
        try triple.execute("UPDATE t SET v = 'shared'", in: "shared")

        try triple.merge()

        let lines = try triple.parked.map { try RecordCoding.encoder().encode($0) + [10] }
        let file = try Directory.open(path: triple.folder.path).createFile("parked", mode: 0o600)
        for (index, line) in lines.enumerated() {
            let offset = lines[..<index].reduce(0) { $0 + Int64($1.count) }
            try line.withUnsafeBytes { try file.write($0, at: offset) }
        }
        let result = try ChangeMerging.ParkedRowRestorer(reading: file)
            .restore(into: MergePlace(triple.connection("shared")), deadline: Deadline(after: .seconds(60)))
        #expect(result.updated == encoding.texts.count)
        #expect(try Self.bytes(of: triple, "shared") == Self.bytes(of: triple, "old"))
    }

    @Test(
        "A merge of rows with invalid text is rolled back",
        arguments: encodings,
        ["(k TEXT PRIMARY KEY, v)", "(k TEXT, v)"]
    )
    func undone(_ encoding: Encoding, _ table: String) throws {
        let triple = try Self.triple(encoding, table)
        let before = try triple.digest()
        try triple.execute("UPDATE t SET v = k; DELETE FROM t WHERE k IS \(Self.text(encoding.texts[0]))", in: "old")
        let file = try Directory.open(path: triple.folder.path).createFile("record", mode: 0o600)
        try triple.merge(record: { try ChangesetRecording($0, to: file) })

        let place = MergePlace(try triple.connection("shared"))
        _ = try MergeUndo(reading: file).undo(in: place, deadline: Deadline(after: .seconds(60)), epoch: "1")
        try StoreMerger.forgetMarks(of: "1", in: place.connection, deadline: Deadline(after: .seconds(60)))

        #expect(try Self.bytes(of: triple, "shared") == Self.bytes(of: triple, "base"))
        #expect(try triple.digest().schema == before.schema)
    }

    @Test("Keys that differ only in storage class are different rows")
    func storageClasses() throws {
        let triple = try PlainTriple("CREATE TABLE t (k PRIMARY KEY, v)")
        let keys = ["1.5", "'1'", "x'31'", "2", "9223372036854775807", "-1e300", "'FE'", "x''", "''", "NULL", "NULL"]
        for (index, key) in keys.enumerated() {
            try triple.execute("INSERT INTO t VALUES (\(key), \(index))", in: "old")
        }

        try triple.merge()
        let all = "SELECT quote(k), typeof(k), v FROM t ORDER BY v"
        #expect(try triple.rows(all) == triple.rows(all, in: "old"))
    }

    @Test(
        "Invalid text of a Core Data store is copied unchanged in an edit, a new object and a parked row"
    )
    func managed() throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        let odd = SQLValue.text([UInt8]([0xfe, 0x61]).withUnsafeBytes { SQLText($0, .utf8) })
        try old.save {
            try $0.update(StoreMergeTests.habit(1), ["name": odd])
            try $0.update(StoreMergeTests.habit(2), ["name": odd])
        }
        let late = try old.insert("Category", ["title": odd])
        try shared.save { try $0.update(StoreMergeTests.habit(2), ["name": .text("shared")]) }
        var parked: [ParkedRow] = []

        try triple.merge { parked.append($0) }

        #expect(try shared.value("name", of: StoreMergeTests.habit(1)) == odd)
        #expect(try shared.value("title", of: late) == odd)
        #expect(parked.map { $0.values["name"]?.sqlValue } == [odd])
        let hex = "SELECT hex(CAST(ZNAME AS BLOB)) FROM ZHABIT WHERE Z_PK = 1"
        #expect(try shared.connection.value(hex) == .text("FE61"))
    }

    @Test("Bytes are encoded in base64, and a list of numbers is decoded as well")
    func storedBytes() throws {
        let value = StoredValue.bytes([0, 255, 1])
        let line = try RecordCoding.encoder().encode(value)
        #expect(String(decoding: line, as: UTF8.self) == #"{"bytes":{"_0":"AP8B"}}"#)
        #expect(try RecordCoding.decoder().decode(StoredValue.self, from: line) == value)
        let former = Data(#"{"bytes":{"_0":[0,255,1]}}"#.utf8)
        #expect(try RecordCoding.decoder().decode(StoredValue.self, from: former) == value)
    }
}
