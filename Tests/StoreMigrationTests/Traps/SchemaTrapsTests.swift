import SafeFiles
import StoreAccess
import StoreVerification
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Traps in schemas")
struct SchemaTrapsTests {
    private let places: Places

    init() throws { places = try Places() }

    private func unshare() throws -> ShareOutcome {
        try StoreUnsharing(places.oldStore.url, from: places.newStore.url).unshareAndWait()
    }

    @Test(
        "A store whose schema calls JSON functions is shared, proved, written and brought back",
        arguments: [
            "CREATE TABLE t (x CHECK (json_valid(x)))", "CREATE TABLE t (x, y AS (json_extract(x, '$.a')))",
            "CREATE TABLE t (x); CREATE INDEX i ON t (x ->> 'a')",
            "CREATE TABLE t (x); CREATE INDEX i ON t (x) WHERE json_type(x) = 'object'",
        ]
    )
    func functions(_ schema: String) throws {
        try places.old.makeStore("PRAGMA trusted_schema = 1; " + schema + "; INSERT INTO t (x) VALUES ('{\"a\":1}')")
        #expect(try places.share().outcome == .shared)
        #expect(try StoreVerifier().verify(places.newStore, level: .sqlite).passed)
        let writer = try StoreConnection(places.newStore, access: .liveWriting)
        try writer.run("INSERT INTO t (x) VALUES ('{\"a\":2}')", [])
        try writer.close()
        #expect(try unshare().outcome == .unshared)
        let reader = try StoreConnection(places.oldStore, access: .liveReading)
        defer { try? reader.close() }
        #expect(try reader.value("SELECT count(*) FROM t")?.integer == 2)
    }

    @Test(
        "A schema with a name that is not valid UTF-8 is refused by the plan and the share, and nothing is changed",
        arguments: [
            "CREATE TABLE \"t?\" (x)", "CREATE TABLE t (\"x?\", y)", "CREATE TABLE t (x); CREATE INDEX \"i?\" ON t (x)",
        ]
    )
    func names(_ schema: String) throws {
        try places.old.makeStore(schema.replacing("?", with: "\u{7F}"))
        // SQLite takes any byte in a name; a Swift string cannot have this one.
        var bytes = try places.old.directory.contents(of: places.name, limit: 1 << 20)
        for index in bytes.indices where bytes[index] == 0x7F { bytes[index] = 0xFF }
        try places.old.directory.replace(places.name, with: bytes, mode: 0o600)
        let before = try World(places)
        let migrator = StoreMigrator(from: places.oldStore.url, to: places.newStore.url)
        for attempt in [
            { _ = try migrator.planAndWait() }, { _ = try migrator.shareStoreIfNecessaryAndWait() },
        ] {
            let error = #expect(throws: MigrationError.self) { try attempt() }
            #expect(error?.outcome == .incompatible, "\(error.map { "\($0)" } ?? "")")
        }
        #expect(try World(places) == before)
    }

    @Test(
        "Names of any Unicode characters are shared, in every encoding",
        arguments: ["UTF-8", "UTF-16le", "UTF-16be"]
    )
    func unicodeNames(_ encoding: String) throws {
        try places.old.makeStore(
            "PRAGMA encoding = '\(encoding)'; CREATE TABLE \"ü漢\" (\"é𝄞\" PRIMARY KEY); INSERT INTO \"ü漢\" VALUES (1)"
        )
        #expect(try places.share().outcome == .shared)
        #expect(try places.digest(of: places.newStore) == places.digest(of: places.oldStore))
    }

    @Test("An unshare into a store in WAL mode with another page size is refused before anything is written")
    func pageSize() throws {
        try places.old.makeStore(
            "PRAGMA page_size = 4096; PRAGMA journal_mode = wal; CREATE TABLE t (k TEXT PRIMARY KEY); INSERT INTO t VALUES ('a')"
        )
        try places.container.makeStore(
            "PRAGMA page_size = 8192; PRAGMA journal_mode = wal; CREATE TABLE t (k TEXT PRIMARY KEY); INSERT INTO t VALUES ('b')"
        )
        #expect(try places.share { $0.onBoth = .merge }.outcome == .merged)
        let before = try World(places)
        let unsharing = StoreUnsharing(places.oldStore.url, from: places.newStore.url)
        for attempt in [{ _ = try unsharing.planAndWait() }, { _ = try unsharing.unshareAndWait() }] {
            let error = #expect(throws: MigrationError.self) { try attempt() }
            #expect(error?.outcome == .needsDecision && error?.path == places.oldStore.path)
        }
        #expect(try World(places) == before)
        #expect(try places.share().outcome == .alreadyShared)
    }
}
