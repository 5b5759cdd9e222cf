import ChangeMerging
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@Suite("A merge accounts for every part of the old store")
struct MergeAccountTests {
    private static let schema = """
        CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b');
        CREATE VIEW seen AS SELECT v FROM t;
        """

    /// A change of the old store that a merge cannot carry, and the expected refusal.
    struct Change: CustomTestStringConvertible, Sendable {
        let sql: String
        let refusal: MergeRefusal
        var testDescription: String { sql }
    }

    static let changes = [
        Change(sql: "DROP VIEW seen", refusal: .notCarried("the view seen")),
        Change(sql: "CREATE VIRTUAL TABLE late USING fts5(v)", refusal: .notCarried("the table late")),
        Change(sql: "CREATE UNIQUE INDEX late ON t (v)", refusal: .notCarried("the index late")),
        Change(
            sql: "CREATE INDEX late ON t (v); CREATE TRIGGER lost INSTEAD OF INSERT ON seen BEGIN SELECT 1; END",
            refusal: .notCarried("the trigger lost")
        ),
    ]

    static let late = [
        "CREATE TABLE late (id INTEGER PRIMARY KEY AUTOINCREMENT, v UNIQUE); INSERT INTO late VALUES (5, 'x'), (7, 'y')",
        "CREATE TABLE late (v); INSERT INTO late VALUES (1), (1); CREATE INDEX i ON late (v)",
        "CREATE TABLE late (k TEXT PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO late VALUES ('k', x'00')",
        "CREATE INDEX late ON t (v)", "CREATE VIEW late AS SELECT v FROM t",
        "CREATE TRIGGER late AFTER INSERT ON t BEGIN SELECT 1; END",
    ]

    @Test(
        "A definition that only the old store added is merged with its rows, and rolled back",
        arguments: late
    )
    func lateDefinitions(_ sql: String) throws {
        let triple = try PlainTriple(Self.schema)
        let before = try triple.digest()
        try triple.execute(sql, in: "old")
        let file = try triple.folder.directory.createFile("record", mode: 0o600)
        #expect(try triple.merge(record: { try ChangesetRecording($0, to: file) }).result.outcome == .merged)
        let connection = try triple.connection("shared")
        try StoreMerger.forgetMarks(of: "1", in: connection, deadline: Deadline(after: .seconds(60)))
        #expect(try triple.digest() == triple.digest("old"))
        let record = try triple.folder.directory.openFile("record", for: .reading)
        _ = try MergeUndo(reading: record)
            .undo(in: MergePlace(connection), deadline: Deadline(after: .seconds(60)), epoch: "1")
        try StoreMerger.forgetMarks(of: "1", in: connection, deadline: Deadline(after: .seconds(60)))
        #expect(try triple.digest().schema == before.schema)
    }

    @Test("A definition that only the old Core Data store added is merged with its rows", arguments: late)
    func managedLateDefinitions(_ sql: String) throws {
        let triple = try MergeTriple(StoreMergeTests.model) { try $0.connection.execute(Self.schema) }
        try triple.store("old").connection.execute(sql)
        try triple.merge()
        let (old, shared) = try (
            StoreDigest(of: triple.store("old").connection, externalData: nil),
            StoreDigest(of: triple.store("shared").connection, externalData: nil)
        )
        #expect(old.schema == shared.schema)
        #expect(old.tables.first { $0.name == "late" } == shared.tables.first { $0.name == "late" })
    }

    @Test(
        "A definition changed only in the old store is refused by name, and merged once both stores have it",
        arguments: changes
    )
    func definitions(_ change: Change) throws {
        let triple = try PlainTriple(Self.schema)
        try triple.execute(change.sql, in: "old")
        try triple.execute("UPDATE t SET v = 'late' WHERE id = 1", in: "old")
        let before = try triple.digest()
        let plan = try triple.plan()
        #expect(plan.summary.refusals.contains(change.refusal))
        #expect(plan.summary.refusals.allSatisfy { $0.kind == .needsDecision })
        let digest = try triple.digest("old")
        let account = try #require(plan.account)
        #expect(throws: UnaccountedContent.self) { try SettledDigest(digest, merged: account) }
        #expect(try triple.digest() == before)

        try triple.execute(change.sql, in: "shared")
        let merged = try triple.plan()
        #expect(merged.summary.refusals.isEmpty)
        #expect(try SettledDigest(digest, merged: #require(merged.account)).value == digest.value)
    }

    @Test("A changed definition of a Core Data store is refused by name", arguments: changes)
    func managedDefinitions(_ change: Change) throws {
        let triple = try MergeTriple(StoreMergeTests.model) { try $0.connection.execute(Self.schema) }
        try triple.store("old").connection.execute(change.sql)
        #expect(try triple.plan().summary.refusals.contains(change.refusal))
        try triple.store("shared").connection.execute(change.sql)
        let plan = try triple.plan()
        #expect(plan.summary.refusals.isEmpty)
        let digest = try StoreDigest(of: triple.store("old").connection, externalData: nil)
        #expect(try SettledDigest(digest, merged: #require(plan.account)).value == digest.value)
    }

    @Test(
        "Without a base, a definition that only the old Core Data store has is refused unless it follows from a model",
        arguments: [
            ("CREATE VIEW seen AS SELECT 1", [.notCarried("the view seen")]),
            ("CREATE INDEX Z_Habit_byName ON ZHABIT (ZNAME)", []),
        ] as [(String, [MergeRefusal])]
    )
    func managedWithoutBase(_ sql: String, _ refusals: [MergeRefusal]) throws {
        let triple = try StoreMergeTests.triple()
        try triple.store("old").connection.execute(sql)
        let plan = try StoreMerger(
            base: nil,
            old: triple.store("old").place(),
            shared: triple.store("shared").place(),
            settings: MergeSettings(identities: ["Category": ["title"]])
        )
        .plan()
        #expect(plan.summary.refusals == refusals)
    }

    @Test("The digest of a state that the account does not cover is rejected")
    func anotherState() throws {
        let triple = try PlainTriple(Self.schema)
        let account = try #require(try triple.plan().account)
        try triple.execute("CREATE TABLE later (v)", in: "old")
        let digest = try triple.digest("old")
        #expect(throws: UnaccountedContent.self) { try SettledDigest(digest, merged: account) }
    }

    @Test("A header field that only the old store changed is merged", arguments: ["user_version", "application_id"])
    func header(_ field: String) throws {
        let triple = try PlainTriple(Self.schema)
        try triple.execute("PRAGMA \(field) = 7", in: "old")
        #expect(try triple.merge().result.outcome == .merged)
        #expect(try triple.rows("PRAGMA \(field)") == ["7"])
        #expect(try triple.digest() == triple.digest("old"))
    }

    @Test(
        "A header field that both stores changed is reported, and the policy decides",
        arguments: [
            (StoreMergePolicy.mergeByPropertyStoreTrump, "8"), (.mergeByPropertyObjectTrump, "7"), (.overwrite, "7"),
            (.rollback, "8"),
        ]
    )
    func contestedHeader(_ policy: StoreMergePolicy, _ expected: String) throws {
        let triple = try PlainTriple(Self.schema)
        try triple.execute("PRAGMA user_version = 7", in: "old")
        try triple.execute("PRAGMA user_version = 8", in: "shared")
        let summary = try triple.merge(MergeSettings(policy: policy)).summary
        #expect(summary.conflicts.map(\.property) == ["user_version"])
        #expect(try triple.rows("PRAGMA user_version") == [expected])
        #expect(try triple.plan(MergeSettings(policy: .error)).summary.refusals.isEmpty == (expected == "7"))
    }

    @Test("A definition that only the new store added does not block the old store's rows")
    func newDefinitions() throws {
        let triple = try PlainTriple(Self.schema + "CREATE TABLE u (id INTEGER PRIMARY KEY, v)")
        try triple.execute(
            "ALTER TABLE u ADD COLUMN w; CREATE TABLE own (v); CREATE INDEX i ON t (v); PRAGMA user_version = 3",
            in: "shared"
        )
        try triple.execute("INSERT INTO t VALUES (3, 'late')", in: "old")
        #expect(try triple.merge().result.outcome == .merged)
        #expect(try triple.rows("SELECT v FROM t") == ["a", "b", "late"])
        try triple.execute("INSERT INTO u VALUES (1, 1)", in: "old")
        #expect(try !triple.plan().summary.refusals.isEmpty)
    }

    @Test("AUTOINCREMENT numbers of deleted rows are not assigned again after a merge")
    func sequence() throws {
        let triple = try PlainTriple("CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, v)")
        try triple.execute("INSERT INTO t VALUES (9, 1); DELETE FROM t", in: "old")
        #expect(try triple.merge().result.outcome == .merged)
        try triple.execute("INSERT INTO t (v) VALUES (2)", in: "shared")
        #expect(try triple.rows("SELECT id FROM t") == ["10"])
    }

    @Test("The AUTOINCREMENT number after a merge is the greater of both sides' numbers", arguments: [(9, 4), (4, 9)])
    func greatestSequence(old: Int, shared: Int) throws {
        let triple = try PlainTriple(
            "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, v); INSERT INTO t VALUES (1, 'a')"
        )
        for (name, number) in [("old", old), ("shared", shared)] {
            try triple.execute("INSERT INTO t VALUES (\(number), 'b'); DELETE FROM t WHERE id > 1", in: name)
        }
        try triple.merge()
        #expect(try triple.rows("SELECT name, seq FROM sqlite_sequence") == ["t 9"])
        try triple.execute("INSERT INTO t (v) VALUES ('c')", in: "shared")
        #expect(try triple.rows("SELECT id FROM t") == ["1", "10"])
    }

    @Test("A changed setting of a search index is refused")
    func searchIndexSetting() throws {
        let triple = try PlainTriple("CREATE VIRTUAL TABLE f USING fts5(v); INSERT INTO f VALUES ('a')")
        try triple.execute("INSERT INTO f (f, rank) VALUES ('automerge', 8)", in: "old")
        #expect(try triple.plan().summary.refusals == [.notCarried("the content of the virtual table f")])
    }
}
