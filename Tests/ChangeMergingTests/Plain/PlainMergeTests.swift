import ChangeMerging
import SafeFiles
import StoreAccess
import StoreFormat
import TestSupport
import Testing

@Suite("Merging plain SQLite stores")
struct PlainMergeTests {
    static let people = """
        CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, mail TEXT UNIQUE, age INTEGER);
        CREATE TABLE pet (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES person (id), name TEXT);
        INSERT INTO person VALUES (1, 'ann', 'a@x', 30), (2, 'bob', 'b@x', 40), (3, 'cid', 'c@x', 50);
        INSERT INTO pet VALUES (1, 1, 'rex'), (2, 2, 'tom');
        """

    @Test(
        "A column changed by one side takes its value; by both, the shared side's stays and the row is parked"
    )
    func columns() throws {
        let triple = try PlainTriple(Self.people)
        try triple.execute("UPDATE person SET name = 'anna', age = 31 WHERE id = 1", in: "old")
        try triple.execute("UPDATE person SET age = 32 WHERE id = 1; DELETE FROM person WHERE id = 3", in: "shared")
        let (summary, result) = try triple.merge()
        #expect(result.outcome == .merged)
        #expect(try triple.rows("SELECT * FROM person") == ["1 anna a@x 32", "2 bob b@x 40"])
        #expect(summary.updated == 1)
        #expect(summary.conflicts.map(\.property) == ["age"])
        #expect(triple.parked.map(\.values["age"]) == [.integer(31)])
        #expect(summary.parked == 1)
    }

    struct Policy: Sendable {
        let policy: StoreMergePolicy
        let row: String
        let parked: [MergeDirection]
    }

    @Test(
        "The policy decides about columns that both sides changed",
        arguments: [
            Policy(policy: .mergeByPropertyStoreTrump, row: "1 anna s@x 32", parked: [.old]),
            Policy(policy: .newest, row: "1 anna s@x 32", parked: [.old]),
            Policy(policy: .mergeByPropertyObjectTrump, row: "1 anna s@x 31", parked: [.shared]),
            Policy(policy: .overwrite, row: "1 anna a@x 31", parked: [.shared]),
            Policy(policy: .rollback, row: "1 ann s@x 32", parked: [.old]),
        ]
    )
    func policies(_ policy: Policy) throws {
        let triple = try PlainTriple(Self.people)
        try triple.execute("UPDATE person SET name = 'anna', age = 31 WHERE id = 1", in: "old")
        try triple.execute("UPDATE person SET age = 32, mail = 's@x' WHERE id = 1", in: "shared")
        let (summary, _) = try triple.merge(MergeSettings(policy: policy.policy))
        #expect(try triple.rows("SELECT * FROM person WHERE id = 1") == [policy.row])
        #expect(triple.parked.map(\.side) == policy.parked)
        #expect(summary.notes.contains { $0.kind == .timesUnknown } == (policy.policy == .newest))
    }

    @Test("Under the policy error a conflict refuses the merge, and nothing is written")
    func refusesConflicts() throws {
        let triple = try PlainTriple(Self.people)
        try triple.execute("UPDATE person SET age = 31 WHERE id = 1", in: "old")
        try triple.execute("UPDATE person SET age = 32 WHERE id = 1", in: "shared")
        let before = try triple.digest()
        let plan = try triple.plan(MergeSettings(policies: ["person": .error]))
        #expect(plan.summary.refusals == [.conflicts(1)])
        #expect(throws: StoreError.self) {
            try plan.carryOut(MergeRun(epoch: "1", deadline: Deadline(after: .seconds(60))))
        }
        #expect(try triple.digest() == before)
    }

    @Test("If both sides used one key, the old side's row gets a new key and references to it follow")
    func movesKeys() throws {
        let triple = try PlainTriple(Self.people)
        try triple.execute(
            "INSERT INTO person VALUES (4, 'dan', 'd@x', 1); INSERT INTO pet VALUES (3, 4, 'ro')",
            in: "old"
        )
        try triple.execute("INSERT INTO person VALUES (4, 'eve', 'e@x', 2)", in: "shared")
        let plan = try triple.plan()
        var moved: [String] = []
        try plan.forEachRekeyedObject { moved.append("\($0.entity) \($0.old.primaryKey) \($0.new.primaryKey)") }
        #expect(moved == ["person 4 5"])
        try triple.merge()
        #expect(try triple.rows("SELECT id, name FROM person WHERE id > 3") == ["4 eve", "5 dan"])
        #expect(try triple.rows("SELECT * FROM pet WHERE id = 3") == ["3 5 ro"])
    }

    @Test("Equal rows under one key are one row, unless they refer to different rows")
    func equalRows() throws {
        let triple = try PlainTriple(Self.people)
        for (name, owner) in [("old", "dan"), ("shared", "eve")] {
            try triple.execute(
                """
                INSERT INTO person VALUES (9, 'zoe', 'z@x', 1), (4, '\(owner)', '\(owner)@x', 1);
                INSERT INTO pet VALUES (3, 4, 'ro'), (4, 9, 'mi');
                """,
                in: name
            )
        }
        try triple.merge()
        #expect(try triple.rows("SELECT id, name FROM person WHERE id > 3") == ["4 eve", "9 zoe", "10 dan"])
        #expect(try triple.rows("SELECT * FROM pet WHERE id > 2") == ["3 4 ro", "4 9 mi", "5 10 ro"])
    }

    @Test("AUTOINCREMENT keys that the shared side assigned and deleted are not assigned again")
    func autoincrement() throws {
        let triple = try PlainTriple(
            "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT); INSERT INTO t (v) VALUES ('a')"
        )
        try triple.execute("INSERT INTO t (v) VALUES ('old')", in: "old")
        try triple.execute("INSERT INTO t (v) VALUES ('gone'); DELETE FROM t WHERE id = 2", in: "shared")
        try triple.merge()
        #expect(try triple.rows("SELECT * FROM t") == ["1 a", "3 old"])
        #expect(try triple.rows("SELECT seq FROM sqlite_sequence") == ["3"])
    }

    @Test("A row with another row's unique values is merged into that row, and references to it follow")
    func joinsByUniqueValues() throws {
        let triple = try PlainTriple(Self.people)
        try triple.execute(
            "INSERT INTO person VALUES (7, 'dan', 'd@x', NULL); INSERT INTO pet VALUES (3, 7, 'ro')",
            in: "old"
        )
        try triple.execute("INSERT INTO person VALUES (5, 'daniel', 'd@x', NULL)", in: "shared")
        let (summary, _) = try triple.merge()
        #expect(try triple.rows("SELECT * FROM person WHERE id > 3") == ["5 daniel d@x -"])
        #expect(try triple.rows("SELECT * FROM pet WHERE id = 3") == ["3 5 ro"])
        #expect(summary.joined == 1)
        #expect(triple.parked.map(\.values["name"]) == [.text("dan")])
    }

    @Test("A unique value that the shared side moved to another row stays there; the old side's row is parked")
    func takenValues() throws {
        let triple = try PlainTriple(Self.people)
        try triple.execute("UPDATE person SET mail = 'new@x', age = 31 WHERE id = 1", in: "old")
        try triple.execute("UPDATE person SET mail = 'new@x' WHERE id = 2", in: "shared")
        let (summary, _) = try triple.merge()
        #expect(try triple.rows("SELECT * FROM person WHERE id < 3") == ["1 ann a@x 31", "2 bob new@x 40"])
        #expect(summary.conflicts.map(\.reason) == [.uniqueValues])
        #expect(triple.parked.map(\.values["mail"]) == [.text("new@x")])
    }

    @Test("Rows of the old side that exchanged unique values exchange them in the shared store")
    func passedValues() throws {
        let triple = try PlainTriple(Self.people)
        try triple.execute(
            """
            UPDATE person SET mail = 'tmp' WHERE id = 1; UPDATE person SET mail = 'a@x' WHERE id = 2;
            UPDATE person SET mail = 'b@x' WHERE id = 1; DELETE FROM person WHERE id = 3;
            INSERT INTO person VALUES (4, 'dan', 'c@x', 1);
            """,
            in: "old"
        )
        try triple.execute("UPDATE person SET age = 99 WHERE id = 1", in: "shared")
        try triple.merge()
        #expect(try triple.rows("SELECT * FROM person") == ["1 ann b@x 99", "2 bob a@x 40", "4 dan c@x 1"])
        #expect(triple.parked.isEmpty)
    }

    @Test("A row deleted by one side stays or is restored if the other side edited it or added a reference")
    func editAgainstDelete() throws {
        let triple = try PlainTriple(Self.people)
        try triple.execute(
            "DELETE FROM person WHERE id = 3; DELETE FROM pet WHERE id = 1; UPDATE person SET age = 41 WHERE id = 2",
            in: "old"
        )
        try triple.execute(
            """
            INSERT INTO pet VALUES (9, 3, 'new'); UPDATE pet SET name = 'max' WHERE id = 1;
            DELETE FROM pet WHERE id = 2; DELETE FROM person WHERE id = 2;
            """,
            in: "shared"
        )
        let (summary, _) = try triple.merge()
        #expect(try triple.rows("SELECT id, age FROM person") == ["1 30", "2 41", "3 50"])
        #expect(try triple.rows("SELECT * FROM pet") == ["1 1 max", "9 3 new"])
        #expect(summary.restored == 1)
        #expect(summary.notes.filter { $0.kind == .editSurvivedDeletion }.map(\.entity).sorted() == ["person", "pet"])
        #expect(try triple.rows("PRAGMA foreign_key_check").isEmpty)
    }

    @Test("A row with a new reference from the old side is restored; under rollback the new row is parked")
    func partners() throws {
        for policy in [StoreMergePolicy.mergeByPropertyStoreTrump, .rollback] {
            let triple = try PlainTriple(Self.people)
            try triple.execute("INSERT INTO pet VALUES (9, 3, 'new')", in: "old")
            try triple.execute("DELETE FROM person WHERE id = 3", in: "shared")
            try triple.merge(MergeSettings(policy: policy))
            let isKept = policy != .rollback
            #expect(try triple.rows("SELECT id FROM person") == (isKept ? ["1", "2", "3"] : ["1", "2"]))
            #expect(try triple.rows("SELECT id FROM pet") == (isKept ? ["1", "2", "9"] : ["1", "2"]))
            #expect(triple.parked.map(\.reason) == (isKept ? [] : [.partnerGone]))
        }
    }

    @Test("Compound, text and real keys are merged, and rows of two tables follow a moved key")
    func otherKeys() throws {
        let triple = try PlainTriple(
            """
            CREATE TABLE tag (name TEXT PRIMARY KEY, hue INTEGER) WITHOUT ROWID;
            CREATE TABLE item (id INTEGER PRIMARY KEY, v TEXT);
            CREATE TABLE tagged (item INTEGER REFERENCES item (id), tag TEXT REFERENCES tag (name), at REAL,
                PRIMARY KEY (item, tag));
            CREATE TABLE loose (k TEXT PRIMARY KEY, v TEXT);
            INSERT INTO item VALUES (1, 'one'); INSERT INTO tag VALUES ('red', 1);
            INSERT INTO tagged VALUES (1, 'red', 1.5); INSERT INTO loose VALUES (NULL, 'n'), (NULL, 'n'), ('k', 'v');
            """
        )
        try triple.execute(
            """
            INSERT INTO item VALUES (2, 'two'); INSERT INTO tag VALUES ('blue', 2), ('old', 7);
            INSERT INTO tagged VALUES (2, 'blue', 2.5), (2, 'red', NULL);
            DELETE FROM loose WHERE rowid = 1; INSERT INTO loose VALUES (NULL, 'm');
            """,
            in: "old"
        )
        try triple.execute(
            """
            INSERT INTO item VALUES (2, 'zwei'); INSERT INTO tag VALUES ('blue', NULL), ('new', 8);
            INSERT INTO tagged VALUES (2, 'blue', 3.5); INSERT INTO loose VALUES (NULL, 'm');
            """,
            in: "shared"
        )
        try triple.merge()
        #expect(try triple.rows("SELECT * FROM item") == ["1 one", "2 zwei", "3 two"])
        #expect(try triple.rows("SELECT * FROM tag") == ["blue 2", "new 8", "old 7", "red 1"])
        #expect(
            try triple.rows("SELECT * FROM tagged ORDER BY 1, 2")
                == ["1 red 1.5", "2 blue 3.5", "3 blue 2.5", "3 red -"]
        )
        #expect(try triple.rows("SELECT * FROM loose ORDER BY 1, 2") == ["- m", "- n", "k v"])
    }

    @Test("Without a base, equal rows are one row and all others are added")
    func withoutBase() throws {
        let triple = try PlainTriple(Self.people)
        try triple.execute(
            "UPDATE person SET name = 'other' WHERE id = 1; DELETE FROM pet; DELETE FROM person WHERE id = 3",
            in: "old"
        )
        try triple.execute("UPDATE person SET mail = NULL WHERE id = 1", in: "shared")
        try triple.merge(hasBase: false)
        #expect(
            try triple.rows("SELECT * FROM person")
                == ["1 ann - 30", "2 bob b@x 40", "3 cid c@x 50", "4 other a@x 30"]
        )
        #expect(try triple.rows("SELECT id FROM pet") == ["1", "2"])
    }

    @Test("Without a base, an identity matches rows: nulls are filled, and the policy decides the rest")
    func identities() throws {
        let triple = try PlainTriple(Self.people)
        try triple.execute(
            "UPDATE person SET mail = NULL, age = 1 WHERE id = 1; INSERT INTO pet VALUES (5, 1, 'x')",
            in: "old"
        )
        try triple.execute(
            "UPDATE person SET id = 11, mail = NULL, age = NULL WHERE id = 1; DELETE FROM pet",
            in: "shared"
        )
        let settings = MergeSettings(identities: ["person": ["name"], "pet": ["name"]])
        let (summary, _) = try triple.merge(settings, hasBase: false)
        #expect(try triple.rows("SELECT * FROM person") == ["2 bob b@x 40", "3 cid c@x 50", "11 ann - 1"])
        #expect(try triple.rows("SELECT * FROM pet") == ["1 11 rex", "2 2 tom", "5 11 x"])
        #expect(summary.joined == 1)
    }

    @Test("Stores with different table definitions are refused before any write")
    func differentSchemas() throws {
        let triple = try PlainTriple(Self.people)
        try triple.execute("ALTER TABLE pet ADD COLUMN hue TEXT; UPDATE person SET age = 1", in: "old")
        let before = try triple.digest()
        let plan = try triple.plan()
        #expect(plan.summary.refusals == [.definitionsDiffer(table: "pet", changed: .old)])
        #expect(throws: StoreError.self) {
            try plan.carryOut(MergeRun(epoch: "1", deadline: Deadline(after: .seconds(60))))
        }
        #expect(try triple.digest() == before)
    }

    @Test("A merge runs once; its mark does not count as content, and is removed on request")
    func epochs() throws {
        let triple = try PlainTriple(Self.people)
        try triple.execute("UPDATE person SET age = 31 WHERE id = 1", in: "old")
        #expect(try triple.merge().result.outcome == .merged)
        let connection = try triple.connection("shared")
        #expect(try StoreMerger.epoch(of: connection) == "1")
        #expect(try triple.merge().result.outcome == .alreadyDone)
        #expect(try triple.digest() == triple.digest("old"))
        #expect(try StoreSchema(reading: connection).table(named: StoreSchema.mergeEpochTable) == nil)
        try StoreMerger.forgetMarks(of: "1", in: connection, deadline: Deadline(after: .seconds(60)))
        #expect(try StoreMerger.epoch(of: connection) == nil)
        #expect(try triple.merge(epoch: "2").result.outcome == .nothingToDo)
    }

    @Test("A store that changed after planning is not written")
    func changedMeanwhile() throws {
        let triple = try PlainTriple(Self.people)
        try triple.execute("UPDATE person SET age = 31 WHERE id = 1", in: "old")
        let plan = try triple.plan()
        try triple.execute("UPDATE person SET age = 99 WHERE id = 2", in: "shared")
        let error = #expect(throws: StoreError.self) {
            try plan.carryOut(MergeRun(epoch: "1", deadline: Deadline(after: .seconds(60))))
        }
        #expect(error?.code == .changedMeanwhile)
        #expect(try triple.rows("SELECT age FROM person WHERE id = 1") == ["30"])
    }

    @Test("Triggers do not fire, and generated columns, search and spatial indexes include the merged rows")
    func derived() throws {
        let triple = try PlainTriple(
            """
            PRAGMA trusted_schema = ON;
            CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT, size INTEGER AS (length(body)) STORED, seen INTEGER);
            CREATE TABLE log (line TEXT);
            CREATE VIRTUAL TABLE found USING fts5(body, content='note', content_rowid='id');
            CREATE VIRTUAL TABLE kept USING fts5(body);
            CREATE VIRTUAL TABLE place USING rtree(id, x0, x1);
            CREATE TRIGGER added AFTER INSERT ON note BEGIN
                INSERT INTO log VALUES ('added ' || new.id); INSERT INTO kept (rowid, body) VALUES (new.id, new.body);
                INSERT INTO found (rowid, body) VALUES (new.id, new.body);
            END;
            INSERT INTO note (id, body) VALUES (1, 'alpha'); INSERT INTO place VALUES (1, 0, 1);
            """
        )
        for name in ["old", "shared"] { try triple.execute("PRAGMA trusted_schema = ON", in: name) }
        try triple.execute(
            "INSERT INTO note (id, body) VALUES (2, 'beta'); INSERT INTO place VALUES (2, 5, 6)",
            in: "old"
        )
        try triple.execute("INSERT INTO note (id, body) VALUES (2, 'gamma')", in: "shared")
        let (summary, _) = try triple.merge()
        #expect(try triple.rows("SELECT id, body, size FROM note") == ["1 alpha 5", "2 gamma 5", "3 beta 4"])
        #expect(try triple.rows("SELECT line FROM log") == ["added 1", "added 2"])
        for index in ["found", "kept"] {
            #expect(try triple.rows("SELECT rowid FROM \(index) WHERE \(index) MATCH 'beta'") == ["3"])
            #expect(try triple.rows("SELECT rowid FROM \(index) WHERE \(index) MATCH 'gamma'") == ["2"])
            try triple.execute("INSERT INTO \(index) (\(index)) VALUES ('integrity-check')", in: "shared")
        }
        #expect(try triple.rows("SELECT id FROM place WHERE x0 > 4") == ["2"])
        #expect(summary.notes.map(\.kind).contains(.triggersHeldBack))
        #expect(try triple.rows("PRAGMA integrity_check") == ["ok"])
        try triple.execute("INSERT INTO note (id, body) VALUES (8, 'delta')", in: "shared")
        #expect(try triple.rows("SELECT count(*) FROM log") == ["3"])
    }

    @Test("Rows that a constraint rejects only in the shared store are parked")
    func constraints() throws {
        let triple = try PlainTriple(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT, w INTEGER);
            CREATE UNIQUE INDEX odd ON t (lower(v)) WHERE w > 0;
            INSERT INTO t VALUES (1, 'a', 1);
            """
        )
        try triple.execute("INSERT INTO t VALUES (2, 'B', 1), (3, 'c', 1)", in: "old")
        try triple.execute("UPDATE t SET v = 'b'", in: "shared")
        let summary = try triple.merge().summary
        #expect(try triple.rows("SELECT * FROM t") == ["1 b 1", "3 c 1"])
        #expect(triple.parked.map(\.reason) == [.constraint])
        #expect(summary.inserted == 1 && summary.entities["t"]?.inserted == 1 && summary.parked == 1)
        #expect(summary.notes == [MergeNote(.constraintRejected, entity: "t", count: 1)])
    }

    @Test("The summary does not count an insertion or an edit that a CHECK of the shared store rejects")
    func rejectedByCheck() throws {
        let triple = try PlainTriple(
            "CREATE TABLE t (a INTEGER PRIMARY KEY, b CHECK (b > 0)); INSERT INTO t VALUES (1, 1), (2, 2)"
        )
        try triple.execute(
            "PRAGMA ignore_check_constraints=1; INSERT INTO t VALUES (4, -7); UPDATE t SET b = -1 WHERE a = 1",
            in: "old"
        )
        let summary = try triple.merge().summary
        #expect(try triple.rows("SELECT * FROM t") == ["1 1", "2 2"])
        #expect(summary.changesNothing && summary.entities.isEmpty && summary.parked == 2)
        #expect(summary.notes == [MergeNote(.constraintRejected, entity: "t", count: 2)])
        #expect(triple.parked.map(\.values["b"]) == [.integer(-1), .integer(-7)])
    }

    @Test("A table with as many columns as SQLite permits is merged")
    func mostColumns() throws {
        let columns = (1..<2_000).map { "c\($0)" }.joined(separator: ", ")
        let triple = try PlainTriple(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, \(columns)); INSERT INTO t (id) VALUES (1)"
        )
        try triple.execute("INSERT INTO t (id, c5) VALUES (2, 5); UPDATE t SET c1999 = 7 WHERE id = 1", in: "old")
        try triple.merge()
        #expect(try triple.rows("SELECT id, c5, c1999 FROM t ORDER BY id") == ["1 - 7", "2 5 -"])
    }
}
