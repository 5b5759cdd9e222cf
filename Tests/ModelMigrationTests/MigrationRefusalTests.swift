import ModelMigration
import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting
import TestSupport
import Testing

/// A store of a test's model, with rows by SQL.
func withStore<R>(
    _ model: ManagedObjectModel,
    _ sql: String,
    history: Bool = false,
    _ body: (StoreConnection, ScratchFolder) throws -> R
) throws -> R {
    let scratch = try ScratchFolder()
    var options = StoreBuilder.Options()
    options.tracksHistory = history
    let builder = try StoreBuilder(model, uuid: "2E3E5F3E-1DB3-4B0E-8A6B-0F0A3D0C9A11", options: options)
    let connection = try builder.build(at: scratch.location("Store.sqlite"), in: scratch.directory)
    try connection.execute(sql)
    return try withExtendedLifetime(scratch) { try body(connection, scratch) }
}

@Suite("Rows that forbid a migration")
struct MigrationRefusalTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let source: ManagedObjectModel
        let target: ManagedObjectModel
        let sql: String
        /// The refusals with those rows; without rows there are none.
        let refusals: [String]
        var testDescription: String { name }
    }

    static let cases = [
        Case(
            name: "mandatory attribute without a default",
            source: model(entity("A")),
            target: model(entity("A", [attribute("x", required: true)])),
            sql: "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1)",
            refusals: ["mandatoryAttribute A.x"]
        ),
        Case(
            name: "attribute made mandatory, with a row without a value",
            source: model(entity("A", [attribute("x")])),
            target: model(entity("A", [attribute("x", required: true)])),
            sql: "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZX) VALUES (1, 1, 1, 'a'), (2, 1, 1, NULL)",
            refusals: ["mandatoryAttribute A.x"]
        ),
        Case(
            name: "mandatory to-one relationship",
            source: model(entity("A"), entity("B")),
            target: model(entity("A", [], [toOne("b", "B", required: true)]), entity("B")),
            sql: "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1)",
            refusals: ["mandatoryRelationship A.b"]
        ),
        Case(
            name: "uniqueness constraint with two equal values",
            source: model(entity("A", [attribute("x")])),
            target: model(entity("A", [attribute("x")], unique: [["x"]])),
            sql: "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZX) VALUES (1, 1, 1, 'a'), (2, 1, 1, 'a')",
            refusals: ["uniquenessConstraint A.x"]
        ),
        Case(
            name: "uniqueness constraint on a new attribute with a default",
            source: model(entity("A")),
            target: model(entity("A", [attribute("x", .integer16, default: .integer(1))], unique: [["x"]])),
            sql: "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1)",
            refusals: ["uniquenessConstraint A.x"]
        ),
        Case(
            name: "new to-one inverse of two objects that refer to one",
            source: model(entity("A", [], [toOne("b", "B")]), entity("B")),
            target: model(
                entity("A", [], [toOne("b", "B", inverse: "a")]),
                entity("B", [], [toOne("a", "A", inverse: "b")])
            ),
            sql: """
                INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZB) VALUES (1, 1, 1, 1), (2, 1, 1, 1);
                INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1);
                """,
            refusals: ["severalDestinations B.a"]
        ),
        Case(
            name: "row of an entity that the model lacks",
            source: model(entity("A"), entity("B", parent: "A")),
            target: model(entity("A", [attribute("x")]), entity("B", parent: "A")),
            sql: "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT) VALUES (1, 9, 1)",
            refusals: ["unknownEntityNumber A"]
        ),
        Case(
            name: "a trigger of the app on a table that changes",
            source: model(entity("A", [attribute("x")])),
            target: model(entity("A")),
            sql: "CREATE TRIGGER counter AFTER INSERT ON ZA BEGIN UPDATE ZA SET ZX = 'n'; END",
            refusals: ["unsupportedDefinition "]
        ),
        Case(
            name: "an app's column with the name of a new property",
            source: model(entity("A", [attribute("x")])),
            target: model(entity("A", [attribute("x"), attribute("note")])),
            sql: "ALTER TABLE ZA ADD COLUMN ZNOTE VARCHAR",
            refusals: ["unsupportedDefinition "]
        ),
        Case(
            name: "an app's column with a default in a table that is copied",
            source: model(entity("A", [attribute("x")])),
            target: model(entity("A")),
            sql: "ALTER TABLE ZA ADD COLUMN OWN INTEGER NOT NULL DEFAULT 4",
            refusals: ["unsupportedDefinition "]
        ),
        Case(
            name: "an app's column with SQL in its type",
            source: model(entity("A", [attribute("x")])),
            target: model(entity("A")),
            sql: "ALTER TABLE ZA ADD COLUMN OWN \"text); drop table ZA; --\"",
            refusals: ["unsupportedDefinition "]
        ),
        Case(
            name: "an app's column in a table that is removed",
            source: model(entity("A"), entity("C")),
            target: model(entity("A")),
            sql: "ALTER TABLE ZC ADD COLUMN OWN VARCHAR",
            refusals: ["unsupportedDefinition "]
        ),
        Case(
            name: "an app's view of a table that changes",
            source: model(entity("A", [attribute("x")])),
            target: model(entity("A")),
            sql: "CREATE VIEW own AS SELECT ZX FROM ZA",
            refusals: ["unsupportedDefinition "]
        ),
        Case(
            name: "an app's foreign key to a table that changes",
            source: model(entity("A", [attribute("x")])),
            target: model(entity("A")),
            sql: "CREATE TABLE own (a INTEGER REFERENCES ZA (Z_PK))",
            refusals: ["unsupportedDefinition "]
        ),
        Case(
            name: "an app's unique index of a table that changes",
            source: model(entity("A", [attribute("x"), attribute("y")])),
            target: model(entity("A", [attribute("x")])),
            sql: "CREATE UNIQUE INDEX own ON ZA (ZX)",
            refusals: ["unsupportedDefinition "]
        ),
        Case(
            name: "an app's trigger while another table is removed",
            source: model(entity("A"), entity("C")),
            target: model(entity("A")),
            sql: "CREATE TRIGGER own AFTER INSERT ON ZA BEGIN INSERT INTO ZC (Z_ENT) VALUES (2); END",
            refusals: ["unsupportedDefinition "]
        ),
        Case(
            name: "CloudKit's mirror and other entity numbers",
            source: model(entity("B")),
            target: model(entity("A"), entity("B")),
            sql: "CREATE TABLE ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER)",
            refusals: ["cloudMirror "]
        ),
    ]

    @Test("A refusal is found before anything is written", arguments: cases)
    func refusing(_ refused: Case) throws {
        let target = MigrationTarget(ModelFile(model: refused.target), path: "")
        try withStore(refused.source, refused.sql) { connection, scratch in
            let before = try scratch.bytes("Store.sqlite-wal")
            let migrator = try ModelMigrator(connection, to: target)
            let error = #expect(throws: MappingRefusals.self) { try migrator.migrate() }
            #expect(error?.refusals.map { "\($0.rule) \($0.subject)" } == refused.refusals)
            #expect(try scratch.bytes("Store.sqlite-wal") == before)
        }
        try withStore(refused.source, "") { connection, _ in
            #expect(throws: Never.self) { try ModelMigrator(connection, to: target).migrate() }
        }
    }

    @Test("A fenced store is refused")
    func fenced() throws {
        let source = model(entity("A"))
        let trigger =
            "CREATE TRIGGER _store_migrate_fence_\(String(repeating: "a", count: 32))_1_insert "
            + "BEFORE INSERT ON ZA BEGIN SELECT RAISE(ABORT, 'The data was moved to /group/Store.sqlite'); END"
        try withStore(source, trigger) { connection, _ in
            guard try StoreFence(reading: connection) != nil else { return }
            let error = #expect(throws: StoreError.self) {
                try ModelMigrator(connection, to: MigrationTarget(ModelFile(model: source), path: ""))
            }
            #expect(error?.code == .fenced)
        }
    }
}
