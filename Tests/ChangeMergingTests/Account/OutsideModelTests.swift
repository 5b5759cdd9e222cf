import ChangeMerging
import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting
import Testing

@Suite("Merging a Core Data store's content outside the model")
struct OutsideModelTests {
    /// A base with three habits, and the objects that `sql` creates.
    private static func triple(_ sql: String) throws -> MergeTriple {
        try MergeTriple(StoreMergeTests.model) { store in
            for number in 1...3 {
                try store.insert("Habit", ["name": .text("habit \(number)"), "code": .text("c\(number)")])
            }
            try store.connection.execute(sql)
        }
    }

    private static func rows(_ sql: String, _ store: MergeStore) throws -> [[SQLValue]] {
        var found: [[SQLValue]] = []
        try store.connection.forEachRow(sql) { row in
            found.append((0..<row.columnCount).map { row.value($0) })
        }
        return found
    }

    @Test("Rows of an application's own tables are merged, with new keys if both stores used one")
    func ownTables() throws {
        let triple = try Self.triple(
            """
            CREATE TABLE own (id INTEGER PRIMARY KEY, v); INSERT INTO own VALUES (1, 1), (2, 2);
            CREATE TABLE named (k TEXT PRIMARY KEY, v) WITHOUT ROWID; CREATE TABLE bag (v);
            """
        )
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try old.connection.execute(
            """
            UPDATE own SET v = 10 WHERE id = 1; DELETE FROM own WHERE id = 2; INSERT INTO own VALUES (3, 30);
            INSERT INTO named VALUES ('late', 1); INSERT INTO bag VALUES (5)
            """
        )
        try shared.connection.execute("INSERT INTO own VALUES (3, 33)")

        let counts = try triple.plan().summary.entities
        let (_, result) = try triple.merge()

        #expect(result.outcome == .merged)
        #expect(counts["own"].map { [$0.inserted, $0.updated, $0.deleted] } == [1, 1, 1])
        #expect([counts["named"]?.inserted, counts["bag"]?.inserted] == [1, 1])
        #expect(
            try Self.rows("SELECT * FROM own", shared) == [
                [.integer(1), .integer(10)], [.integer(3), .integer(33)], [.integer(4), .integer(30)],
            ]
        )
        #expect(try Self.rows("SELECT v FROM named", shared) == [[.integer(1)]])
        #expect(try Self.rows("SELECT v FROM bag", shared) == [[.integer(5)]])
    }

    @Test("A merge of an application's own rows and header fields is rolled back")
    func undo() throws {
        let triple = try Self.triple(
            "CREATE TABLE own (id INTEGER PRIMARY KEY, v); INSERT INTO own VALUES (1, 1); CREATE TABLE bag (v)"
        )
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try old.connection.execute(
            "UPDATE own SET v = 2; INSERT INTO bag VALUES (5), (5); PRAGMA user_version = 4"
        )
        let record = try triple.recordedMerge()
        #expect(try Self.rows("SELECT v FROM bag", shared).count == 2)

        let undone = try MergeUndo(reading: record)
            .undo(in: shared.place(), deadline: Deadline(after: .seconds(60)))

        #expect(undone.updated == 1)
        #expect(undone.deleted == 2)
        #expect(try Self.rows("SELECT v FROM own", shared) == [[.integer(1)]])
        #expect(try Self.rows("SELECT v FROM bag", shared).isEmpty)
        #expect(try shared.connection.value("PRAGMA user_version") == .integer(0))
    }

    @Test("A column outside the model is copied with its object, and merged by the policy")
    func unknownColumns() throws {
        let triple = try Self.triple("ALTER TABLE ZHABIT ADD COLUMN ZOWN DEFAULT 7")
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try old.connection.execute(
            "UPDATE ZHABIT SET ZOWN = x'00ff' WHERE Z_PK = 1; UPDATE ZHABIT SET ZOWN = 'old' WHERE Z_PK = 2"
        )
        let late = try old.insert("Habit", ["code": .text("late")])
        try old.connection.execute("UPDATE ZHABIT SET ZOWN = 1.5 WHERE Z_PK = \(late.primaryKey)")
        try shared.connection.execute("UPDATE ZHABIT SET ZOWN = 'shared' WHERE Z_PK = 2")
        let parked = ParkedRowRestorer()

        let (plan, _) = try triple.merge(park: { parked.rows.append($0) })

        #expect(
            try Self.rows("SELECT ZOWN FROM ZHABIT ORDER BY Z_PK", shared) == [
                [.blob([0, 255])], [.text("shared")], [.integer(7)], [.real(1.5)],
            ]
        )
        #expect(plan.conflicts.map(\.property) == ["column ZOWN"])
        #expect(parked.rows.map { $0.values["column ZOWN"] } == [.text("old")])
    }

    @Test("A value whose column the shared store no longer has is parked with its object, and the rest is merged")
    func droppedColumn() throws {
        let triple = try Self.triple("ALTER TABLE ZHABIT ADD COLUMN ZOWN")
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try old.connection.execute("UPDATE ZHABIT SET ZOWN = 5, ZNAME = 'late' WHERE Z_PK = 1")
        try shared.connection.execute("ALTER TABLE ZHABIT DROP COLUMN ZOWN")
        let parked = ParkedRowRestorer()

        let (plan, _) = try triple.merge(park: { parked.rows.append($0) })

        #expect(try shared.value("name", of: StoreMergeTests.habit(1)) == .text("late"))
        #expect(parked.rows.map { $0.values["column ZOWN"] } == [.integer(5)])
        #expect(plan.notes == [MergeNote(.propertyLacking, entity: "Habit", property: "column ZOWN", count: 1)])
    }

    @Test("A search index that an application fills itself is merged row by row")
    func searchIndex() throws {
        let triple = try Self.triple(
            "CREATE VIRTUAL TABLE words USING fts5(x); INSERT INTO words VALUES ('first')"
        )
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try old.connection.execute("INSERT INTO words VALUES ('late')")
        try triple.merge()
        #expect(try Self.rows("SELECT x FROM words WHERE words MATCH 'late'", shared) == [[.text("late")]])
        try shared.connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    }

    private static let index = """
        CREATE VIRTUAL TABLE words USING fts5(ZNAME, content='ZHABIT', content_rowid='Z_PK');
        INSERT INTO words (words) VALUES ('rebuild');
        """

    private static func triggers(when condition: String = "") -> String {
        """
        CREATE TRIGGER words_insert AFTER INSERT ON ZHABIT \(condition) BEGIN
            INSERT INTO words (rowid, ZNAME) VALUES (new.Z_PK, new.ZNAME); END;
        CREATE TRIGGER words_update AFTER UPDATE ON ZHABIT BEGIN
            INSERT INTO words (words, rowid, ZNAME) VALUES ('delete', old.Z_PK, old.ZNAME);
            INSERT INTO words (rowid, ZNAME) VALUES (new.Z_PK, new.ZNAME); END;
        CREATE TRIGGER words_delete AFTER DELETE ON ZHABIT BEGIN
            INSERT INTO words (words, rowid, ZNAME) VALUES ('delete', old.Z_PK, old.ZNAME); END;
        """
    }

    @Test(
        "A search index over an entity's table matches it after a merge and after `unmerge`",
        arguments: [triggers(), ""]
    )
    func indexOverEntity(_ triggers: String) throws {
        let triple = try Self.triple(Self.index + triggers)
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        // Applications trust their schema.
        try old.connection.execute("PRAGMA trusted_schema=ON")
        try old.insert("Habit", ["name": .text("zebra"), "code": .text("late")])
        try old.save { try $0.update(StoreMergeTests.habit(1), ["name": .text("zebra")]) }
        try old.connection.execute("INSERT INTO words (words) VALUES ('rebuild')")
        let definitions = try StoreDefinitions(reading: shared.connection).digest
        let record = try triple.recordedMerge()

        let found = "SELECT rowid FROM words WHERE words MATCH 'zebra' ORDER BY rowid"
        let check = "INSERT INTO words (words, rank) VALUES ('integrity-check', 1)"
        #expect(try Self.rows(found, shared) == [[.integer(1)], [.integer(4)]])
        try shared.connection.execute(check)
        #expect(try StoreDefinitions(reading: shared.connection).digest == definitions)

        _ = try MergeUndo(reading: record)
            .undo(in: shared.place(), deadline: Deadline(after: .seconds(60)))
        #expect(try Self.rows(found, shared).isEmpty)
        try shared.connection.execute(check)
        #expect(try StoreDefinitions(reading: shared.connection).digest == definitions)
    }

    @Test("A changed search index whose triggers index only some rows is refused")
    func partialIndex() throws {
        let triple = try Self.triple(Self.index + Self.triggers(when: "WHEN new.ZGOAL > 1"))
        let old = try triple.store("old")
        try old.connection.execute("PRAGMA trusted_schema=ON")
        try old.insert("Habit", ["name": .text("zebra"), "code": .text("late"), "goal": .integer(2)])
        #expect(try triple.plan().summary.refusals == [.notCarried("the content of the virtual table words")])
    }

    @Test("A spatial index kept by triggers follows its objects; direct writes to it are refused")
    func followingIndex() throws {
        let triggers = """
            CREATE VIRTUAL TABLE areas USING rtree(id, low, high);
            INSERT INTO areas SELECT Z_PK, 0, 1 FROM ZHABIT;
            CREATE TRIGGER areas_update AFTER UPDATE OF ZGOAL ON ZHABIT BEGIN
                UPDATE areas SET high = new.ZGOAL WHERE id = new.Z_PK; END;
            """
        let triple = try Self.triple(triggers)
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try old.save { try $0.update(StoreMergeTests.habit(1), ["goal": .integer(9)]) }
        try triple.merge()
        #expect(try Self.rows("SELECT high FROM areas WHERE id = 1", shared) == [[.real(9.0)]])

        let written = try Self.triple(triggers)
        try written.store("old").connection.execute("UPDATE areas SET high = 7 WHERE id = 2")
        #expect(try written.plan().summary.refusals == [.notCarried("the content of the virtual table areas")])
    }

    @Test("A changed table that an entity's triggers fill is refused, because they would fill it twice")
    func triggeredTable() throws {
        let triple = try Self.triple(
            """
            CREATE TABLE words (id INTEGER PRIMARY KEY, x);
            CREATE TRIGGER words_insert AFTER INSERT ON ZHABIT BEGIN INSERT INTO words (x) VALUES (new.ZNAME); END;
            """
        )
        try triple.store("old").insert("Habit", ["code": .text("late")])
        #expect(try triple.plan().summary.refusals == [.notCarried("the content of the table words")])
    }

    @Test("An application's metadata key is merged; for one that both stores set, the policy decides")
    func metadata() throws {
        let triple = try Self.triple("")
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try MetadataWriter.update(["own": .string("late"), "both": .integer(1)], in: old.connection)
        try MetadataWriter.update(["both": .integer(2)], in: shared.connection)
        let (plan, _) = try triple.merge()
        let values = try #require(try StoreMetadata(reading: shared.connection)).values
        #expect(values["own"] == .string("late"))
        #expect(values["both"] == .integer(2))
        #expect(plan.conflicts.map(\.property) == ["both"])
    }

    @Test("Rows that only CloudKit's mirror wrote prevent the merge")
    func mirrorAlone() throws {
        let triple = try Self.triple(
            "CREATE TABLE ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY, ZENTITYID, ZENTITYPK)"
        )
        try triple.store("old").connection.execute("INSERT INTO ANSCKRECORDMETADATA VALUES (1, 1, 1)")
        #expect(try triple.plan().summary.refusals == [.cloudMirrorInBothPlaces])
    }

    @Test("A search index over an entity's table matches it after a merge that only updates objects")
    func indexOverUpdates() throws {
        let triple = try Self.triple(Self.index)
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try old.save { try $0.update(StoreMergeTests.habit(1), ["name": .text("zebra")]) }
        try old.connection.execute("INSERT INTO words (words) VALUES ('rebuild')")

        #expect(try triple.merge().result.outcome == .merged)

        let found = "SELECT rowid FROM words WHERE words MATCH 'zebra'"
        #expect(try Self.rows(found, shared) == [[.integer(1)]])
        try shared.connection.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")
    }

    @Test("The rollback of a merge counts the rows without a key that it inserts again")
    func undoOfDeletion() throws {
        let triple = try Self.triple("CREATE TABLE bag (v); INSERT INTO bag VALUES (5), (6), (7)")
        let shared = try triple.store("shared")
        try triple.store("old").connection.execute("DELETE FROM bag WHERE v < 7")
        let record = try triple.recordedMerge()
        #expect(try Self.rows("SELECT v FROM bag", shared) == [[.integer(7)]])

        let undone = try MergeUndo(reading: record)
            .undo(in: shared.place(), deadline: Deadline(after: .seconds(60)))

        #expect((undone.inserted, undone.updated, undone.deleted) == (2, 0, 0))
        #expect(
            try Self.rows("SELECT v FROM bag ORDER BY v", shared) == [[.integer(5)], [.integer(6)], [.integer(7)]]
        )
    }
}
