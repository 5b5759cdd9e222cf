import CSQLite
import StoreAccess
import Testing

@testable import StoreVerification

/// One kind of difference between an index and its table, made in a small store.
struct IndexDamage: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let code: Finding.Code
    let make: @Sendable (ScratchStore) throws -> Void

    static let all = [
        Self(testDescription: "an entry was removed", code: .indexDiffers) {
            try $0.hidingIndex("byName", "INSERT INTO item VALUES (99, 'nut', 1.5, NULL)")
        },
        Self(testDescription: "a row has two entries", code: .indexDiffers) {
            try $0.hidingIndex("byName", "DELETE FROM item WHERE id = 5")
            try $0.execute("INSERT INTO item VALUES (5, 'zebra', 5, x'00')")
        },
        Self(testDescription: "an entry belongs to no row", code: .indexDiffers) {
            try $0.hidingIndex("byName", "DELETE FROM item WHERE id = 5")
        },
        Self(testDescription: "an entry names the wrong row", code: .indexDiffers) {
            try $0.hidingIndex("byName", "UPDATE item SET id = 77 WHERE id = 5")
        },
        Self(testDescription: "a key changed while the count stayed", code: .indexDiffers) {
            try $0.hidingIndex("byName", "UPDATE item SET name = 'another' WHERE id = 5")
        },
        Self(testDescription: "a bit of a key flipped", code: .indexDiffers) {
            try $0.patchPage(of: "byName") { try $0.flip("cherry", bits: 0x01) }
        },
        Self(testDescription: "a bit of a column flipped", code: .indexDiffers) {
            try $0.patchPage(of: "item") { try $0.flip("cherry", bits: 0x01) }
        },
        Self(testDescription: "two cells were swapped", code: .indexOutOfOrder) {
            try $0.patchPage(of: "byName") { $0.swapCells(1, 2) }
        },
        Self(testDescription: "a number of a key changed", code: .indexDiffers) {
            try $0.hidingIndex("byWeight", "UPDATE item SET weight = weight + 0.5 WHERE id = 3")
        },
    ]
}

@Suite("The index proof")
struct IndexProofTests {
    static let rows = """
        INSERT INTO item VALUES (1, 'apple', 1.25, x'01'), (2, 'banana', 2, x'02'), (3, 'cherry', 3.5, NULL),
        (4, 'date', NULL, x'04'), (5, 'elder', 5, x''), (6, NULL, 6, x'06'), (7, 'apple', 1.25, x'01');
        """

    private func store(journalMode: String = "DELETE") throws -> ScratchStore {
        try ScratchStore(
            """
            CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, weight REAL, mark BLOB);
            CREATE INDEX byName ON item (name);
            CREATE INDEX byWeight ON item (weight DESC, mark);
            """,
            Self.rows
        )
    }

    private func findings(in store: ScratchStore) throws -> [Finding] {
        let connection = try StoreConnection(store.location, access: .immutable)
        return try StructureProof(connection, monitor: .silent).findings()
    }

    @Test("A sound store passes")
    func sound() throws {
        #expect(try findings(in: store()) == [])
    }

    @Test("The scan finds what integrity_check finds", arguments: IndexDamage.all)
    func damage(_ damage: IndexDamage) throws {
        let store = try store()
        try damage.make(store)
        #expect(try store.rows("PRAGMA integrity_check") != ["ok"])
        #expect(try store.rows("PRAGMA quick_check") == ["ok"])
        let connection = try StoreConnection(store.location, access: .immutable)
        let schema = try StoreSchema(reading: connection)
        let table = try #require(schema.table(named: "item"))
        let findings = try IndexProof(connection, progress: ProofProgress(.silent)).findings(of: table)
        #expect(findings.contains { $0.code == damage.code && $0.severity == .error && $0.table == "item" })
        // The finding is the scan's, not only that of SQLite's check after it.
        #expect(findings.contains { !$0.message.hasPrefix("SQLite reports") })
    }

    @Test("A key that equals its column only under the index's collation is found", arguments: ["NOCASE", "RTRIM"])
    func collation(_ collation: String) throws {
        let store = try ScratchStore(
            """
            CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT COLLATE \(collation));
            CREATE INDEX byName ON item (name);
            INSERT INTO item VALUES (1, 'apple '), (2, 'Banana'), (3, 'APPLE'), (4, 'banana  '), (5, 'apple');
            """
        )
        #expect(try findings(in: store) == [])
        let change = collation == "NOCASE" ? "'bANANA'" : "'Banana  '"
        try store.hidingIndex("byName", "UPDATE item SET name = \(change) WHERE id = 2")
        #expect(try store.rows("PRAGMA integrity_check") == ["ok"])
        #expect(try findings(in: store).map(\.code) == [.indexDiffers])
    }

    @Test(
        "Sound indexes of every supported shape pass",
        arguments: [
            "CREATE INDEX i ON item (name DESC)",
            "CREATE INDEX i ON item (name COLLATE NOCASE DESC, weight)",
            "CREATE INDEX i ON item (name COLLATE RTRIM, mark DESC)",
            "CREATE UNIQUE INDEX i ON item (name, id, mark)",
            "CREATE UNIQUE INDEX i ON item (weight, name, mark, other)",
            "CREATE INDEX i ON item (name) WHERE weight > 2",
            "CREATE INDEX i ON item (weight) WHERE name IS NOT NULL AND name <> 'a ) WHERE b'",
            "CREATE INDEX i ON item (other)",
            "CREATE INDEX i ON item (lower(name))",
            "CREATE INDEX i ON item (name) WHERE weight > 2 -- heavy",
            "CREATE INDEX \"i WHERE\" ON item (\"other\")",
        ]
    )
    func soundShapes(_ definition: String) throws {
        let store = try ScratchStore(
            "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, weight REAL, mark BLOB, other); " + definition,
            """
            INSERT INTO item VALUES (1, 'apple', 1.25, x'01', 1), (2, 'Apple ', 2, x'02', 1.5),
            (3, 'cherry', 3.5, NULL, 'x'), (4, 'CHERRY', NULL, x'04', x'00'), (5, 'apple  ', -0.0, x'', NULL),
            (6, NULL, 1e300, x'06', 9223372036854775807), (7, 'a' || char(0) || 'b', 4e18, x'01', 9.3e18),
            (8, '', -4, x'0808080808080808080808080808080808', -9223372036854775808), (9, 'é', 0.1, NULL, NULL);
            UPDATE item SET name = name || '!' WHERE id % 2; DELETE FROM item WHERE id = 3;
            """
        )
        #expect(try findings(in: store) == [])
    }

    @Test("An entry that a partial index should not hold is found")
    func partialIndexHoldsTooMuch() throws {
        let store = try store()
        try store.redefineIndex("byName", as: "CREATE INDEX byName ON item (name) WHERE weight > 2")
        #expect(try findings(in: store).contains { $0.message.contains("has more entries") })
    }

    @Test("A repeated key in a unique index is found, except for null keys")
    func uniqueIndex() throws {
        let store = try store()
        try store.redefineIndex("byName", as: "CREATE UNIQUE INDEX byName ON item (name)")
        let found = try findings(in: store).filter { $0.code == .uniqueIndexRepeatsKey && $0.key != nil }
        #expect(found.map(\.key) == [7])
        try store.execute("DELETE FROM item WHERE id = 7; UPDATE item SET name = NULL WHERE id = 1")
        #expect(try findings(in: store) == [])
    }

    @Test("Tables whose indexes a scan cannot prove are checked by SQLite itself")
    func fallback() throws {
        let store = try ScratchStore(
            """
            CREATE TABLE pair (a TEXT, b TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
            CREATE INDEX byB ON pair (b);
            CREATE TABLE made (id INTEGER PRIMARY KEY, a, twice AS (a * 2));
            CREATE INDEX byTwice ON made (twice);
            INSERT INTO pair VALUES ('a', 'x'), ('b', 'y');
            INSERT INTO made (a) VALUES (1), (2);
            """
        )
        #expect(try findings(in: store) == [])
        try store.hidingIndex("byB", "DELETE FROM pair WHERE a = 'a'")
        try store.hidingIndex("byTwice", "UPDATE made SET a = 7 WHERE id = 1")
        #expect(Set(try findings(in: store).compactMap(\.table)) == ["pair", "made"])
    }

    @Test("Damaged pages are reported as such")
    func damagedPage() throws {
        let store = try store()
        try store.patchPage(of: "item") { $0[$0.startIndex] = 0xEE }
        #expect(try findings(in: store).contains { $0.code == .pageDamage && $0.severity == .error })
    }

    @Test("Text in UTF-16 is checked too")
    func wideText() throws {
        let store = try ScratchStore(
            "PRAGMA encoding='UTF-16'; CREATE TABLE item (id INTEGER PRIMARY KEY, name); CREATE INDEX i ON item (name)",
            "INSERT INTO item VALUES (1, 'a'), (2, 'b')"
        )
        #expect(try findings(in: store) == [])
        try store.hidingIndex("i", "UPDATE item SET name = 'c' WHERE id = 1")
        #expect(try findings(in: store).contains { $0.code == .indexDiffers })
    }

    @Test("After any bit flip in a small store the proof reports what integrity_check reports")
    func everyByte() throws {
        let store = try ScratchStore(
            "PRAGMA page_size=512; CREATE TABLE item (id INTEGER PRIMARY KEY, name, n INTEGER);"
                + "CREATE INDEX byName ON item (name DESC); CREATE UNIQUE INDEX byN ON item (n, name);",
            """
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 12)
            INSERT INTO item SELECT i, 'name ' || (i * 7 % 12), i * 1000 FROM c
            """
        )
        let sound = try store.bytes
        let damaged = try ScratchStore("CREATE TABLE t (a)")
        // The first page has header and schema; with damage there SQLite cannot open the store.
        for offset in stride(from: 512, to: sound.count, by: 3) {
            var bytes = sound
            bytes[offset] ^= 1 << UInt8(truncatingIfNeeded: offset % 8)
            try damaged.overwrite(bytes)
            let sqlite = (try? damaged.rows("PRAGMA integrity_check")) ?? ["unreadable"]
            let proved = try findings(in: damaged)
            if sqlite != ["ok"] {
                #expect(!proved.isEmpty, "byte \(offset) of page \(offset / 512 + 1): \(sqlite.first ?? "")")
            }
        }
    }
}
