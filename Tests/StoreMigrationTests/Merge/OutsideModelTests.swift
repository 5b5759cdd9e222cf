import ChangeMerging
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Late writes outside the model")
struct OutsideModelTests {
    /// Data of an application beside its model, a late write to it, and the expected result.
    struct Kind: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var schema = "SELECT 1"
        let write: String
        let query: String
        let expected: Int64
    }

    static let carried = [
        Kind(
            testDescription: "a table of its own",
            schema: "CREATE TABLE own (id INTEGER PRIMARY KEY, v)",
            write: "INSERT INTO own VALUES (1, 41)",
            query: "SELECT v FROM own",
            expected: 41
        ),
        Kind(
            testDescription: "a column that the model does not know",
            schema: "ALTER TABLE ZHABIT ADD COLUMN ZOWN",
            write: "UPDATE ZHABIT SET ZOWN = 42 WHERE Z_PK = 1",
            query: "SELECT ZOWN FROM ZHABIT WHERE Z_PK = 1",
            expected: 42
        ),
        Kind(
            testDescription: "a search index",
            schema: "CREATE VIRTUAL TABLE words USING fts5(x)",
            write: "INSERT INTO words (rowid, x) VALUES (43, 'late')",
            query: "SELECT rowid FROM words WHERE words MATCH 'late'",
            expected: 43
        ),
        Kind(
            testDescription: "the user version",
            write: "PRAGMA user_version = 44",
            query: "PRAGMA user_version",
            expected: 44
        ),
        Kind(
            testDescription: "the application ID",
            write: "PRAGMA application_id = 45",
            query: "PRAGMA application_id",
            expected: 45
        ),
        Kind(
            testDescription: "a table that was created late",
            write: "CREATE TABLE late (v); INSERT INTO late VALUES (46)",
            query: "SELECT v FROM late",
            expected: 46
        ),
        Kind(
            testDescription: "an index that was created late",
            write: "CREATE INDEX late ON ZHABIT (ZNAME)",
            query: "SELECT count(*) FROM sqlite_schema WHERE name = 'late'",
            expected: 1
        ),
    ]

    static let refused = [
        Kind(
            testDescription: "a search index that was created late",
            write: "CREATE VIRTUAL TABLE late USING fts5(v)",
            query: "SELECT count(*) FROM late",
            expected: 0
        ),
        Kind(
            testDescription: "a unique index that was created late",
            write: "CREATE UNIQUE INDEX late ON ZHABIT (ZNAME)",
            query: "SELECT count(*) FROM sqlite_schema WHERE name = 'late'",
            expected: 1
        ),
    ]

    private static func world(_ kind: Kind) throws -> MergeWorld {
        let world = try MergeWorld()
        try execute(kind.schema, world.places.old)
        try world.places.share(MergeWorld.capture)
        return world
    }

    private static func execute(_ sql: String, _ folder: ScratchFolder) throws {
        let connection = try folder.open()
        try connection.execute(sql)
        try connection.close()
    }

    private static func unsharing(_ places: Places) -> StoreUnsharing {
        var options = ShareOptions()
        options.level = .coredata
        options.lockTimeout = .seconds(60)
        return StoreUnsharing(places.oldStore.url, from: places.newStore.url, options: options)
    }

    @Test("A second share merges a late write outside the model, and nothing is late afterwards", arguments: carried)
    func share(_ kind: Kind) throws {
        let places = try Self.world(kind).places
        try Self.execute(kind.write, places.old)
        #expect(try StoreDifference().compare(places.oldStore, with: places.newStore) { _ in }.isEqual == false)

        #expect(try places.share(MergeWorld.capture).outcome == .merged)

        #expect(try places.count(kind.query, in: places.newStore) == kind.expected)
        #expect(try places.migrator().statusAndWait().lateWrites == StatusReport.LateWrites.none)
        #expect(try places.share(MergeWorld.capture).outcome == .alreadyShared)
    }

    @Test("unshare brings a late write outside the model back", arguments: carried)
    func unshare(_ kind: Kind) throws {
        let places = try Self.world(kind).places
        try Self.execute(kind.write, places.old)
        #expect(try Self.unsharing(places).unshareAndWait().outcome == .unshared)
        #expect(try places.count(kind.query, in: places.oldStore) == kind.expected)
    }

    @Test(
        "A late write that cannot be merged needs a decision and prevents retiring the old store",
        arguments: refused
    )
    func refuse(_ kind: Kind) throws {
        let places = try Self.world(kind).places
        try Self.execute(kind.write, places.old)
        let before = try (places.digest(of: places.oldStore), places.digest(of: places.newStore))

        for attempt in [
            { _ = try places.share(MergeWorld.capture) }, { _ = try Self.unsharing(places).unshareAndWait() },
            { _ = try places.migrator(MergeWorld.capture).planAndWait() },
        ] {
            let error = #expect(throws: MigrationError.self) { try attempt() }
            #expect(error?.outcome == .needsDecision)
            #expect(error?.message.contains("late") == true)
            #expect(error?.next == .diff(places.oldStore.path, places.newStore.path))
        }
        #expect(try (places.digest(of: places.oldStore), places.digest(of: places.newStore)) == before)
        #expect(try places.migrator().statusAndWait().lateWrites == .found)
        #expect(throws: MigrationError.self) { try StoreRetirement(of: places.oldStore.url).retireAndWait() }

        try Self.execute(kind.write, places.container)
        #expect(try places.share(MergeWorld.capture).outcome == .merged)
        #expect(try places.migrator().statusAndWait().lateWrites == StatusReport.LateWrites.none)
    }

    @Test("A store with rows only outside its model does not count as empty")
    func noObjects() throws {
        let world = try MergeWorld()
        let places = world.places
        try Self.execute(
            "DELETE FROM ZDAY; DELETE FROM ZHABIT; CREATE TABLE own (v); INSERT INTO own VALUES (1)",
            places.old
        )
        try MergeWorld.build(at: places.newStore, tracksHistory: true)
        let error = #expect(throws: MigrationError.self) {
            let outcome = try places.share(MergeWorld.capture)
            throw MigrationError(outcome.outcome, outcome.message, path: "")
        }
        #expect(error?.outcome == .bothHoldObjects)
    }
}
