import ChangeMerging
import SafeFiles
import StoreFormat
import TestSupport
import Testing

@Suite("Repeated merges of plain SQLite stores")
struct PlainMovedKeyTests {
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
        var moved: [RekeyedObject] = []
        try triple.plan().forEachRekeyedObject { moved.append($0) }
        try triple.merge()
        #expect(moved.map(\.new.primaryKey) == [5])
        // The base of the next merge is the old store at the time of this one.
        try triple.folder.write("then", triple.folder.bytes("old"))
        try triple.execute(
            """
            UPDATE person SET age = 7 WHERE id = 4; DELETE FROM pet WHERE id = 3; UPDATE pet SET name = 'max' WHERE id = 4;
            UPDATE friend SET n = 2 WHERE b = 1; DELETE FROM friend WHERE b = 2; DELETE FROM line WHERE text = 'x';
            INSERT INTO person VALUES (5, 'fay', 'f@x', 3); INSERT INTO pet VALUES (5, 5, 'new'), (6, 4, 'more');
            """,
            in: "old"
        )
        let plan = try StoreMerger(
            base: MergePlace(triple.connection("then")),
            old: MergePlace(triple.connection("old")),
            shared: MergePlace(triple.connection("shared")),
            moved: moved
        )
        .plan()
        _ = try plan.carryOut(MergeRun(epoch: "2", deadline: Deadline(after: .seconds(60))))
        #expect(plan.summary.conflicts.isEmpty)
        #expect(
            try triple.rows("SELECT id, name, age FROM person WHERE id > 3") == ["4 eve 2", "5 dan 7", "6 fay 3"]
        )
        #expect(try triple.rows("SELECT * FROM pet WHERE id > 2") == ["4 5 max", "5 6 new", "6 5 more"])
        #expect(try triple.rows("SELECT * FROM friend") == ["5 1 2"])
        #expect(try triple.rows("SELECT * FROM line ORDER BY 1, 2") == ["4 x", "5 y"])
        moved = []
        try plan.forEachRekeyedObject { moved.append($0) }
        #expect(moved.map(\.old.primaryKey) == [5])
    }
}
