import ModelMigration
import SafeFiles
import StoreAccess
import StoreFormat
import StoreVerification
import TestSupport
import Testing

/// The forms of storage that a relationship can have, before and after.
@Suite("References of relationships that change their form")
struct ReferenceMigrationTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let source: ManagedObjectModel
        let target: ManagedObjectModel
        let sql: String
        /// The members of each relationship, by `Entity.relationship`.
        let members: [String: [Int64: [Int64]]]
        var testDescription: String { name }
    }

    private static func pair(
        _ a: [RelationshipDescription],
        _ b: [RelationshipDescription],
        _ more: EntityDescription...
    ) -> ManagedObjectModel {
        ManagedObjectModel(entities: [entity("A", [], a), entity("B", [], b)] + more)
    }

    private static let rows = """
        INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZB) VALUES (1, 1, 1, 2), (2, 1, 1, NULL), (3, 1, 1, 1);
        INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 2, 1);
        """

    static let cases = [
        Case(
            name: "a to-one gets a to-many inverse",
            source: pair([toOne("b", "B")], []),
            target: pair([toOne("b", "B", inverse: "as")], [toMany("as", "A", inverse: "b", ordered: true)]),
            sql: rows,
            members: ["A.b": [1: [2], 3: [1]], "B.as": [1: [3], 2: [1]]]
        ),
        Case(
            name: "a to-one gets a to-one inverse",
            source: pair([toOne("b", "B")], []),
            target: pair([toOne("b", "B", inverse: "a")], [toOne("a", "A", inverse: "b")]),
            sql: rows,
            members: ["A.b": [1: [2], 3: [1]], "B.a": [1: [3], 2: [1]]]
        ),
        Case(
            name: "a to-one becomes a to-many without an inverse",
            source: pair([toOne("b", "B")], []),
            target: pair([toMany("b", "B")], []),
            sql: rows,
            members: ["A.b": [1: [2], 3: [1]]]
        ),
        Case(
            name: "a to-one becomes a many-to-many relationship",
            source: pair([toOne("b", "B")], []),
            target: pair([toMany("b", "B", inverse: "as", ordered: true)], [toMany("as", "A", inverse: "b")]),
            sql: rows,
            members: ["A.b": [1: [2], 3: [1]], "B.as": [1: [3], 2: [1]]]
        ),
        Case(
            name: "a to-many without an inverse gets a to-one inverse",
            source: pair([toMany("bs", "B")], []),
            target: pair([toMany("bs", "B", inverse: "a")], [toOne("a", "A", inverse: "bs")]),
            sql: """
                INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1);
                INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT, Z1BS) VALUES (1, 2, 1, 2), (2, 2, 1, 2), (3, 2, 1, NULL);
                """,
            members: ["A.bs": [2: [1, 2]], "B.a": [1: [2], 2: [2]]]
        ),
        Case(
            name: "a to-many loses its inverse",
            source: pair([toMany("bs", "B", inverse: "a")], [toOne("a", "A", inverse: "bs")]),
            target: pair([toMany("bs", "B")], []),
            sql: """
                INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1);
                INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 2, 1, 2), (2, 2, 1, 2), (3, 2, 1, NULL);
                """,
            members: ["A.bs": [2: [1, 2]]]
        ),
        Case(
            name: "the destination gets a child entity, so references name the concrete entity",
            source: pair([toOne("b", "B")], []),
            target: pair([toOne("b", "B")], [], entity("C", parent: "B")),
            sql: rows,
            members: ["A.b": [1: [2], 3: [1]]]
        ),
        Case(
            name: "the destination's child entity is removed",
            source: pair([toOne("b", "B")], [], entity("C", parent: "B")),
            target: pair([toOne("b", "B")], []),
            sql: """
                INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZB, Z2_B) VALUES (1, 1, 1, 1, 2), (2, 1, 1, 2, 3);
                INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 3, 1);
                """,
            members: ["A.b": [1: [1]]]
        ),
        Case(
            name: "a member's entity is removed from a many-to-many relationship",
            source: pair(
                [toMany("bs", "B", inverse: "as")],
                [toMany("as", "A", inverse: "bs")],
                entity("C", parent: "B")
            ),
            target: pair([toMany("bs", "B", inverse: "as")], [toMany("as", "A", inverse: "bs")]),
            sql: """
                INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1);
                INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 3, 1);
                INSERT INTO Z_1BS (Z_1AS, Z_2BS) VALUES (1, 1), (1, 2);
                """,
            members: ["A.bs": [1: [1]], "B.as": [1: [1]]]
        ),
        Case(
            name: "a relationship that is its own inverse follows its entity's number",
            source: model(entity("B", [], [toMany("peers", "B", inverse: "peers")])),
            target: model(entity("A"), entity("B", [], [toMany("peers", "B", inverse: "peers")])),
            sql: """
                INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1);
                INSERT INTO Z_1PEERS VALUES (1, 2);
                """,
            members: ["B.peers": [1: [2], 2: [1]]]
        ),
    ]

    @Test("Every reference survives in the new form", arguments: cases)
    func migrating(_ migration: Case) throws {
        let target = MigrationTarget(ModelFile(model: migration.target), path: "")
        let sql = migration.sql + "UPDATE Z_PRIMARYKEY SET Z_MAX = 9 WHERE Z_SUPER = 0;"
        try withStore(migration.source, sql) { connection, scratch in
            _ = try ModelMigrator(connection, to: target).migrate()
            let layout = try #require(try StoreLayout(reading: connection))
            let content = try StoreContent(connection, layout)
            for (name, members) in migration.members {
                let parts = name.split(separator: ".").map(String.init)
                #expect(content.links[parts[0]]?[parts[1]] == members, "\(name)")
            }
            try connection.close()
            let report = try StoreVerifier().verify(scratch.location("Store.sqlite"), level: .coredata)
            #expect(report.findings.filter { $0.severity == .error || $0.severity == .warning }.isEmpty)
        }
    }
}

@Suite("Targets that cannot be read")
struct MigrationTargetTests {
    @Test("A compiled model cut off anywhere is refused with its path", .genuineStores)
    func truncated() throws {
        let path = try #require(Corpus.folder) + "/models/SampleModel.momd/SampleModel2.mom"
        let scratch = try ScratchFolder()
        let bytes = try ScratchFolder.contents(of: path)
        var random = SeededGenerator(seed: Seed.current)
        for count in [0, 1, 8, 40, bytes.count - 1] + (0..<20).map({ _ in Int(random.next() % UInt64(bytes.count)) }) {
            let name = "cut\(count).mom"
            guard try scratch.directory.status(of: name) == nil else { continue }
            try scratch.write(name, Array(bytes.prefix(count)))
            let error = #expect(throws: StoreError.self, "\(count) bytes") {
                try MigrationTarget(path: scratch.path + "/" + name)
            }
            #expect(error?.path.hasSuffix(name) == true)
        }
    }

    @Test("A store as the target has no versions to choose, and must keep its model")
    func stores() throws {
        try withStore(model(entity("A")), "DROP TABLE Z_MODELCACHE") { connection, scratch in
            try connection.close()
            let path = scratch.path + "/Store.sqlite"
            let version = #expect(throws: StoreError.self) { try MigrationTarget(path: path, version: "2") }
            #expect(version?.message == "a store has no versions of its model")
            let missing = #expect(throws: StoreError.self) { try MigrationTarget(path: path) }
            #expect(missing?.message == "the store keeps no copy of its model")
        }
    }

    @Test("Stand-ins of a store that is the target stay stand-ins")
    func standIns() throws {
        try withStore(model(entity("A"), entity("B")), "") { connection, scratch in
            try connection.close()
            let target = try MigrationTarget(path: scratch.path + "/Store.sqlite")
            #expect(!target.hasGenuineHashes)
            #expect(target.model.entities.count == 2)
        }
    }
}

extension ScratchFolder {
    /// The bytes of a file anywhere.
    static func contents(of path: String) throws -> [UInt8] {
        let location = StoreLocation(path: path)
        return try Directory.open(path: location.folder).contents(of: location.name, limit: 1 << 24)
    }
}
