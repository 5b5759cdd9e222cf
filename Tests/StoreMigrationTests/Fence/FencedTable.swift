import StoreAccess
import StoreFixtures
import TestSupport
import Testing

/// A kind of table, every way to write to it, and the effect of a fence on each.
struct FencedTable: CustomTestStringConvertible, Sendable {
    /// The writer's result.
    enum Answer: Sendable {
        /// An error that names the new path.
        case refused
        /// An error of the table's module, without the fence's message.
        case failed
        /// Acknowledged; the content is unchanged.
        case harmless
        /// Acknowledged or not, because the write only rearranges content or ignores a refusal; the content is
        /// unchanged.
        case ineffective
    }

    let testDescription: String
    /// The SQL that creates the store, after the journal mode is set.
    let build: @Sendable (_ folder: ScratchFolder, _ mode: String) throws -> Void
    /// An ordinary reader's query.
    let reading: String
    let writes: [(sql: String, answer: Answer)]
    /// The app's own triggers.
    var triggers: [String] = []

    init(_ testDescription: String, sql: String, reading: String, triggers: [String] = [], writes: [(String, Answer)]) {
        self.testDescription = testDescription
        build = { folder, mode in try folder.makeStore("PRAGMA journal_mode=\(mode);" + sql) }
        self.reading = reading
        self.triggers = triggers
        self.writes = writes.map { (sql: $0.0, answer: $0.1) }
    }

    /// A store whose triggers write to virtual tables: created by a program with trusted schema, statement by
    /// statement.
    init(
        _ testDescription: String,
        statements: [String],
        reading: String,
        triggers: [String],
        writes: [(String, Answer)]
    ) {
        self.testDescription = testDescription
        build = { folder, mode in
            let program = try StoreWriterProcess(folder.location("store.sqlite").path)
            for statement in ["PRAGMA journal_mode=\(mode)"] + statements {
                let answer = try program.execute(statement)
                #expect(!answer.hasPrefix("error"), "\(statement): \(answer)")
            }
            #expect(program.waitForExit() == 0)
        }
        self.reading = reading
        self.triggers = triggers
        self.writes = writes.map { (sql: $0.0, answer: $0.1) }
    }

    init(_ testDescription: String, recipe: String, reading: String, writes: [(String, Answer)]) {
        self.testDescription = testDescription
        build = { folder, mode in
            let text = "options:\n  journalMode: \(mode == "wal" ? "wal" : "rollback")\n  history: true\n" + recipe
            try RecipeBuilder.build(RecipeReader.recipe(from: text), at: folder.location("store.sqlite"))
        }
        self.reading = reading
        self.writes = writes.map { (sql: $0.0, answer: $0.1) }
    }
}

extension FencedTable {
    static let all = [
        ordinary, withoutRowID, fullText5, fullText5OverAnotherTable, fullText5WithoutContent, fullText4, spatial,
        coreData,
    ]

    private static let ordinary = FencedTable(
        "an ordinary table",
        sql: """
            CREATE TABLE habit (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
            CREATE TABLE log (text);
            CREATE TRIGGER habit_added AFTER INSERT ON habit BEGIN INSERT INTO log VALUES (NEW.name); END;
            INSERT INTO habit VALUES (1, 'read'), (2, 'run');
            """,
        reading: "SELECT count(*) FROM habit",
        triggers: ["habit_added"],
        writes: [
            ("INSERT INTO habit (name) VALUES ('late')", .refused),
            ("INSERT OR REPLACE INTO habit VALUES (1, 'late')", .refused),
            ("INSERT OR IGNORE INTO habit VALUES (3, 'late')", .refused),
            ("INSERT INTO habit VALUES (1, 'late') ON CONFLICT (id) DO UPDATE SET name = 'late'", .refused),
            ("INSERT INTO habit VALUES (1, 'late') ON CONFLICT DO NOTHING", .refused),
            ("REPLACE INTO habit VALUES (9, 'read')", .refused),
            ("UPDATE habit SET name = 'late' WHERE id = 1", .refused),
            ("UPDATE OR IGNORE habit SET name = 'late' WHERE id = 1", .refused),
            ("DELETE FROM habit WHERE id = 1", .refused),
            ("DELETE FROM habit", .refused),
            ("INSERT INTO log VALUES ('late')", .refused),
        ]
    )

    private static let withoutRowID = FencedTable(
        "a table without rowid",
        sql: """
            CREATE TABLE place (country TEXT, number INTEGER, name TEXT, PRIMARY KEY (country, number)) WITHOUT ROWID;
            INSERT INTO place VALUES ('NO', 1, 'Bergen'), ('NO', 2, 'Oslo');
            """,
        reading: "SELECT count(*) FROM place",
        writes: [
            ("INSERT INTO place VALUES ('SE', 1, 'late')", .refused),
            ("INSERT OR REPLACE INTO place VALUES ('NO', 1, 'late')", .refused),
            ("INSERT OR IGNORE INTO place VALUES ('NO', 3, 'late')", .refused),
            (
                "INSERT INTO place VALUES ('NO', 1, 'late') ON CONFLICT (country, number) DO UPDATE SET name = 'late'",
                .refused
            ),
            ("UPDATE place SET name = 'late' WHERE number = 1", .refused),
            ("DELETE FROM place WHERE number = 1", .refused),
        ]
    )

    private static let rows = """
        INSERT INTO note (rowid, title, body) VALUES (1, 'First', 'the body of one');
        INSERT INTO note (rowid, title, body) VALUES (2, 'Second', 'the body of two');
        INSERT INTO note (rowid, title, body) VALUES (3, 'Third', 'the body of three');
        """

    private static let fullText5 = FencedTable(
        "FTS5",
        sql: "CREATE VIRTUAL TABLE note USING fts5(title, body);" + rows,
        reading: "SELECT count(*) FROM note WHERE note MATCH 'body'",
        writes: [
            ("INSERT INTO note (title, body) VALUES ('late', 'late')", .failed),
            ("INSERT OR REPLACE INTO note (rowid, title, body) VALUES (1, 'late', 'late')", .failed),
            ("INSERT OR IGNORE INTO note (rowid, title, body) VALUES (9, 'late', 'late')", .failed),
            ("UPDATE note SET body = 'late' WHERE rowid = 1", .failed),
            ("DELETE FROM note WHERE rowid = 1", .failed),
            ("DELETE FROM note", .failed),
            ("INSERT INTO note (note) VALUES ('optimize')", .ineffective),
            ("INSERT INTO note (note, rank) VALUES ('merge', 500)", .ineffective),
            ("INSERT INTO note (note) VALUES ('rebuild')", .failed),
        ]
    )

    private static let fullText5OverAnotherTable = FencedTable(
        "FTS5 over another table",
        statements: [
            "CREATE TABLE entry (id INTEGER PRIMARY KEY, title TEXT, body TEXT)",
            "CREATE VIRTUAL TABLE note USING fts5(title, body, content='entry', content_rowid='id')",
            "CREATE TRIGGER entry_added AFTER INSERT ON entry BEGIN "
                + "INSERT INTO note (rowid, title, body) VALUES (NEW.id, NEW.title, NEW.body); END",
            "CREATE TRIGGER entry_removed AFTER DELETE ON entry BEGIN "
                + "INSERT INTO note (note, rowid, title, body) VALUES ('delete', OLD.id, OLD.title, OLD.body); END",
            "INSERT INTO entry VALUES (1, 'First', 'the body of one'), (2, 'Second', 'the body of two')",
        ],
        reading: "SELECT count(*) FROM note WHERE note MATCH 'body'",
        triggers: ["entry_added", "entry_removed"],
        writes: [
            ("INSERT INTO entry (title, body) VALUES ('late', 'late')", .refused),
            ("UPDATE entry SET body = 'late' WHERE id = 1", .refused),
            ("DELETE FROM entry WHERE id = 1", .refused),
            ("INSERT INTO note (rowid, title, body) VALUES (9, 'late', 'late')", .failed),
            ("INSERT INTO note (note, rowid, title, body) VALUES ('delete', 1, 'First', 'the body of one')", .failed),
            ("INSERT INTO note (note) VALUES ('optimize')", .ineffective),
        ]
    )

    private static let fullText5WithoutContent = FencedTable(
        "FTS5 without content",
        sql: "CREATE VIRTUAL TABLE note USING fts5(title, body, content='');" + rows,
        reading: "SELECT count(*) FROM note WHERE note MATCH 'body'",
        writes: [
            ("INSERT INTO note (rowid, title, body) VALUES (9, 'late', 'late')", .failed),
            ("INSERT INTO note (note, rowid, title, body) VALUES ('delete', 1, 'First', 'the body of one')", .failed),
            ("INSERT INTO note (note) VALUES ('delete-all')", .failed),
            ("INSERT INTO note (note) VALUES ('optimize')", .ineffective),
        ]
    )

    private static let fullText4 = FencedTable(
        "FTS4",
        sql: "CREATE VIRTUAL TABLE note USING fts4(title, body);" + rows,
        reading: "SELECT count(*) FROM note WHERE note MATCH 'body'",
        writes: [
            ("INSERT INTO note (title, body) VALUES ('late', 'late')", .failed),
            ("INSERT OR REPLACE INTO note (rowid, title, body) VALUES (1, 'late', 'late')", .failed),
            ("INSERT OR IGNORE INTO note (rowid, title, body) VALUES (9, 'late', 'late')", .failed),
            ("UPDATE note SET body = 'late' WHERE rowid = 1", .failed),
            ("DELETE FROM note WHERE rowid = 1", .failed),
            ("DELETE FROM note", .failed),
            ("INSERT INTO note (note) VALUES ('optimize')", .ineffective),
            ("INSERT INTO note (note) VALUES ('rebuild')", .failed),
        ]
    )

    private static let spatial = FencedTable(
        "R*Tree",
        sql: """
            CREATE VIRTUAL TABLE place USING rtree(id, west, east);
            INSERT INTO place VALUES (1, 1, 2), (2, 3, 4);
            """,
        reading: "SELECT count(*) FROM place WHERE west > 0",
        writes: [
            ("INSERT INTO place VALUES (9, 5, 6)", .failed),
            ("INSERT OR REPLACE INTO place VALUES (1, 5, 6)", .failed),
            ("INSERT OR IGNORE INTO place VALUES (9, 5, 6)", .ineffective),
            ("UPDATE place SET east = 9 WHERE id = 1", .failed),
            ("DELETE FROM place WHERE id = 1", .failed),
            ("DELETE FROM place", .failed),
        ]
    )

    private static let coreData = FencedTable(
        "a Core Data store",
        recipe: """
            seed: fence
            model:
              entities:
                Note:
                  attributes:
                    title: {type: string, optional: false}
            saves:
              - at: 2026-03-01T09:00:00Z
                insert:
                  - {entity: Note, name: "note{n}", repeat: 5, values: {title: "Note {n}"}}
            """,
        reading: "SELECT count(*) FROM ZNOTE",
        writes: [
            ("INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (99, 1, 1, 'late')", .refused),
            ("INSERT OR REPLACE INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (1, 1, 1, 'late')", .refused),
            ("INSERT OR IGNORE INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (99, 1, 1, 'late')", .refused),
            ("INSERT INTO ZNOTE (Z_PK) VALUES (1) ON CONFLICT (Z_PK) DO UPDATE SET ZTITLE = 'late'", .refused),
            ("UPDATE OR ROLLBACK ZNOTE SET ZTITLE = 'late', Z_OPT = 2 WHERE Z_PK = 1 AND Z_OPT = 1", .refused),
            ("DELETE FROM ZNOTE WHERE Z_PK = 1", .refused),
            ("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1", .refused),
            ("INSERT INTO ATRANSACTION (Z_ENT, Z_OPT) VALUES (16002, 1)", .refused),
            ("DELETE FROM ACHANGE", .refused),
            ("UPDATE Z_METADATA SET Z_PLIST = Z_PLIST", .harmless),
            ("UPDATE Z_MODELCACHE SET Z_CONTENT = Z_CONTENT", .harmless),
        ]
    )
}
