import ChangeMerging
import SafeFiles
import StoreFormat
import TestSupport
import Testing

@Suite("Repeated merges of plain SQLite stores")
struct PlainMovedKeyTests {
    /// Merges, changes the old store, and merges again; returns the keys that the first merge moved, and the last plan.
    private static func mergeTwice(
        _ triple: PlainTriple,
        changing sql: String
    ) throws -> (moved: [RekeyedObject], plan: any PlannedMerge) {
        var moved: [RekeyedObject] = []
        try triple.plan().forEachRekeyedObject { moved.append($0) }
        try triple.merge()
        // The base of the next merge is the old store at the time of this one.
        try triple.folder.write("then", triple.folder.bytes("old"))
        try triple.execute(sql, in: "old")
        let plan = try StoreMerger(
            base: MergePlace(triple.connection("then")),
            old: MergePlace(triple.connection("old")),
            shared: MergePlace(triple.connection("shared")),
            moved: moved
        )
        .plan()
        _ = try plan.carryOut(MergeRun(epoch: "2", deadline: Deadline(after: .seconds(60))))
        return (moved, plan)
    }

    @Test("Rows that an earlier merge gave other keys are matched in the next merge")
    func movedBefore() throws {
        let triple = try PlainTriple(
            PlainMergeTests.people
                + """
                CREATE TABLE friend (a INTEGER REFERENCES person (id), b INTEGER REFERENCES person (id), n INTEGER,
                    PRIMARY KEY (a, b));
                CREATE TABLE line (who INTEGER REFERENCES person (id), text TEXT);
                """
        )
        try triple.execute(
            """
            INSERT INTO person VALUES (4, 'dan', 'd@x', 1); INSERT INTO pet VALUES (3, 4, 'ro'), (4, 4, 'mi');
            INSERT INTO friend VALUES (4, 1, 1), (4, 2, 1); INSERT INTO line VALUES (4, 'x'), (4, 'y');
            """,
            in: "old"
        )
        try triple.execute(
            "INSERT INTO person VALUES (4, 'eve', 'e@x', 2); INSERT INTO line VALUES (4, 'x')",
            in: "shared"
        )
        let (moved, plan) = try Self.mergeTwice(
            triple,
            changing: """
                UPDATE person SET age = 7 WHERE id = 4; DELETE FROM pet WHERE id = 3;
                UPDATE pet SET name = 'max' WHERE id = 4; UPDATE friend SET n = 2 WHERE b = 1;
                DELETE FROM friend WHERE b = 2; DELETE FROM line WHERE text = 'x';
                INSERT INTO person VALUES (5, 'fay', 'f@x', 3); INSERT INTO pet VALUES (5, 5, 'new'), (6, 4, 'more');
                """
        )
        #expect(moved.map(\.new.primaryKey) == [5])
        #expect(plan.summary.conflicts.isEmpty)
        #expect(
            try triple.rows("SELECT id, name, age FROM person WHERE id > 3") == ["4 eve 2", "5 dan 7", "6 fay 3"]
        )
        #expect(try triple.rows("SELECT * FROM pet WHERE id > 2") == ["4 5 max", "5 6 new", "6 5 more"])
        #expect(try triple.rows("SELECT * FROM friend") == ["5 1 2"])
        #expect(try triple.rows("SELECT * FROM line ORDER BY 1, 2") == ["4 x", "5 y"])
        var movedLater: [RekeyedObject] = []
        try plan.forEachRekeyedObject { movedLater.append($0) }
        #expect(movedLater.map(\.old.primaryKey) == [5])
    }

    private static let lines = "CREATE TABLE line (who INTEGER REFERENCES person (id), data);"

    /// What both sides add before the first merge, what the old side deletes after it, and the people that remain.
    struct Deletion: Sendable {
        let old: String
        let shared: String
        let sql: String
        let people: [String]
    }

    @Test(
        "A row is deleted although a row with a moved key refers to it, if the old store left that reference dangling",
        arguments: [
            Deletion(
                old: "INSERT INTO pet VALUES (3, 2, 'ro')",
                shared: "INSERT INTO pet VALUES (3, 1, 'mi')",
                sql: "DELETE FROM person WHERE id = 2",
                people: ["1 ann", "3 cid"]
            ),
            Deletion(
                old: "INSERT INTO person VALUES (4, 'dan', 'd@x', 1); INSERT INTO line VALUES (4, 'x')",
                shared: "INSERT INTO person VALUES (4, 'eve', 'e@x', 2)",
                sql: "DELETE FROM person WHERE id = 4",
                people: ["1 ann", "2 bob", "3 cid", "4 eve"]
            ),
        ]
    )
    func danglingReferences(_ deletion: Deletion) throws {
        let triple = try PlainTriple(PlainMergeTests.people + Self.lines)
        try triple.execute(deletion.old, in: "old")
        try triple.execute(deletion.shared, in: "shared")

        _ = try Self.mergeTwice(triple, changing: deletion.sql)

        #expect(try triple.rows("SELECT id, name FROM person") == deletion.people)
    }

    @Test("The deletion of a large value that refers to a moved row is merged")
    func largeValue() throws {
        let triple = try PlainTriple(PlainMergeTests.people + Self.lines)
        try triple.execute(
            "INSERT INTO person VALUES (4, 'dan', 'd@x', 1); "
                + "INSERT INTO line VALUES (4, zeroblob(300000)), (4, randomblob(300000))",
            in: "old"
        )
        try triple.execute("INSERT INTO person VALUES (4, 'eve', 'e@x', 2)", in: "shared")

        _ = try Self.mergeTwice(triple, changing: "DELETE FROM line WHERE data = zeroblob(300000)")

        #expect(try triple.rows("SELECT who, data = zeroblob(300000) FROM line") == ["5 0"])
    }
}
