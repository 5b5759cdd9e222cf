import SafeFiles
import StoreAccess
import StoreFixtures
import TestSupport
import Testing

@Suite("The stores in Fixtures/Stores")
struct StoreRecipesTests {
    /// The recipes whose store SQLite cannot open, or finds damaged.
    private static let unsound = [
        "orphan-wal", "zero-byte-with-wal", "truncated", "flipped-byte", "text-file", "missing-index-entry",
        "stale-wal",
    ]

    @Test("Every recipe builds", arguments: Fixtures.names)
    func builds(_ name: String) throws {
        let scratch = try Scratch()
        try scratch.build(store: name)
        let isGone = name == "orphan-wal"
        #expect(scratch.files.contains("Store.sqlite") != isGone)
    }

    @Test(
        "A store that is not damaged as a database passes SQLite's own check",
        .disabled(if: SQLiteShell.isMissing),
        arguments: Fixtures.names.filter { !unsound.contains($0) }
    )
    func sound(_ name: String) throws {
        let scratch = try Scratch()
        try scratch.build(store: name)
        #expect(try SQLiteShell.output(scratch.location, "PRAGMA integrity_check") == "ok")
    }

    @Test("Building a recipe twice gives the same main file", arguments: Fixtures.names)
    func deterministic(_ name: String) throws {
        let (one, other) = (try Scratch(), try Scratch())
        try one.build(store: name)
        try other.build(store: name)
        #expect(one.files == other.files)
        if one.files.contains("Store.sqlite") {
            #expect(try one.bytes("Store.sqlite") == other.bytes("Store.sqlite"))
        }
    }

    @Test(
        "Each damaged store has the files of its damage",
        arguments: [
            ("clean", ["Store.sqlite"]),
            ("rollback-journal", ["Store.sqlite"]),
            ("uncheckpointed-wal", ["Store.sqlite", "Store.sqlite-wal"]),
            ("orphan-wal", ["Store.sqlite-wal"]),
            ("stale-wal", ["Store.sqlite", "Store.sqlite-wal"]),
            ("hot-journal", ["Store.sqlite", "Store.sqlite-journal"]),
            ("stale-shared-memory", ["Store.sqlite", "Store.sqlite-shm", "Store.sqlite-wal"]),
            ("external-data", [".Store_SUPPORT", "Store.sqlite"]),
        ]
    )
    func files(_ name: String, _ files: [String]) throws {
        let scratch = try Scratch()
        try scratch.build(store: name)
        #expect(scratch.files == files)
    }

    @Test("A hot journal hides uncommitted rows that the main file alone would show")
    func hotJournal() throws {
        let scratch = try Scratch()
        try scratch.build(store: "hot-journal")
        let uncommitted = "SELECT count(*) FROM entry WHERE value LIKE 'uncommitted%'"
        let bare = try Scratch()
        let main = try scratch.bytes("Store.sqlite")
        let file = try bare.directory.createFile("Store.sqlite", mode: 0o600)
        try main.withUnsafeBytes { try file.write($0, at: 0) }
        try file.close()
        let visible = try bare.open().value(uncommitted)?.integer ?? 0
        #expect(visible > 0)
        let connection = try scratch.open()
        #expect(try connection.value(uncommitted) == .integer(0))
        #expect(try connection.value("SELECT count(*) FROM entry") == .integer(200))
        #expect(try connection.value("PRAGMA integrity_check") == .text("ok"))
    }

    @Test("A stale log silently replaces the store's content")
    func staleLog() throws {
        let scratch = try Scratch()
        try scratch.build(store: "stale-wal")
        let (own, foreign) = (try Scratch(), try Scratch())
        try own.build(store: "clean")
        try foreign.build(store: "everything-in-wal")
        let uuid = "SELECT Z_UUID FROM Z_METADATA"
        let seen = try scratch.open().value(uuid)
        #expect(try seen == foreign.open().value(uuid))
        #expect(try seen != own.open().value(uuid))
    }

    @Test("An index entry is missing although the row is there")
    func missingIndexEntry() throws {
        let scratch = try Scratch()
        try scratch.build(store: "missing-index-entry")
        let connection = try scratch.open()
        #expect(try connection.value("SELECT count(*) FROM ZNOTE NOT INDEXED") == .integer(20))
        let byIndex = "SELECT count(*) FROM ZNOTE INDEXED BY Z_Note_byTitle WHERE ZTITLE = 'Note 7'"
        #expect(try connection.value(byIndex) == .integer(0))
        #expect(try connection.value("PRAGMA quick_check") == .text("ok"))
        #expect(try connection.value("PRAGMA integrity_check") != .text("ok"))
    }

    @Test("Rows that are committed only in the log are not in the main file")
    func partlyInLog() throws {
        let scratch = try Scratch()
        try scratch.build(store: "partly-in-wal")
        let count = "SELECT count(*) FROM ZNOTE"
        let whole = try Scratch()
        try whole.build(store: "partly-in-wal")
        #expect(try whole.open().value(count) == .integer(21))
        try scratch.directory.removeFile("Store.sqlite-wal")
        #expect(try scratch.open().value(count) == .integer(20))
    }

    @Test("The history lists insertions, updates and deletions with their properties")
    func history() throws {
        let scratch = try Scratch()
        try scratch.build(store: "history-on")
        let connection = try scratch.open()
        #expect(try connection.value("SELECT count(*) FROM ATRANSACTION") == .integer(3))
        let kinds = "SELECT group_concat(n) FROM (SELECT count(*) AS n FROM ACHANGE GROUP BY ZCHANGETYPE)"
        // 22 inserted; folder2 and note3 changed; folder1, its ten notes but the one moved away, note5 among them, deleted.
        #expect(try connection.value(kinds) == .text("22,2,10"))
        // Slots of Note: folder, editedAt, id, title: the key and the title changed.
        let bitmap = "SELECT hex(ZCOLUMNS) FROM ACHANGE WHERE ZCHANGETYPE = 1 AND ZENTITY = 2"
        #expect(try connection.value(bitmap) == .text("90"))
        let tombstones = "SELECT count(ZTOMBSTONE0) FROM ACHANGE WHERE ZCHANGETYPE = 2 AND ZENTITY = 2"
        #expect(try connection.value(tombstones) == .integer(9))
        let gap =
            "SELECT count(*) FROM ATRANSACTION t WHERE NOT EXISTS "
            + "(SELECT 1 FROM ACHANGE WHERE ZTRANSACTIONID = t.Z_PK)"
        #expect(try connection.value(gap) == .integer(1))
    }

    @Test("Objects of descendant entities are in one table, and keys to them name the entity")
    func inheritance() throws {
        let scratch = try Scratch()
        try scratch.build(store: "inheritance")
        let connection = try scratch.open()
        let entities = "SELECT group_concat(Z_ENT) FROM (SELECT Z_ENT FROM ZREGION ORDER BY Z_PK)"
        #expect(try connection.value(entities) == .text("2,3,3,3,3,3,4"))
        let keys = "SELECT group_concat(ifnull(ZREGION, '-') || '/' || ifnull(Z1_REGION, '-')) FROM ZVISIT"
        #expect(try connection.value(keys) == .text("1/2,2/3,7/4,-/-"))
        #expect(try connection.value("SELECT ZAREA1 FROM ZREGION WHERE Z_ENT = 4") == .text("NaN"))
    }

    @Test("Join tables contain each pair once, with its position where the relationship is ordered")
    func manyToMany() throws {
        let scratch = try Scratch()
        try scratch.build(store: "many-to-many")
        let connection = try scratch.open()
        let tags = "SELECT group_concat(Z_3TAGS || ':' || Z_FOK_3TAGS) FROM Z_2TAGS WHERE Z_2POSTS = 1"
        #expect(try connection.value(tags) == .text("1:2048,3:1024"))
        let pairs = "SELECT count(*) FROM Z_1FOLLOWERS"
        #expect(try connection.value(pairs) == .integer(3))
        #expect(try connection.value("SELECT count(*) FROM Z_1FRIENDS WHERE REFLEXIVE = 2") == .integer(1))
    }

    @Test("Every type of attribute is stored as Core Data stores it")
    func allTypes() throws {
        let scratch = try Scratch()
        try scratch.build(store: "all-types")
        let connection = try scratch.open()
        let stored: [(column: String, values: [SQLValue])] = [
            ("ZSMALL", [.null, .integer(-32_768), .null]),
            ("ZMIDDLE", [.null, .integer(2_147_483_647), .null]),
            ("ZLARGE", [.null, .integer(.max), .null]),
            ("ZEXACT", [.null, .text("NaN"), .real(3.25)]),
            ("ZREAL", [.null, .real(0), .real(1e300)]),
            ("ZSINGLE", [.null, .real(1.5), .null]),
            ("ZWORDS", [.null, .text("Łódź 🏃"), .text("")]),
            ("ZFLAG", [.null, .integer(1), .integer(0)]),
            // Half a second before 2000; whole seconds become integers in a column of numeric affinity.
            ("ZDAY", [.null, .real(-31_622_400.5), .integer(9190 * 86_400)]),
            ("ZBYTES", [.null, .blob([]), .blob(Array("abcabcabc".utf8))]),
            ("ZLINK", [.null, .text("https://example.com/a?b=c"), .null]),
            ("ZARCHIVED", [.null, .blob(Array("bplist00".utf8)), .null]),
        ]
        for (column, values) in stored {
            var found: [SQLValue] = []
            try connection.forEachRow("SELECT \(column) FROM ZSAMPLE ORDER BY Z_PK") { found.append($0.value(0)) }
            #expect(found == values, "\(column)")
        }
        #expect(try connection.value("SELECT length(ZIDENTIFIER) FROM ZSAMPLE WHERE Z_PK = 2") == .integer(16))
    }

    @Test("Keywords of SQL and non-ASCII names work as names of tables and columns")
    func unusualNames() throws {
        let scratch = try Scratch("Übung ohne Endung; \"x\"")
        try scratch.build(store: "unusual-names")
        let connection = try scratch.open()
        let row =
            "SELECT ZSELECT || ZFROM || ZGROUP || \"ZSTRASSE\" || \"ZNAÏVE\" "
            + "FROM ZORDER JOIN \"ZGRÖSSE\" AS g ON g.Z_PK = ZTABLE"
        #expect(try connection.value(row) == .text("*it's \"quoted\"7Allee 10.5"))
    }

    @Test("The guide to recipes names every kind of damage and every type")
    func guide() throws {
        let guide = try Directory.open(path: Fixtures.folder).contents(of: "README.md", limit: 1 << 20)
        let text = String(decoding: guide, as: UTF8.self)
        let wrong = ["seed: x\nsql: []\ndamage: [{x: 1}]", "seed: x\nmodel: {entities: {A: {attributes: {a: x}}}}"]
        for recipe in wrong {
            let error = #expect(throws: RecipeError.self) { try RecipeReader.recipe(from: recipe) }
            let list = error?.message.split(separator: ";").last ?? ""
            let names = list.split { !$0.isLetter && !$0.isNumber }.drop { !["are", "of"].contains($0) }.dropFirst()
            for name in names where name != "one" { #expect(text.contains("`\(name)`"), "\(name)") }
            #expect(names.count > 10)
        }
    }
}
