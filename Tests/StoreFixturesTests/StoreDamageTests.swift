import SafeFiles
import StoreAccess
import StoreFixtures
import Testing

@Suite("The damage in Fixtures/Stores, seen by SQLite's own program", .disabled(if: SQLiteShell.isMissing))
struct StoreDamageTests {
    struct Trouble: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let sql: String
        let says: String

        init(_ name: String, _ sql: String, says: String) {
            testDescription = name
            self.sql = sql
            self.says = says
        }
    }

    @Test(
        "Each damaged store shows its damage to sqlite3",
        arguments: [
            Trouble("truncated", "SELECT count(*) FROM ZNOTE", says: "malformed"),
            Trouble("flipped-byte", "PRAGMA integrity_check", says: "***"),
            Trouble("text-file", "SELECT * FROM sqlite_schema", says: "not a database"),
            Trouble("zero-byte", "SELECT 'tables', count(*) FROM sqlite_schema", says: "tables|0"),
            Trouble("blank-database", "SELECT 'tables', count(*) FROM sqlite_schema", says: "tables|0"),
            Trouble("torn-wal", "SELECT max(ZNAME) FROM ZFOLDER", says: "Folder 2"),
            Trouble("z-max-behind", "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Note'", says: "5"),
            Trouble("dangling-relationship", "SELECT ZFOLDER FROM ZNOTE WHERE Z_PK = 3", says: "999999"),
            Trouble("wrong-entity", "SELECT Z_ENT FROM ZNOTE WHERE Z_PK = 2", says: "1"),
            Trouble("duplicate-order-key", "SELECT count(*) FROM ZITEM WHERE Z_FOK_LIST = 1024", says: "2"),
            Trouble("missing-metadata", "SELECT typeof(Z_PLIST) FROM Z_METADATA", says: "null"),
            Trouble("small-pages", "PRAGMA page_size", says: "1024"),
            Trouble("rollback-journal", "PRAGMA journal_mode", says: "delete"),
        ]
    )
    func trouble(_ trouble: Trouble) throws {
        let scratch = try Scratch()
        try scratch.build(store: trouble.testDescription)
        let output = try SQLiteShell.output(scratch.location, trouble.sql)
        #expect(output.contains(trouble.says), "\(output)")
    }

    @Test(
        "Damaged external files are missing, unused or truncated",
        arguments: [
            ("external-data", [120_000]), ("missing-external-file", []), ("orphan-external-file", [3000, 120_000]),
            ("truncated-external-file", [4096]),
        ] as [(String, [Int64])]
    )
    func externalFiles(_ name: String, _ sizes: [Int64]) throws {
        let scratch = try Scratch()
        try scratch.build(store: name)
        let folder = try scratch.directory.openDirectory(".Store_SUPPORT").openDirectory("_EXTERNAL_DATA")
        let found = try folder.entries().map { try folder.status(of: $0)?.size ?? 0 }
        #expect(found.sorted() == sizes)
        let reference = try scratch.open().value("SELECT length(ZDATA) FROM ZPICTURE WHERE ZTITLE = 'Large'")
        #expect(reference == .integer(38))
    }
}
