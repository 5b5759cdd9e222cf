import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreFormat
import SystemPackage
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Traps in a store's set of files")
struct FileSetTests {
    @Test("A hot rollback journal is rolled back: no uncommitted row is shared or remains")
    func hotJournal() throws {
        let places = try Places(fixture: "hot-journal")
        #expect(try places.old.directory.status(of: "store.sqlite-journal") != nil)

        #expect(try places.share().outcome == .shared)

        for store in [places.newStore, places.oldStore] {
            #expect(try places.count("SELECT count(*) FROM entry WHERE value LIKE 'committed%'", in: store) == 200)
            #expect(try places.count("SELECT count(*) FROM entry", in: store) == 200)
        }
        try places.expectTidy()
    }

    @Test(
        "A log is shared without its index, and with an index from another machine",
        arguments: ["foreign", "missing"]
    )
    func sharedMemory(kind: String) throws {
        let places = try Places(fixture: "stale-shared-memory")
        if kind == "missing" { try places.old.directory.removeFile("store.sqlite-shm") }
        let before = try places.digest(of: places.oldStore)

        #expect(try places.share().outcome == .shared)

        #expect(try places.count("SELECT count(*) FROM ZNOTE", in: places.newStore) == 20)
        #expect(try places.digest(of: places.newStore) == before)
        try places.expectTidy()
    }

    @Test("A store that was closed cleanly is shared without sidecars", arguments: ["clean", "rollback-journal"])
    func noSidecars(fixture: String) throws {
        let places = try Places(fixture: fixture)
        #expect(try places.old.directory.entries() == ["store.sqlite"])
        let before = try places.digest(of: places.oldStore)

        #expect(try places.share().outcome == .shared)

        #expect(try places.digest(of: places.newStore) == before)
        #expect(try !places.container.directory.entries().contains { $0.hasSuffix("-wal") || $0.hasSuffix("-journal") })
        try places.expectTidy()
    }

    @Test("A log or journal without its store is reported as orphanSidecar", arguments: ["-wal", "-journal"])
    func orphanSidecarAtSource(suffix: String) throws {
        let places = try Places()
        try places.old.write("store.sqlite" + suffix, [UInt8](repeating: 1, count: 4000))
        for hasNew in [false, true] {
            if hasNew { try places.container.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)") }
            let before = try World(places)

            let error = #expect(throws: MigrationError.self) { try places.share() }

            #expect(error?.outcome == .orphanSidecar)
            #expect(error?.outcome.exitStatus == 12)
            #expect(try World(places) == before)
        }
    }

    @Test("All sidecars without a main file at the destination are displaced")
    func orphanSidecarsAtDestination() throws {
        let places = try Places(fixture: "clean")
        let before = try places.digest(of: places.oldStore)
        let sidecars = ["store.sqlite-wal", "store.sqlite-shm", "store.sqlite-journal"]
        for (index, name) in sidecars.enumerated() {
            try places.container.write(name, [UInt8](repeating: UInt8(index), count: 9000))
        }

        let outcome = try places.share()

        #expect(outcome.outcome == .shared)
        let aside = try places.aside(of: outcome.transaction)
        for (index, name) in sidecars.enumerated() {
            #expect(try aside.contents(of: name, limit: 10_000) == [UInt8](repeating: UInt8(index), count: 9000))
        }
        #expect(try places.digest(of: places.newStore) == before)
        try places.expectTidy(extra: [DisplacedFiles.name(for: outcome.transaction ?? "")])
    }

    @Test(
        "A store with missing, orphan or truncated external files is shared, and they are inherited findings",
        arguments: ["missing-external-file", "orphan-external-file", "truncated-external-file"]
    )
    func externalFileTroubles(fixture: String) throws {
        let places = try Places(fixture: fixture)
        let before = try places.digest(of: places.oldStore)

        let outcome = try places.share()

        #expect(outcome.outcome == .shared)
        #expect(outcome.outcome.exitStatus == 0)
        // The length of a file before it was truncated is recorded nowhere.
        if fixture != "truncated-external-file" {
            #expect(outcome.findings.contains { $0.severity == .inherited }, "\(outcome.findings)")
        }
        #expect(!outcome.findings.contains { $0.severity == .error || $0.severity == .warning }, "\(outcome.findings)")
        #expect(try places.digest(of: places.newStore) == before)
        try places.expectTidy()
    }

    @Test(
        "A file name is never interpreted as a path, pattern or URI",
        arguments: [
            "my store.sqlite", "store", "Größe.storedata", "it's \"quoted\".sqlite", "what?mode=memory.sqlite",
            "file:store.sqlite", "a#b.sqlite", "100%25.sqlite", "%41.sqlite", "two\nlines.sqlite", ".hidden", "-n",
            "a;b`c$d.sqlite", "back\\slash.store", "store.sqlite-wal.sqlite", "☃️.sqlite", ":memory:",
        ]
    )
    func unusualNames(name: String) throws {
        let places = try Places(name: name)
        try places.old.makeStore(
            "PRAGMA journal_mode=wal; CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)",
            as: name
        )
        try places.writeExternalFile("blob", 7, count: 100, in: places.old)
        let writer = try places.old.open(name)
        try writer.execute("INSERT INTO t VALUES (3)")
        try writer.close()
        let before = try places.digest(of: places.oldStore)

        let outcome = try places.share()

        #expect(outcome.outcome == .shared)
        #expect(outcome.new?.path == places.container.path + "/" + name)
        #expect(try places.digest(of: places.newStore) == before)
        #expect(try places.externalFiles(in: places.container.directory) == ["blob": 7])
        let fence = try StoreReader().withView(of: places.oldStore) { try StoreFence(reading: $0.connection) }
        #expect(fence?.newPath == places.newStore.path)
        #expect(try places.share().outcome == .alreadyShared)
        try places.expectTidy()
    }

    @Test("A share from or to a store named manifest.json is refused before anything is written")
    func nameOfManifest() throws {
        let name = "manifest.json"
        let places = try Places(name: name)
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)", as: name)
        let plain = try Places()
        try plain.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        let renaming = StoreMigrator(from: plain.oldStore.url, to: plain.container.location(name).url)
        for refused in [{ _ = try places.share() }, { _ = try renaming.planAndWait() }] as [() throws -> Void] {
            let error = #expect(throws: MigrationError.self) { try refused() }
            #expect(error?.outcome == .usage)
            #expect(error?.message.contains("archive") == true)
        }
        for folder in [places.container, plain.container] { #expect(try folder.directory.entries().isEmpty) }
    }

    @Test("Names that differ only in case are different names")
    func caseOfNames() throws {
        let places = try Places(name: "Store.sqlite")
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)", as: "Store.sqlite")
        try places.container.makeStore("CREATE TABLE other (x); INSERT INTO other VALUES (1)", as: "store.sqlite")
        let other = try places.container.bytes("store.sqlite")

        #expect(try places.share().outcome == .shared)

        #expect(try places.container.bytes("store.sqlite") == other)
        try places.expectTidy(extra: ["store.sqlite"])
    }

    @Test("The new store keeps the old one's settings", arguments: ["history-on", "small-pages", "rollback-journal"])
    func identityIsKept(fixture: String) throws {
        let places = try Places(fixture: fixture)
        try FilePath(places.oldStore.path).setMode(0o640)
        let before = try #require(try StoreInspector(depth: .digest).inspect(places.oldStore).inspection)

        try places.share()

        let after = try #require(try StoreInspector(depth: .digest).inspect(places.newStore).inspection)
        #expect(after.uuid == before.uuid && before.uuid != nil)
        #expect(after.metadata?.values == before.metadata?.values)
        #expect(after.header.journalMode == before.header.journalMode)
        #expect(after.header.pageSize == before.header.pageSize)
        #expect(after.header.userVersion == before.header.userVersion)
        #expect(after.header.applicationID == before.header.applicationID)
        #expect(after.entities == before.entities)
        #expect(after.history == before.history)
        #expect(after.mode & 0o777 == 0o640)
        #expect(after.digest?.value == before.digest?.value)
    }
}
