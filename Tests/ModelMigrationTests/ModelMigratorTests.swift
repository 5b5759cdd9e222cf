import ModelMigration
import SafeFiles
import StoreAccess
import StoreFormat
import StoreVerification
import StoreWriting
import TestSupport
import Testing

@Suite("Carrying a mapping out on a staged store")
struct ModelMigratorTests {
    private static func target(_ model: ManagedObjectModel) -> MigrationTarget {
        MigrationTarget(ModelFile(model: model), path: "")
    }

    private static func rootPage(_ table: String, _ connection: StoreConnection) throws -> SQLValue? {
        try connection.value("SELECT rootpage FROM sqlite_schema WHERE name = ?", [.text(table)])
    }

    @Test("Columns without values are added to a table that stays in its pages")
    func extending() throws {
        let source = model(entity("A", [attribute("x")]), entity("B"))
        let new = model(entity("A", [attribute("x"), attribute("y")], [toOne("b", "B")]), entity("B"))
        try withStore(source, "INSERT INTO ZA VALUES (1, 1, 3, 'kept')") { connection, _ in
            let page = try Self.rootPage("ZA", connection)
            let result = try ModelMigrator(connection, to: Self.target(new)).migrate()
            #expect(result.extendedTables == ["ZA"])
            #expect(result.copiedTables.isEmpty)
            #expect(try Self.rootPage("ZA", connection) == page)
            let row = try connection.value("SELECT ZX || Z_OPT || (ZY IS NULL) || (ZB IS NULL) FROM ZA")
            #expect(row?.text == "kept311")
            #expect(try Self.rootPage("ZA_ZB_INDEX", connection) != nil)
        }
    }

    @Test("Defaults and new names change a table in place, and other tables stay")
    func filling() throws {
        let source = model(entity("A", [attribute("x"), attribute("v")]), entity("B"))
        let new = model(
            entity(
                "A",
                [
                    attribute("renamed", was: "x"), attribute("v", required: true, default: .string("d")),
                    attribute("y", .date, default: .date(2.5)),
                ],
                indexes: [.init(name: "byName", elements: [.init(property: "renamed")])]
            ),
            entity("B")
        )
        let sql = """
            INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZX, ZV) VALUES (1, 1, 3, 'kept', 'own'), (2, 1, 1, NULL, NULL);
            INSERT INTO ZB VALUES (1, 2, 1);
            """
        try withStore(source, sql) { connection, _ in
            let pages = try [Self.rootPage("ZA", connection), Self.rootPage("ZB", connection)]
            let result = try ModelMigrator(connection, to: Self.target(new)).migrate()
            #expect(result.copiedTables.isEmpty)
            #expect(result.extendedTables == ["ZA"])
            #expect(try [Self.rootPage("ZA", connection), Self.rootPage("ZB", connection)] == pages)
            let rows = "SELECT group_concat(ifnull(ZRENAMED, '-') || ZV || ZY) FROM ZA"
            #expect(try connection.value(rows)?.text == "keptown2.5,-d2.5")
            #expect(try Self.rootPage("Z_A_byName", connection) != nil)
        }
    }

    @Test("A removed attribute makes one copy of its table, which leaves no free pages")
    func copying() throws {
        let source = model(entity("A", [attribute("x"), attribute("y")]), entity("B"))
        let new = model(entity("A", [attribute("x")]), entity("B"))
        let sql = """
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 2000)
                INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZX, ZY) SELECT i, 1, 1, 'value ' || i, hex(randomblob(20)) FROM c;
            INSERT INTO ZB VALUES (1, 2, 1);
            """
        try withStore(source, sql) { connection, _ in
            let page = try Self.rootPage("ZB", connection)
            let digest = "SELECT count(*) || ' ' || sum(length(ZX)) FROM ZA"
            let before = try connection.value(digest)
            let result = try ModelMigrator(connection, to: Self.target(new)).migrate()
            #expect(result.copiedTables == ["ZA"])
            #expect(result.extendedTables.isEmpty)
            #expect(try Self.rootPage("ZB", connection) == page)
            #expect(try connection.value(digest) == before)
            #expect(try connection.value("PRAGMA freelist_count") == .integer(0))
            let leftovers = "SELECT count(*) FROM sqlite_schema WHERE name LIKE '%migrat%'"
            #expect(try connection.value(leftovers) == .integer(0))
        }
    }

    @Test("Two attributes that exchange their names keep their values")
    func exchangedNames() throws {
        let source = model(entity("A", [attribute("x"), attribute("y")]))
        let new = model(entity("A", [attribute("x", was: "y"), attribute("y", was: "x")]))
        try withStore(source, "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZX, ZY) VALUES (1, 1, 1, 'one', 'two')") {
            connection,
            _ in
            let result = try ModelMigrator(connection, to: Self.target(new)).migrate()
            #expect(result.copiedTables == ["ZA"])
            #expect(try connection.value("SELECT ZX || ZY FROM ZA")?.text == "twoone")
        }
    }

    @Test("Columns and indexes outside the model survive a copied table")
    func unknownDefinitions() throws {
        let source = model(entity("A", [attribute("x"), attribute("y")]))
        let new = model(entity("A", [attribute("x")]))
        let sql = """
            ALTER TABLE ZA ADD COLUMN ZOWN VARCHAR; CREATE INDEX own ON ZA (ZOWN); CREATE TABLE notes (t);
            INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZX, ZOWN) VALUES (1, 1, 1, 'a', 'b'); INSERT INTO notes VALUES (5);
            """
        try withStore(source, sql) { connection, _ in
            _ = try ModelMigrator(connection, to: Self.target(new)).migrate()
            #expect(try connection.value("SELECT ZOWN FROM ZA WHERE ZOWN = 'b'")?.text == "b")
            #expect(try Self.rootPage("own", connection) != nil)
            #expect(try connection.value("SELECT t FROM notes") == .integer(5))
        }
    }

    private static let file = "2E3E5F3E-1DB3-4B0E-8A6B-0F0A3D0C9A11"

    @Test("Values in external files move into rows, and files without references are reported")
    func externalStorageDisabled() throws {
        let source = model(
            entity("A", [attribute("x", .binaryData, external: true), attribute("y", .binaryData, external: true)])
        )
        let new = model(entity("A", [attribute("x", .binaryData)]))
        let other = "3" + Self.file.dropFirst()
        let sql = """
            INSERT INTO ZA VALUES (1, 1, 1, x'02' || CAST('\(Self.file)' AS BLOB) || x'00', x'02' || CAST('\(other)' AS BLOB) || x'00');
            UPDATE ZA SET ZX = CAST(ZX AS BLOB), ZY = CAST(ZY AS BLOB);
            INSERT INTO ZA VALUES (2, 1, 1, x'01AB', NULL);
            """
        try withStore(source, sql) { connection, scratch in
            let location = scratch.location("Store.sqlite")
            let files = try ExternalData.ensure(of: location, in: scratch.directory, mode: 0o755, group: nil)
            for name in [Self.file, String(other)] { try files.createFile(name, mode: 0o644).close() }
            let file = try files.openFile(Self.file, for: .writing)
            try [UInt8]([2, 7]).withUnsafeBytes { try file.write($0, at: 0) }
            try file.close()
            let result = try ModelMigrator(connection, to: Self.target(new), external: files).migrate()
            #expect(result.orphanedFiles == [Self.file, String(other)])
            #expect(try connection.value("SELECT hex(ZX) FROM ZA WHERE Z_PK = 1")?.text == "0207")
            #expect(try connection.value("SELECT hex(ZX) FROM ZA WHERE Z_PK = 2")?.text == "AB")
        }
    }

    @Test("A value in a row that begins like a reference stays a value, and a row's entity number does not matter")
    func valuesLikeReferences() throws {
        let source = model(entity("A", [attribute("x", .binaryData, external: true)]))
        let name = "0F4C5E1A-0000-4000-8000-000000000001"
        // A reference: 02, the file's name, 00. The second row has the same bytes as a value; the third has a number that
        // the model lacks, as some genuine rows of a table of one entity.
        let reference = "CAST(x'02' || '\(name)' || x'00' AS BLOB)"
        let sql = """
            INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZX) VALUES (1, 1, 1, \(reference)),
                (2, 1, 1, CAST(x'01' || \(reference) AS BLOB)), (-3, 9, 1, \(reference))
            """
        try withStore(source, sql) { connection, scratch in
            let folder = try scratch.directory.createDirectory("files", mode: 0o700)
            let file = try folder.createFile(name, mode: 0o600)
            try [UInt8]("bytes".utf8).withUnsafeBytes { try file.write($0, at: 0) }
            try file.close()
            let target = Self.target(model(entity("A", [attribute("x", .binaryData)])))
            _ = try ModelMigrator(connection, to: target, external: folder).migrate()
            for (key, value) in [(1, "CAST('bytes' AS BLOB)"), (2, reference), (-3, "CAST('bytes' AS BLOB)")] {
                #expect(try connection.value("SELECT 1 FROM ZA WHERE Z_PK = \(key) AND ZX = \(value)") != nil, "\(key)")
            }
        }
    }

    @Test("A missing external file stops the migration, and the store keeps its former content")
    func missingFile() throws {
        let source = model(entity("A", [attribute("x", .binaryData, external: true)]))
        let new = model(entity("A", [attribute("x", .binaryData)]))
        let sql = """
            INSERT INTO ZA VALUES (1, 1, 1, x'02' || CAST('\(Self.file)' AS BLOB) || x'00');
            UPDATE ZA SET ZX = CAST(ZX AS BLOB);
            """
        try withStore(source, sql) { connection, _ in
            let before = try StoreDigest(of: connection, externalFiles: nil).value
            #expect(throws: MappingRefusals.self) { try ModelMigrator(connection, to: Self.target(new)).migrate() }
            #expect(try StoreDigest(of: connection, externalFiles: nil).value == before)
        }
    }

    @Test("History gets the new numbers and bitmaps, loses removed entities, and records the migration")
    func history() throws {
        let source = model(
            entity("A", [attribute("x"), attribute("y", preserved: true), attribute("z", preserved: true)]),
            entity("B")
        )
        let new = model(
            entity("A", was: nil, [attribute("a"), attribute("x"), attribute("w", was: "z", preserved: true)]),
            entity("AA")
        )
        let sql = """
            INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) VALUES (1, 16002, 1);
            INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS)
                VALUES (1, 16001, 1, 1, 7, 1, x'80'), (2, 16001, 0, 2, 1, 1, NULL);
            INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZTOMBSTONE0, ZTOMBSTONE1)
                VALUES (3, 16001, 2, 1, 8, 1, 'y', 'z');
            UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_ENT = 16001; UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_ENT = 16002;
            """
        try withStore(source, sql, history: true) { connection, _ in
            _ = try ModelMigrator(connection, to: Self.target(new)).migrate(process: "tests", timestamp: 2)
            #expect(
                try connection.value("SELECT group_concat(ZENTITY || ' ' || ZENTITYPK) FROM ACHANGE")?.text == "1 7,1 8"
            )
            // The slots of A are a, w, x: x is the third.
            #expect(try connection.value("SELECT hex(ZCOLUMNS) FROM ACHANGE WHERE Z_PK = 1")?.text == "20")
            let tombstone = "SELECT ZTOMBSTONE0 || (ZTOMBSTONE1 IS NULL) FROM ACHANGE WHERE Z_PK = 3"
            #expect(try connection.value(tombstone)?.text == "z1")
            let author =
                "SELECT s.ZNAME FROM ATRANSACTION t JOIN ATRANSACTIONSTRING s ON s.Z_PK = t.ZAUTHORTS WHERE t.Z_PK = 2"
            #expect(
                try connection.value(author)?.text?.hasPrefix("com.apple.coredata.schemamigrator: lightweight") == true
            )
        }
    }

    @Test("A new derived attribute gets its values and its triggers")
    func derivedAttribute() throws {
        let links = [toMany("bs", "B", inverse: "a")]
        let back = [toOne("a", "A", inverse: "bs")]
        let source = model(entity("A", [attribute("x")], links), entity("B", [], back))
        let new = model(
            entity("A", [attribute("x"), attribute("count", .integer64, derived: "bs.@count")], links),
            entity("B", [attribute("name", derived: "a.x")], back)
        )
        let sql =
            "INSERT INTO ZA VALUES (1, 1, 1, 'n'); INSERT INTO ZB VALUES (1, 2, 1, 1), (2, 2, 1, 1), (3, 2, 1, NULL)"
        try withStore(source, sql) { connection, _ in
            _ = try ModelMigrator(connection, to: Self.target(new)).migrate()
            #expect(try connection.value("SELECT ZCOUNT FROM ZA") == .integer(2))
            #expect(try connection.value("SELECT group_concat(ifnull(ZNAME, '-'), '') FROM ZB")?.text == "nn-")
            #expect(try StoreSchema(reading: connection).triggers.count == 9)
        }
    }

    @Test("A store without its model needs the version with its hashes")
    func missingModel() throws {
        let source = model(entity("A"))
        try withStore(source, "DROP TABLE Z_MODELCACHE") { connection, _ in
            let error = #expect(throws: StoreError.self) {
                try ModelMigrator(connection, to: Self.target(model(entity("A", [attribute("x")]))))
            }
            #expect(error?.message.contains("134130") == true)
        }
    }

    @Test("Greatest keys and metadata of the app survive; the row's number follows its entity")
    func bookkeeping() throws {
        let source = model(entity("B", [attribute("x")]))
        let new = model(
            entity("A"),
            entity("C", was: "B", parent: "Top", [attribute("x")]),
            entity("Top", abstract: true)
        )
        let sql = "INSERT INTO ZB VALUES (4, 1, 1, 'v'); UPDATE Z_PRIMARYKEY SET Z_MAX = 9"
        try withStore(source, sql) { connection, _ in
            try MetadataWriter.update(["own": .string("kept")], in: connection)
            _ = try ModelMigrator(connection, to: Self.target(new)).migrate()
            #expect(try StoreMetadata(reading: connection)?.values["own"] == .string("kept"))
            #expect(try connection.value("SELECT Z_ENT || ZX FROM ZTOP WHERE Z_PK = 4")?.text == "3v")
            let numbers = try #require(try EntityNumbers(reading: connection))
            #expect(
                numbers.entries.map { "\($0.number) \($0.name) \($0.parent) \($0.max)" } == [
                    "1 A 0 0", "2 Top 0 9", "3 C 2 0",
                ]
            )
            #expect(try connection.value("SELECT count(*) FROM sqlite_schema WHERE name = 'ZB'") == .integer(0))
        }
    }
}
