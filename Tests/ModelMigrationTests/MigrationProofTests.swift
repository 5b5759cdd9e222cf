import ModelMigration
import SafeFiles
import StoreAccess
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
            let copy = try Self.copy(connection, in: scratch)
            let result = try ModelMigrator(copy, to: target).migrate()
            #expect(result.lostValues.map { "\($0.subject) \($0.count)" } == ["A.y 2"])
            try copy.execute(change.sql)
            try Self.forEachForm(of: copy) {
                let proof = try MigrationProof(of: copy, migratedFrom: connection, to: target)
                #expect(try proof.differences() == change.differences)
            }
        }
    }

    /// Changes in a log are found by rows, those in the main file by pages as well.
    private static func forEachForm(of copy: StoreConnection, _ body: () throws -> Void) throws {
        try body()
        _ = try copy.value("PRAGMA wal_checkpoint(TRUNCATE)")
        try body()
    }

    private static func copy(_ connection: StoreConnection, in scratch: ScratchFolder) throws -> StoreConnection {
        let location = scratch.location("Copy.sqlite")
        _ = try connection.value("PRAGMA wal_checkpoint(TRUNCATE)")
        let file = try scratch.directory.createFile(location.name, mode: 0o600)
        try scratch.directory.openFile("Store.sqlite", for: .reading).copyBytes(to: file, chunk: 1 << 16)
        try file.close()
        return try StoreConnection(location, access: .privateCopy)
    }

    private static let file = "0F0A3D0C-1DB3-4B0E-8A6B-2E3E5F3E9A11"

    /// Models with a join table, attributes that move in a hierarchy, and external storage that changes.
    private static func forms(isNew: Bool) -> ManagedObjectModel {
        let own = [
            attribute("required", required: isNew, default: isNew ? .string("-") : nil),
            attribute("file", .binaryData, external: !isNew), attribute("raw", .binaryData, external: isNew),
        ]
        return model(
            entity("Item", [attribute(isNew ? "up" : "down")]),
            entity(
                "Note",
                parent: "Item",
                own + [attribute(isNew ? "down" : "up")],
                [toMany("tags", "Tag", inverse: "notes", ordered: true)]
            ),
            entity(
                "Tag",
                [attribute(isNew ? "title" : "name", was: "name")],
                [toMany("notes", "Note", inverse: "tags")]
            )
        )
    }

    /// A change of the migrated store, and what differs then; `JOIN`, `NOTE`, `TAG` and `PLACE` stand for the join table.
    static let otherChanges: [(sql: String, difference: String?)] = [
        ("SELECT 1", nil),
        ("DELETE FROM JOIN WHERE TAG = 2", "Note.tags"),
        ("UPDATE JOIN SET TAG = 3 WHERE TAG = 2", "Note.tags"),
        ("INSERT INTO JOIN (NOTE, TAG, PLACE) VALUES (1, 3, 9)", "Note.tags"),
        ("UPDATE JOIN SET PLACE = 9 WHERE TAG = 2", "Note.tags"),
        ("UPDATE ZITEM SET ZUP = 'other' WHERE Z_PK = 1", "Note.up"),
        ("UPDATE ZITEM SET ZDOWN = NULL WHERE Z_PK = 1", "Note.down"),
        ("UPDATE ZITEM SET ZREQUIRED = 'other' WHERE Z_PK = 1", "Note.required"),
        ("UPDATE ZITEM SET ZREQUIRED = 'other' WHERE Z_PK = 2", nil),
        ("UPDATE ZITEM SET ZFILE = x'01' WHERE Z_PK = 1", "Note.file"),
        ("UPDATE ZITEM SET ZFILE = x'01' WHERE Z_PK = 2", "Note.file"),
        ("UPDATE ZITEM SET ZRAW = x'6162' WHERE Z_PK = 1", "Note.raw"),
        ("UPDATE ZTAG SET ZTITLE = 'other' WHERE Z_PK = 3", "Tag.title"),
        ("UPDATE ZTAG SET own = 'other'", "Tag.own"),
        ("UPDATE own SET b = 'other'", "own"),
        ("DELETE FROM own", "own"),
        ("DROP TABLE own", "own"),
    ]

    @Test(
        "Join rows, moved values, values in files, and what an app added are compared",
        arguments: otherChanges
    )
    func otherDifferences(_ change: (sql: String, difference: String?)) throws {
        try withStore(Self.forms(isNew: false), "SELECT 1") { connection, scratch in
            func words(_ sql: String, _ store: StoreConnection) throws -> String {
                let join = try #require(try StoreLayout(reading: store)?.joinTables.first)
                let (note, tag) = join.first.entity == "Note" ? (join.first, join.second) : (join.second, join.first)
                return [
                    ("JOIN", join.name), ("NOTE", note.column), ("TAG", tag.column), ("PLACE", note.orderColumn ?? ""),
                ]
                .reduce(sql) { text, word in
                    text.split(separator: " ", omittingEmptySubsequences: false)
                        .map { part in
                            part.hasPrefix("(") || part.hasSuffix(",") || part.hasSuffix(")")
                                ? part.replacing(word.0, with: word.1) : part == word.0 ? word.1[...] : part
                        }
                        .joined(separator: " ")
                }
            }
            let folder = try scratch.directory.createDirectory("files", mode: 0o700)
            let file = try folder.createFile(Self.file, mode: 0o600)
            try Array("in a file".utf8).withUnsafeBytes { try file.write($0, at: 0) }
            try connection.execute(
                words(
                    """
                    INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZDOWN, ZUP, ZREQUIRED, ZFILE, ZRAW) VALUES
                      (1, 2, 1, 'd', 'u', 'r', CAST(x'02' || '\(Self.file)' || x'00' AS BLOB), x'6161'),
                      (2, 2, 1, NULL, NULL, NULL, x'016162', NULL), (3, 1, 1, 'lost', NULL, NULL, NULL, NULL);
                    INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 3, 1, 'a'), (2, 3, 1, 'b'), (3, 3, 1, NULL);
                    INSERT INTO JOIN (NOTE, TAG, PLACE) VALUES (1, 1, 1), (1, 2, 2), (2, 1, 1);
                    ALTER TABLE ZTAG ADD COLUMN own; UPDATE ZTAG SET own = 'kept';
                    CREATE TABLE own (a, b); INSERT INTO own VALUES (1, 'kept');
                    """,
                    connection
                )
            )
            let target = MigrationTarget(ModelFile(model: Self.forms(isNew: true)), path: "")
            let copy = try Self.copy(connection, in: scratch)
            let result = try ModelMigrator(copy, to: target, external: folder).migrate()
            #expect(result.lostValues.map { "\($0.subject) \($0.count)" } == ["Item.down 1"])
            #expect(result.orphanedFiles == [Self.file])
            try copy.execute(words(change.sql, copy))
            try Self.forEachForm(of: copy) {
                let proof = try MigrationProof(of: copy, migratedFrom: connection, to: target, external: folder)
                #expect(try proof.differences().first == change.difference)
            }
        }
    }
}
