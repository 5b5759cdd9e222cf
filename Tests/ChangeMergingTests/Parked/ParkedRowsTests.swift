import ChangeMerging
import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreWriting
import TestSupport
import Testing

@Suite("Restoring parked rows")
struct ParkedRowsTests {
    /// Writes rows to a file, one per line.
    private static func file(_ rows: [ParkedRow], in folder: Directory, _ name: String = "parked") throws -> DurableFile
    {
        var bytes: [UInt8] = []
        for row in rows { bytes += try [UInt8](JSONEncoder().encode(row)) + [10] }
        return try file(bytes, in: folder, name)
    }

    private static func file(_ bytes: [UInt8], in folder: Directory, _ name: String) throws -> DurableFile {
        let file = try folder.createFile(name, mode: 0o600)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        try file.close()
        return try folder.openFile(name, for: .reading)
    }

    @Test("A losing value overwrites the object's, its version rises, and history lists it")
    func overwrites() throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        let key = StoreMergeTests.habit(1)
        try old.save { try $0.update(key, ["name": .text("late")]) }
        try shared.save { try $0.update(key, ["name": .text("here")]) }
        var parked: [ParkedRow] = []
        try triple.merge { parked.append($0) }
        #expect(parked.count == 1)
        let version = try shared.writer.version(of: key)
        let result = try ChangeMerging.ParkedRowRestorer(reading: Self.file(parked, in: triple.folder.directory))
            .restore(into: shared.place(), deadline: Deadline(after: .seconds(60)))
        #expect((result.updated, result.inserted) == (1, 0))
        #expect(result.unrestored.isEmpty)
        #expect(try shared.value("name", of: key) == .text("late"))
        #expect(try shared.writer.version(of: key) == version.map { $0 + 1 })
        let listed = try shared.connection.value(
            "SELECT ZENTITYPK FROM ACHANGE WHERE ZTRANSACTIONID = ?",
            [.integer(result.historyTransaction ?? 0)]
        )
        #expect(listed == .integer(1))
    }

    @Test(
        "A missing object is restored with its relationships; a row that cannot be restored is reported with its line"
    )
    func inserts() throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try old.save { try $0.update(StoreMergeTests.habit(1), ["name": .text("edited")]) }
        try shared.save { try $0.delete([StoreMergeTests.habit(1)]) }
        var parked: [ParkedRow] = []
        try triple.merge(MergeSettings(policy: .rollback)) { parked.append($0) }
        let row = try #require(parked.first)
        #expect(row.target == nil)
        let unknown = ParkedRow(
            side: .old,
            entity: "Nothing",
            key: [.integer(1)],
            target: nil,
            reason: .bothChanged,
            values: [:]
        )
        // A second copy of the same row would need a unique value that is already taken.
        let result =
            try ChangeMerging.ParkedRowRestorer(reading: Self.file([unknown, row, row], in: triple.folder.directory))
            .restore(into: shared.place(), deadline: Deadline(after: .seconds(60)))
        #expect((result.updated, result.inserted) == (0, 1))
        #expect(result.unrestored.map(\.line) == [1, 3])
        let back = try #require(try shared.objects().last { $0.entity == "Habit" })
        #expect(try shared.value("name", of: back) == .text("edited"))
        #expect(try shared.writer.destinations(of: back, "category") == [StoreMergeTests.category])
    }

    @Test("Rows of a plain table are overwritten, or inserted again if missing")
    func plain() throws {
        let triple = try PlainTriple(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT, u TEXT UNIQUE); CREATE TABLE bag (x UNIQUE);
            INSERT INTO t VALUES (1, 'a', 'u1'), (2, 'b', 'u2');
            """
        )
        try triple.execute("UPDATE t SET v = 'old' WHERE id = 1; UPDATE t SET v = 'gone' WHERE id = 2", in: "old")
        try triple.execute("UPDATE t SET v = 'here' WHERE id = 1; DELETE FROM t WHERE id = 2", in: "shared")
        try triple.merge(MergeSettings(policy: .rollback))
        #expect(try triple.rows("SELECT * FROM t") == ["1 here u1"])
        #expect(triple.parked.count == 2)
        let place = MergePlace(try triple.connection("shared"))
        let rows = triple.parked + triple.parked.suffix(1)
        let result = try ChangeMerging.ParkedRowRestorer(reading: Self.file(rows, in: triple.folder.directory))
            .restore(into: place, deadline: Deadline(after: .seconds(60)))
        #expect(try triple.rows("SELECT * FROM t") == ["1 old u1", "2 gone u2"])
        #expect((result.updated, result.inserted) == (1, 1))
        #expect(result.unrestored.map(\.line) == [3])
    }

    private static func restore(_ row: ParkedRow, in triple: PlainTriple) throws
        -> ChangeMerging.ParkedRowRestorer.Result
    {
        try ChangeMerging.ParkedRowRestorer(reading: file([row], in: triple.folder.directory))
            .restore(into: MergePlace(triple.connection("shared")), deadline: Deadline(after: .seconds(60)))
    }

    /// A row that the store does not have.
    private static func late(_ key: Int64) -> ParkedRow {
        ParkedRow(
            side: .old,
            entity: "t",
            key: [.integer(key)],
            target: nil,
            reason: .editedAndDeleted,
            values: ["id": .integer(key), "v": .text("late")]
        )
    }

    @Test("A row whose number is in use is reported if the table has no greater number")
    func noNumberLeft() throws {
        let triple = try PlainTriple(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'a'), (\(Int64.max), 'b')"
        )
        let result = try Self.restore(Self.late(1), in: triple)
        #expect(result.unrestored.map(\.reason) == ["the table has no number left"])
        #expect(try triple.rows("SELECT v FROM t") == ["a", "b"])
    }

    @Test("A search index over a table contains the restored rows")
    func searchIndex() throws {
        let triple = try PlainTriple(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'a');
            CREATE VIRTUAL TABLE words USING fts5(v, content='t', content_rowid='id');
            INSERT INTO words (words) VALUES ('rebuild');
            """
        )
        #expect(try Self.restore(Self.late(7), in: triple).inserted == 1)
        #expect(try triple.rows("SELECT rowid FROM words WHERE words MATCH 'late'") == ["7"])
    }

    @Test("A line that is no parked row is reported by number, and nothing is written", arguments: [1, 2])
    func malformed(_ line: Int) throws {
        let triple = try StoreMergeTests.triple()
        let shared = try triple.store("shared")
        let row = ParkedRow(
            side: .old,
            entity: "Habit",
            key: [.integer(1)],
            target: [.integer(1)],
            reason: .bothChanged,
            values: ["name": .text("x")]
        )
        var lines = [try [UInt8](JSONEncoder().encode(row))]
        lines.insert(Array(#"{"side": "old"}"#.utf8), at: line - 1)
        let file = try Self.file(Array(lines.joined(separator: [10])), in: triple.folder.directory, "bad")
        let error = #expect(throws: StoreError.self) {
            try ChangeMerging.ParkedRowRestorer(reading: file)
                .restore(into: shared.place(), deadline: Deadline(after: .seconds(60)))
        }
        #expect(error?.message == "line \(line) is no parked row")
        #expect(try shared.value("name", of: StoreMergeTests.habit(1)) == .text("habit 1"))
    }
}
