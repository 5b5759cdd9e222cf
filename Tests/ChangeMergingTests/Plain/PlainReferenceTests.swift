import ChangeMerging
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@Suite("References between rows in a merge of plain SQLite stores")
struct PlainReferenceTests {
    @Test("Rows of two tables that refer to each other are matched only if both are equal")
    func circle() throws {
        let triple = try PlainTriple(
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY, b INTEGER REFERENCES b (id));
            CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a (id), v TEXT);
            """
        )
        for name in ["old", "shared"] {
            try triple.execute("INSERT INTO a VALUES (1, 1); INSERT INTO b VALUES (1, 1, '\(name)')", in: name)
        }

        let (summary, _) = try triple.merge()

        // The rows of the first table differ because those of the second do.
        #expect(try triple.rows("SELECT * FROM a") == ["1 1", "2 2"])
        #expect(try triple.rows("SELECT * FROM b") == ["1 1 shared", "2 2 old"])
        #expect(summary.conflicts.isEmpty)
    }

    @Test("A row that refers to itself still does under another key")
    func ownReference() throws {
        let triple = try PlainTriple(
            "CREATE TABLE a (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES a (id), v TEXT)"
        )
        for name in ["old", "shared"] { try triple.execute("INSERT INTO a VALUES (1, 1, '\(name)')", in: name) }

        try triple.merge()

        #expect(try triple.rows("SELECT * FROM a") == ["1 1 shared", "2 2 old"])
    }

    @Test("A deleted row is not restored for a row that is parked because its unique value is taken")
    func parkedRow() throws {
        let triple = try PlainTriple(
            PlainMergeTests.people
                + """
                CREATE TABLE badge (id INTEGER PRIMARY KEY, tag TEXT UNIQUE, owner INTEGER REFERENCES person (id));
                INSERT INTO badge VALUES (1, 'a', 1), (2, 'c', 2);
                """
        )
        // The first badge cannot release its tag, because the shared side gave the new one to the second badge.
        try triple.execute(
            "UPDATE badge SET tag = 'b' WHERE id = 1; INSERT INTO badge VALUES (9, 'a', 3)",
            in: "old"
        )
        try triple.execute("UPDATE badge SET tag = 'b' WHERE id = 2; DELETE FROM person WHERE id = 3", in: "shared")

        let (summary, _) = try triple.merge()

        #expect(try triple.rows("SELECT id FROM person") == ["1", "2"])
        #expect(try triple.rows("SELECT * FROM badge") == ["1 a 1", "2 b 2"])
        #expect(summary.conflicts.map(\.reason) == [.uniqueValues, .uniqueValues])
        #expect(triple.parked.map(\.key) == [[.integer(1)], [.integer(9)]])
    }

    @Test("A row that is restored for a new row without a key gets its own deleted parent back, too")
    func restoredChain() throws {
        let triple = try PlainTriple(
            """
            CREATE TABLE house (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE room (id INTEGER PRIMARY KEY, house INTEGER REFERENCES house (id));
            CREATE TABLE line (room INTEGER REFERENCES room (id), text TEXT);
            INSERT INTO house VALUES (1, 'a'), (2, 'b'); INSERT INTO room VALUES (1, 1), (2, 2);
            """
        )
        try triple.execute("INSERT INTO line VALUES (1, 'new')", in: "old")
        try triple.execute("DELETE FROM room; DELETE FROM house", in: "shared")

        let (summary, _) = try triple.merge()

        #expect(try triple.rows("SELECT * FROM house") == ["1 a"])
        #expect(try triple.rows("SELECT * FROM room") == ["1 1"])
        #expect(try triple.rows("SELECT * FROM line") == ["1 new"])
        #expect(summary.restored == 2)
        #expect(triple.parked.isEmpty)
    }
}
