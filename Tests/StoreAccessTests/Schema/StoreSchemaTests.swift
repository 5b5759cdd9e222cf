import StoreAccess
import TestSupport
import Testing

@Suite("StoreSchema")
struct StoreSchemaTests {
    private func schema(_ sql: String) throws -> StoreSchema {
        let scratch = try ScratchFolder()
        let location = try scratch.makeStore(sql)
        return try StoreSchema(reading: StoreConnection(location, access: .immutable))
    }

    @Test("The schema gives each table's kind of storage")
    func kinds() throws {
        let schema = try schema(
            """
            CREATE TABLE plain(a INTEGER PRIMARY KEY AUTOINCREMENT);
            CREATE TABLE keyed(k PRIMARY KEY, v) WITHOUT ROWID;
            CREATE VIRTUAL TABLE IF NOT EXISTS "my using" USING fts5(body);
            CREATE VIRTUAL TABLE box USING rtree(id, x0, x1);
            CREATE VIRTUAL TABLE old USING "fts4"(body);
            """
        )
        func kind(_ name: String) -> StoreSchema.Table.Kind? { schema.table(named: name)?.kind }
        #expect(kind("plain") == .ordinary)
        #expect(kind("KEYED") == .withoutRowID)
        #expect(kind("my using") == .virtual(module: "fts5"))
        #expect(kind("my using_content") == .shadow(of: "my using"))
        #expect(kind("my using_idx") == .shadow(of: "my using"))
        #expect(schema.table(named: "my using_idx")?.isWithoutRowID == true)
        #expect(kind("box") == .virtual(module: "rtree"))
        #expect(kind("box_node") == .shadow(of: "box"))
        #expect(kind("old_segdir") == .shadow(of: "old"))
        #expect(kind("sqlite_sequence") == .ofSQLite)
        #expect(kind("none") == nil)
        #expect(schema.table(named: "my using")?.holdsRows == false)
    }

    @Test("The schema gives each column's type, key position and generation")
    func columns() throws {
        let schema = try schema(
            "CREATE TABLE t(b TEXT NOT NULL DEFAULT 'x', a, c AS (a + 1), d AS (a + 2) STORED, PRIMARY KEY (a, b))"
        )
        let table = try #require(schema.table(named: "t"))
        #expect(table.columns.map(\.name) == ["b", "a", "c", "d"])
        #expect(table.columns.map(\.primaryKeyPosition) == [2, 1, 0, 0])
        #expect(table.columns.map(\.generation) == [.none, .none, .virtual, .stored])
        #expect(table.columns.map(\.notNull) == [true, false, false, false])
        #expect(table.columns.map(\.declaredType) == ["TEXT", "", "", ""])
        #expect(table.columns.first?.defaultValue == "'x'")
        #expect(table.primaryKey.map(\.name) == ["a", "b"])
        #expect(table.rowIDAlias == nil)
    }

    @Test("The rowid's name is its alias, or a name that no column uses", arguments: RowIDCase.all)
    func rowID(_ row: RowIDCase) throws {
        let table = try #require(schema(row.sql).table(named: "t"))
        #expect(table.rowIDAlias == row.alias)
        #expect(table.rowIDName == row.name)
    }

    @Test("The schema gives each index's order, collation, uniqueness and origin")
    func indexes() throws {
        let schema = try schema(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, a, b TEXT COLLATE NOCASE, c UNIQUE);
            CREATE UNIQUE INDEX first ON t(b DESC, a COLLATE RTRIM);
            CREATE INDEX second ON t(lower(b), id) WHERE a > 1;
            CREATE TABLE k(x PRIMARY KEY) WITHOUT ROWID;
            """
        )
        let table = try #require(schema.table(named: "t"))
        let first = try #require(table.indexes.first { $0.name == "first" })
        #expect(first.isUnique && !first.isPartial && first.origin == .statement)
        #expect(first.columns.map(\.name) == ["b", "a"])
        #expect(first.columns.map(\.isDescending) == [true, false])
        #expect(first.columns.map(\.collation) == ["NOCASE", "RTRIM"])
        let second = try #require(table.indexes.first { $0.name == "second" })
        #expect(second.isPartial && !second.isUnique)
        #expect(second.columns.map(\.name) == [nil, "id"])
        #expect(second.sql?.contains("WHERE a > 1") == true)
        let made = try #require(table.indexes.first { $0.origin == .uniqueConstraint })
        #expect(made.sql == nil && made.columns.map(\.name) == ["c"])
        #expect(schema.table(named: "k")?.indexes.map(\.origin) == [.primaryKey])
    }

    @Test("Triggers and views are listed with their definitions")
    func triggers() throws {
        let schema = try schema(
            """
            CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t;
            CREATE TRIGGER one AFTER INSERT ON t BEGIN SELECT 1; END;
            CREATE TRIGGER two INSTEAD OF INSERT ON v BEGIN SELECT 1; END;
            """
        )
        #expect(schema.triggers.map(\.name) == ["one", "two"])
        #expect(schema.triggers.map(\.table) == ["t", "v"])
        #expect(schema.views.map(\.name) == ["v"])
        #expect(schema.views.first?.sql == "CREATE VIEW v AS SELECT a FROM t")
    }
}

struct RowIDCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var sql: String
    var alias: String?
    var name: String?

    static let all = [
        Self(testDescription: "no key", sql: "CREATE TABLE t(a)", alias: nil, name: "rowid"),
        Self(
            testDescription: "an alias",
            sql: "CREATE TABLE t(a, \"my id\" integer primary key)",
            alias: "my id",
            name: "my id"
        ),
        Self(
            testDescription: "a table constraint",
            sql: "CREATE TABLE t(a INTEGER, PRIMARY KEY(a))",
            alias: "a",
            name: "a"
        ),
        Self(testDescription: "INT is no alias", sql: "CREATE TABLE t(a INT PRIMARY KEY)", alias: nil, name: "rowid"),
        Self(
            testDescription: "DESC is no alias",
            sql: "CREATE TABLE t(a INTEGER PRIMARY KEY DESC)",
            alias: nil,
            name: "rowid"
        ),
        Self(testDescription: "one name taken", sql: "CREATE TABLE t(RowID)", alias: nil, name: "_rowid_"),
        Self(testDescription: "all names taken", sql: "CREATE TABLE t(rowid, oid, _rowid_)", alias: nil, name: nil),
        Self(
            testDescription: "none there",
            sql: "CREATE TABLE t(a INTEGER PRIMARY KEY) WITHOUT ROWID",
            alias: nil,
            name: nil
        ),
    ]
}
