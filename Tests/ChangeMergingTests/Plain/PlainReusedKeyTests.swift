import ChangeMerging
import StoreAccess
import TestSupport
import Testing

/// SQLite assigns the number of a deleted last row to the next row.
@Suite("A row with the reused number of a deleted row is not merged with that row")
struct PlainReusedKeyTests {
    private static let schema = """
        CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT, w TEXT); INSERT INTO t VALUES (1, 'a', 'aa'), (2, 'b', 'bb');
        CREATE TABLE c (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t (k), n TEXT); INSERT INTO c VALUES (1, 2, 'x');
        """

    @Test("The old side's new row gets another number, and the row that the shared side edited stays")
    func oldSide() throws {
        let triple = try PlainTriple(Self.schema)
        try triple.execute(
            "DELETE FROM t WHERE k = 2; INSERT INTO t (v, w) VALUES ('new', 'neu'); INSERT INTO c VALUES (2, 2, 'y')",
            in: "old"
        )
        try triple.execute("UPDATE t SET w = 'edited' WHERE k = 2", in: "shared")

        let (summary, _) = try triple.merge()

        #expect(try triple.rows("SELECT * FROM t") == ["1 a aa", "2 b edited", "3 new neu"])
        #expect(try triple.rows("SELECT * FROM c") == ["1 2 x", "2 3 y"])
        #expect(summary.conflicts.map(\.reason) == [.editedAndDeleted])
        #expect(summary.conflicts.map(\.old) == [.deleted])
    }

    @Test("The shared side's new row stays, and the row that the old side edited is restored under another number")
    func sharedSide() throws {
        let triple = try PlainTriple(Self.schema)
        try triple.execute("UPDATE t SET w = 'edited' WHERE k = 2", in: "old")
        try triple.execute("DELETE FROM t WHERE k = 2; INSERT INTO t (v, w) VALUES ('new', 'neu')", in: "shared")

        let (summary, _) = try triple.merge(MergeSettings(policy: .mergeByPropertyObjectTrump))

        #expect(try triple.rows("SELECT * FROM t") == ["1 a aa", "2 new neu", "3 b edited"])
        #expect(summary.conflicts.map(\.shared) == [.deleted])
    }

    private func merge(
        _ triple: PlainTriple,
        _ policy: StoreMergePolicy,
        _ decision: StoreMergeConflict.Resolution
    ) throws -> MergeSummary {
        var settings = MergeSettings(policy: policy)
        settings.resolver = ConflictResolver { $0.map { _ in decision } }
        return try triple.merge(settings).0
    }

    @Test(
        "A resolver's decisions never mix the shared side's new row with the old side's edit",
        arguments: [
            (StoreMergePolicy.mergeByPropertyStoreTrump, StoreMergeConflict.Resolution.old), (.rollback, .old),
            (.overwrite, .shared), (.error, .old), (.mergeByPropertyObjectTrump, .old),
            (.mergeByPropertyStoreTrump, .value(.text(SQLText("third")))),
        ]
    )
    func resolverAndSharedRow(_ policy: StoreMergePolicy, _ decision: StoreMergeConflict.Resolution) throws {
        let triple = try PlainTriple(Self.schema)
        try triple.execute("UPDATE t SET w = 'edited' WHERE k = 2; INSERT INTO c VALUES (2, 2, 'y')", in: "old")
        try triple.execute(
            "DELETE FROM c; DELETE FROM t WHERE k = 2; INSERT INTO t (v, w) VALUES ('new', 'neu')",
            in: "shared"
        )

        let summary = try merge(triple, policy, decision)

        #expect(try triple.rows("SELECT * FROM t") == ["1 a aa", "2 new neu", "3 b edited"])
        #expect(try triple.rows("SELECT * FROM c") == ["2 3 y"])
        #expect(summary.conflicts.map(\.reason) == [.editedAndDeleted])
        #expect(summary.conflicts.map(\.shared) == [.deleted])
    }

    @Test(
        "A resolver's decisions never mix the old side's new row with the shared side's edit",
        arguments: [
            (StoreMergePolicy.mergeByPropertyStoreTrump, StoreMergeConflict.Resolution.shared), (.rollback, .old),
            (.overwrite, .shared), (.error, .shared), (.mergeByPropertyObjectTrump, .shared),
        ]
    )
    func resolverAndOldRow(_ policy: StoreMergePolicy, _ decision: StoreMergeConflict.Resolution) throws {
        let triple = try PlainTriple(Self.schema)
        try triple.execute(
            "DELETE FROM c; DELETE FROM t WHERE k = 2; INSERT INTO t (v, w) VALUES ('new', 'neu')",
            in: "old"
        )
        try triple.execute("UPDATE t SET w = 'edited' WHERE k = 2", in: "shared")

        let summary = try merge(triple, policy, decision)

        #expect(try triple.rows("SELECT * FROM t") == ["1 a aa", "2 b edited", "3 new neu"])
        #expect(try triple.rows("SELECT * FROM c") == [])
        #expect(summary.conflicts.map(\.reason) == [.editedAndDeleted])
        #expect(summary.conflicts.map(\.old) == [.deleted])
    }

    @Test(
        "A resolver may choose one of two rows with the same number",
        arguments: [
            (StoreMergePolicy.mergeByPropertyStoreTrump, StoreMergeConflict.Resolution.shared, "2 new neu"),
            (.error, .shared, "2 new neu"), (.overwrite, .old, "2 b edited"), (.rollback, .shared, "2 new neu"),
        ]
    )
    func chosen(_ policy: StoreMergePolicy, _ decision: StoreMergeConflict.Resolution, _ row: String) throws {
        let triple = try PlainTriple(Self.schema)
        try triple.execute("UPDATE t SET w = 'edited' WHERE k = 2", in: "old")
        try triple.execute("DELETE FROM t WHERE k = 2; INSERT INTO t (v, w) VALUES ('new', 'neu')", in: "shared")

        let summary = try merge(triple, policy, decision)

        #expect(try triple.rows("SELECT * FROM t") == ["1 a aa", row])
        #expect(summary.conflicts.map(\.reason) == [.bothChanged])
    }

    @Test("Two rows whose numbers were both reused are kept apart with their reference", arguments: [false, true])
    func parentAndChild(_ hasResolver: Bool) throws {
        let triple = try PlainTriple(
            """
            CREATE TABLE a (k INTEGER PRIMARY KEY, n TEXT, m TEXT); INSERT INTO a VALUES (1, 'a', 'aa'), (2, 'b', 'bb');
            CREATE TABLE c (k INTEGER PRIMARY KEY, a INTEGER REFERENCES a (k), n TEXT, m TEXT);
            INSERT INTO c VALUES (1, 1, 'c', 'cc'), (2, 2, 'd', 'dd');
            """
        )
        try triple.execute(
            "DELETE FROM c WHERE k = 2; DELETE FROM a WHERE k = 2; INSERT INTO a (n, m) VALUES ('new', 'neu');"
                + "INSERT INTO c (a, n, m) VALUES (2, 'child', 'kind')",
            in: "old"
        )
        try triple.execute("UPDATE a SET m = 'edited' WHERE k = 2; UPDATE c SET m = 'edited' WHERE k = 2", in: "shared")

        let summary =
            hasResolver
            ? try merge(triple, .rollback, .old)
            : try triple.merge(MergeSettings(policy: .mergeByPropertyStoreTrump)).0

        #expect(try triple.rows("SELECT * FROM a") == ["1 a aa", "2 b edited", "3 new neu"])
        #expect(try triple.rows("SELECT * FROM c") == ["1 1 c cc", "2 2 d edited", "3 3 child kind"])
        #expect(summary.conflicts.map(\.reason) == [.editedAndDeleted, .editedAndDeleted])
    }

    @Test(
        "Rows that refer to new rows of both sides are not mixed",
        arguments: [StoreMergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .error]
    )
    func references(_ policy: StoreMergePolicy) throws {
        let triple = try PlainTriple(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY, n TEXT); INSERT INTO p VALUES (1, 'one');
            CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT, w TEXT, p INTEGER REFERENCES p (id));
            INSERT INTO t VALUES (1, 'a', 'aa', 1), (2, 'b', 'bb', 1);
            """
        )
        try triple.execute("INSERT INTO p VALUES (2, 'old'); UPDATE t SET p = 2 WHERE k = 2", in: "old")
        try triple.execute(
            "INSERT INTO p VALUES (2, 'two'), (3, 'three'); DELETE FROM t WHERE k = 2; "
                + "INSERT INTO t (v, w, p) VALUES ('new', 'neu', 3)",
            in: "shared"
        )

        let summary = try merge(triple, policy, .old)

        #expect(try triple.rows("SELECT * FROM t") == ["1 a aa 1", "2 new neu 3", "3 b bb 4"])
        #expect(try triple.rows("SELECT * FROM p") == ["1 one", "2 two", "3 three", "4 old"])
        #expect(summary.conflicts.map(\.reason) == [.editedAndDeleted])
    }

    @Test("A rewritten row is merged by columns if its number cannot have been reused")
    func rewritten() throws {
        let triple = try PlainTriple(Self.schema)
        try triple.execute("UPDATE t SET v = 'new', w = 'neu' WHERE k = 1", in: "old")
        try triple.execute("UPDATE t SET w = 'edited' WHERE k = 1", in: "shared")

        try triple.merge()

        #expect(try triple.rows("SELECT * FROM t") == ["1 new edited", "2 b bb"])
    }

    @Test("The last row is merged by columns if it keeps one of its former values", arguments: ["", " AUTOINCREMENT"])
    func edited(_ option: String) throws {
        let triple = try PlainTriple(
            "CREATE TABLE t (k INTEGER PRIMARY KEY\(option), v TEXT, w TEXT, x); INSERT INTO t VALUES (1, 'a', 'aa', 7)"
        )
        // An AUTOINCREMENT table cannot assign a number twice.
        let all = option.isEmpty ? "" : ", x = 8"
        try triple.execute("UPDATE t SET v = 'new', w = 'neu'\(all)", in: "old")
        try triple.execute("UPDATE t SET w = 'edited'", in: "shared")

        try triple.merge()

        #expect(try triple.rows("SELECT v, w FROM t") == ["new edited"])
    }
}
