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

    /// A merge with a resolver that decides about columns and about the row.
    private func merge(
        _ triple: PlainTriple,
        _ policy: StoreMergePolicy,
        columns: StoreMergeConflict.Resolution,
        row: StoreMergeConflict.Resolution
    ) throws -> MergeSummary {
        var settings = MergeSettings(policy: policy)
        settings.resolver = ConflictResolver { $0.map { $0.reason == .editedAndDeleted ? row : columns } }
        return try triple.merge(settings).0
    }

    /// Decisions about the columns that would mix the rows, under each policy that leaves the rest to one side.
    private static let mixing: [(StoreMergePolicy, StoreMergeConflict.Resolution)] = [
        (.mergeByPropertyStoreTrump, .old), (.rollback, .old), (.overwrite, .shared), (.error, .old),
        (.mergeByPropertyObjectTrump, .old), (.mergeByPropertyStoreTrump, .value(.text(SQLText("third")))),
    ]

    @Test("A resolver's decisions never mix the shared side's new row with the old side's edit", arguments: mixing)
    func resolverAndSharedRow(_ policy: StoreMergePolicy, _ columns: StoreMergeConflict.Resolution) throws {
        for (row, rows) in [
            (StoreMergeConflict.Resolution.old, ["1 a aa", "2 new neu", "3 b edited"]),
            (.shared, ["1 a aa", "2 new neu"]),
        ] {
            let triple = try PlainTriple(Self.schema)
            try triple.execute("UPDATE t SET w = 'edited' WHERE k = 2", in: "old")
            try triple.execute("DELETE FROM t WHERE k = 2; INSERT INTO t (v, w) VALUES ('new', 'neu')", in: "shared")

            let summary = try merge(triple, policy, columns: columns, row: row)

            #expect(try triple.rows("SELECT * FROM t") == rows)
            #expect(summary.conflicts.map(\.reason) == [.editedAndDeleted])
            #expect(summary.conflicts.map(\.isResolved) == [true])
        }
    }

    @Test(
        "A resolver's decisions never mix the old side's new row with the shared side's edit",
        arguments: [
            (StoreMergePolicy.mergeByPropertyStoreTrump, StoreMergeConflict.Resolution.shared), (.rollback, .old),
            (.overwrite, .shared), (.error, .shared), (.mergeByPropertyObjectTrump, .shared),
        ]
    )
    func resolverAndOldRow(_ policy: StoreMergePolicy, _ columns: StoreMergeConflict.Resolution) throws {
        for (row, rows) in [
            (StoreMergeConflict.Resolution.shared, ["1 a aa", "2 b edited", "3 new neu"]),
            (.old, ["1 a aa", "3 new neu"]),
        ] {
            let triple = try PlainTriple(Self.schema)
            try triple.execute(
                "DELETE FROM c; DELETE FROM t WHERE k = 2; INSERT INTO t (v, w) VALUES ('new', 'neu')",
                in: "old"
            )
            try triple.execute("UPDATE t SET w = 'edited' WHERE k = 2", in: "shared")

            let summary = try merge(triple, policy, columns: columns, row: row)

            #expect(try triple.rows("SELECT * FROM t") == rows)
            #expect(summary.conflicts.map(\.reason) == [.editedAndDeleted])
        }
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

        let summary = try merge(triple, policy, columns: decision, row: decision)

        #expect(try triple.rows("SELECT * FROM t") == ["1 a aa", row])
        #expect(summary.conflicts.map(\.reason) == [.bothChanged])
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

        let summary = try merge(triple, policy, columns: .old, row: .old)

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
