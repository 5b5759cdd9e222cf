import ModelMigration
import SafeFiles
import StoreFormat
import TestSupport
import Testing

@Suite("The proof of a migrated copy")
struct MigrationProofTests {
    private static let source = model(
        entity("A", [attribute("x"), attribute("y")], [toOne("b", "B")]),
        entity("C", parent: "A", [attribute("z")]),
        entity("B", [attribute("n")])
    )
    private static let target = model(
        entity("A", [attribute("title", was: "x")], [toOne("b", "B")]),
        entity("C", parent: "A", [attribute("z"), attribute("more")]),
        entity("B", [attribute("n")])
    )
    private static let rows = """
        INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZX, ZY, ZB) VALUES (1, 1, 1, 'one', 'gone', 1), (2, 1, 1, NULL, '', NULL);
        INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZX, ZZ) VALUES (3, 2, 1, 'three', 'kept');
        INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT, ZN) VALUES (1, 3, 1, 'b');
        """

    /// A change of the migrated store, and the properties in which it differs then.
    static let changes: [(sql: String, differences: [String])] = [
        ("SELECT 1", []),
        ("UPDATE ZA SET ZMORE = 'new'", []),
        ("UPDATE ZA SET ZTITLE = 'other' WHERE Z_PK = 1", ["A.title"]),
        ("UPDATE ZA SET ZTITLE = CAST(ZTITLE AS BLOB) WHERE Z_PK = 1", ["A.title"]),
        ("UPDATE ZA SET ZZ = NULL", ["C.z"]),
        ("UPDATE ZA SET ZB = NULL", ["A.b"]),
        ("UPDATE ZB SET Z_OPT = 2", ["B"]),
        ("DELETE FROM ZA WHERE Z_PK = 2", ["A"]),
        ("INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT) VALUES (7, 3, 1)", ["B"]),
        ("UPDATE ZA SET Z_ENT = 1 WHERE Z_PK = 3", ["A", "C"]),
    ]

    @Test("A changed, lost or surplus value is named, and a new attribute is not compared", arguments: changes)
    func differences(_ change: (sql: String, differences: [String])) throws {
        try withStore(Self.source, Self.rows) { connection, scratch in
            let target = MigrationTarget(ModelFile(model: Self.target), path: "")
            let location = scratch.location("Copy.sqlite")
            _ = try connection.value("PRAGMA wal_checkpoint(TRUNCATE)")
            let file = try scratch.directory.createFile(location.name, mode: 0o600)
            try scratch.directory.openFile("Store.sqlite", for: .reading).copyBytes(to: file, chunk: 1 << 16)
            try file.close()
            let copy = try StoreConnection(location, access: .privateCopy)
            _ = try ModelMigrator(copy, to: target).migrate()
            try copy.execute(change.sql)
            let proof = try MigrationProof(of: copy, migratedFrom: connection, to: target)
            #expect(try proof.differences() == change.differences)
        }
    }
}
