import Glibc
import SafeFiles
import StoreAccess
import StoreFixtures
import StoreVerification
import SystemPackage
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Sharing a store")
struct ShareTests {
    private static let rows = """
        CREATE TABLE habit (id INTEGER PRIMARY KEY, name TEXT NOT NULL, weight REAL);
        CREATE INDEX habit_name ON habit (name);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
        INSERT INTO habit SELECT i, 'habit ' || i, i * 0.5 FROM n;
        """

    @Test("A share copies every row and proves it, in either journal mode", arguments: ["wal", "delete"])
    func wholeStore(mode: String) throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=\(mode);" + Self.rows)
        let before = try places.digest(of: places.oldStore)

        let outcome = try places.share()

        #expect(outcome.outcome == .shared)
        #expect(outcome.new?.digest == before)
        #expect(try places.digest(of: places.newStore) == before)
        #expect(try places.digest(of: places.oldStore) == before)
        #expect(outcome.report?.passed == true)
        try places.expectTidy()
    }

    @Test("Rows that are only in the write-ahead log are shared")
    func rowsOnlyInTheLog() throws {
        let places = try Places()
        let elsewhere = try ScratchFolder()
        try elsewhere.makeStore("PRAGMA journal_mode=wal; CREATE TABLE t (x)", as: "store.sqlite")
        let writer = try elsewhere.open()
        try writer.execute("INSERT INTO t VALUES (1), (2), (3)")
        try elsewhere.copyFiles(to: places.old)

        try places.share()

        #expect(try places.count("SELECT count(*) FROM t", in: places.newStore) == 3)
        try places.expectTidy()
    }

    @Test("A second share does nothing")
    func secondShare() throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=wal;" + Self.rows)
        try places.share()
        let before = (try places.old.everything(), try places.container.everything())

        #expect(try places.share().outcome == .alreadyShared)

        let after = (try places.old.everything(), try places.container.everything())
        #expect(before == after)
    }

    @Test("External files are shared with their store")
    func externalFiles() throws {
        let places = try Places()
        try places.old.makeStore(Self.rows)
        let support = try places.old.directory.createDirectory(".store_SUPPORT", mode: 0o755)
        let external = try support.createDirectory("_EXTERNAL_DATA", mode: 0o755)
        let file = try external.createFile("6C1F4F0A-0000-4000-8000-000000000001", mode: 0o640)
        try [UInt8](repeating: 7, count: 200_000).withUnsafeBytes { try file.write($0, at: 0) }
        try file.close()

        let outcome = try places.share()

        #expect(outcome.work?.externalFiles == 1)
        let arrived = try places.container.directory.openDirectory(".store_SUPPORT").openDirectory("_EXTERNAL_DATA")
        #expect(try arrived.entries() == ["6C1F4F0A-0000-4000-8000-000000000001"])
        #expect(try arrived.status(of: "6C1F4F0A-0000-4000-8000-000000000001")?.mode == 0o640)
        #expect(try places.digest(of: places.newStore) == places.digest(of: places.oldStore))
        try places.expectTidy()
    }

    @Test("A truncated external file at the destination is replaced by the complete one")
    func halfCopiedExternalFile() throws {
        let places = try Places()
        try places.old.makeStore(Self.rows)
        let name = "6C1F4F0A-0000-4000-8000-000000000001"
        for (folder, count) in [(places.old, 1000), (places.container, 500)] {
            let support = try folder.directory.createDirectory(".store_SUPPORT", mode: 0o755)
            let external = try support.createDirectory("_EXTERNAL_DATA", mode: 0o755)
            let file = try external.createFile(name, mode: 0o644)
            try [UInt8](repeating: 7, count: count).withUnsafeBytes { try file.write($0, at: 0) }
            try file.close()
        }

        let outcome = try places.share()

        let arrived = try places.container.directory.openDirectory(".store_SUPPORT").openDirectory("_EXTERNAL_DATA")
        #expect(try arrived.status(of: name)?.size == 1000)
        let aside = ".store-migrate-aside-\(outcome.transaction ?? "")"
        #expect(try places.container.directory.openDirectory(aside).status(of: name)?.size == 500)
        try places.expectTidy(extra: [aside])
    }

    @Test("A stale log at the destination is displaced and not replayed")
    func staleLog() throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=wal;" + Self.rows)
        let elsewhere = try ScratchFolder()
        try elsewhere.makeStore("PRAGMA journal_mode=wal; CREATE TABLE abandoned (x)")
        let writer = try elsewhere.open()
        try writer.execute("INSERT INTO abandoned VALUES (1)")
        try places.container.write("store.sqlite-wal", elsewhere.bytes("store.sqlite-wal"))

        let outcome = try places.share()

        #expect(outcome.outcome == .shared)
        #expect(try places.count("SELECT count(*) FROM habit", in: places.newStore) == 500)
        #expect(outcome.findings.contains { $0.code == .sidecarsMovedAside })
        try places.expectTidy(extra: [".store-migrate-aside-\(outcome.transaction ?? "")"])
    }

    @Test("An empty store that a process has open receives the content", arguments: ["wal", "delete", "zero bytes"])
    func emptyStoreInUse(kind: String) throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=wal;" + Self.rows)
        if kind == "zero bytes" {
            try places.container.write("store.sqlite", [])
        } else {
            try places.container.makeStore(
                "PRAGMA journal_mode=\(kind); CREATE TABLE habit (id INTEGER PRIMARY KEY, name TEXT NOT NULL, weight REAL)"
            )
        }
        let extensionProcess = try StoreWriterProcess(places.newStore.path)

        let outcome = try places.share()

        #expect(outcome.outcome == .shared)
        #expect(outcome.findings.contains { $0.code == .emptyStoreKeptAside })
        #expect(try extensionProcess.execute("INSERT INTO habit VALUES (1000, 'from the extension', 0)") == "ok")
        let consumer = try places.container.open()
        try consumer.execute("INSERT INTO habit VALUES (1001, 'from the app', 0)")
        #expect(try consumer.value("SELECT count(*) FROM habit")?.integer == 502)
        #expect(try extensionProcess.execute("SELECT count(*) FROM habit") == "value 502")
        #expect(try consumer.value("PRAGMA integrity_check")?.text == "ok")
    }

    @Test("Writers of the old store get an error that names the new path")
    func fence() throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=wal;" + Self.rows)
        let writer = try StoreWriterProcess(places.oldStore.path)
        #expect(try writer.execute("SELECT count(*) FROM habit") == "value 500")
        try places.share()

        let answer = try writer.execute("UPDATE habit SET name = 'late' WHERE id = 1")
        #expect(answer.contains("store moved to \(places.newStore.path)"))
        #expect(try writer.execute("SELECT count(*) FROM habit") == "value 500")
    }

    @Test("A write that bypasses the fence is reported, and nothing is overwritten")
    func lateWrites() throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=wal;" + Self.rows)
        try places.share()
        let writer = try places.old.open()
        try writer.execute("CREATE TABLE late (x); INSERT INTO late VALUES (1)")
        try writer.close()

        let outcome = try places.share()

        #expect(outcome.outcome == .lateWrites)
        #expect(outcome.next != nil)
        #expect(try places.migrator().statusAndWait().lateWrites == .found)
    }

    @Test("Two stores with objects need a decision, and each choice keeps the other store")
    func bothHoldObjects() throws {
        for policy in ShareOptions.BothPlacesPolicy.allCases where policy != .merge {
            let places = try Places()
            try places.old.makeStore("PRAGMA journal_mode=wal;" + Self.rows)
            try places.container.makeStore(
                "CREATE TABLE habit (id INTEGER PRIMARY KEY, name TEXT NOT NULL, weight REAL); INSERT INTO habit VALUES (9, 'other', 1)"
            )
            let (old, new) = (try places.digest(of: places.oldStore), try places.digest(of: places.newStore))

            let outcome = try places.share { $0.onBoth = policy }

            switch policy {
            case .fail:
                #expect(outcome.outcome == .bothHoldObjects)
                #expect(outcome.next != nil)
                #expect(try places.digest(of: places.newStore) == new)
            case .keepOld:
                #expect(outcome.outcome == .shared)
                #expect(try places.digest(of: places.newStore) == old)
                let aside = try places.container.directory.openDirectory(
                    ".store-migrate-aside-\(outcome.transaction ?? "")"
                )
                #expect(try places.digest(of: StoreLocation(folder: aside.path, name: places.name)) == new)
            case .keepNew:
                #expect(outcome.outcome == .alreadyShared)
                #expect(try places.digest(of: places.newStore) == new)
                #expect(try places.digest(of: places.oldStore) == old)
            case .merge: break
            }
        }
    }

    @Test("Equal stores at both paths need no decision")
    func equalStores() throws {
        let places = try Places()
        try places.old.makeStore(Self.rows)
        try places.old.copyFiles(to: places.container)

        let outcome = try places.share()

        #expect(outcome.outcome == .alreadyShared)
        #expect(try StoreReader().withView(of: places.oldStore) { try StoreFence(reading: $0.connection) } != nil)
        try places.expectTidy()
    }

    @Test("A missing shared store is shared again, with an error finding")
    func sharedAgain() throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=wal;" + Self.rows)
        try places.share()
        try places.container.directory.removeFile(places.name)

        let outcome = try places.share()

        #expect(outcome.outcome == .shared)
        #expect(outcome.findings.contains { $0.code == .sharedStoreMissing && $0.severity == .error })
        #expect(try places.digest(of: places.newStore) == places.digest(of: places.oldStore))
        try places.expectTidy()
    }

    @Test("Another store at the shared one's path, with its inode or its receipt, is not accepted as shared")
    func anotherStoreInItsPlace() throws {
        let places = try Places()
        try RecipeBuilder.build(recipeFile: Fixtures.habitCalendar, at: places.oldStore)
        try places.share()
        let file = try places.container.directory.openFile(places.name, for: .writing)
        let other = try ScratchFolder()
        try other.makeStore(Self.rows)
        let bytes = try other.bytes("store.sqlite")
        try file.truncate(to: 0)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        try file.close()

        let error = #expect(throws: MigrationError.self) { try places.share() }

        #expect(error?.outcome == .incompatible)
        #expect(try places.count("SELECT count(*) FROM habit", in: places.newStore) == 500)
    }

    @Test("A cancelled share leaves nothing behind")
    func cancelled() throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=wal;" + Self.rows)

        let error = #expect(throws: MigrationError.self) {
            try places.migrator().shareStoreIfNecessaryAndWait(isCancelled: { true })
        }

        #expect(error?.outcome == .cancelled)
        #expect(try places.container.directory.entries().isEmpty)
        #expect(try !places.old.directory.entries().contains(".store-migrate"))
    }

    @Test("Two backups of stores with one name, made within a second, are both kept")
    func backupsOfOneName() throws {
        let archives = try ScratchFolder()
        for _ in 1...2 {
            let places = try Places()
            try places.old.makeStore(Self.rows)
            #expect(try places.share { $0.backupFolder = StoreLocation(path: archives.path).url }.outcome == .shared)
        }
        #expect(try archives.directory.entries().filter { $0.hasSuffix(".tar.zst") }.count == 2)
    }

    @Test(
        "A store that no user may read is refused by plan and share with the command that helps",
        .enabled(if: geteuid() == 0)
    )
    func unreadableMode() throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=delete;" + Self.rows)
        try FilePath(places.oldStore.path).setMode(0)
        let runs = [{ _ = try places.migrator().planAndWait() }, { _ = try places.share() }]
        for run in runs {
            let error = #expect(throws: MigrationError.self) { try run() }
            #expect(error?.outcome == .foundButUnreadable)
            #expect(error?.advice.contains("chmod u+rw") == true)
        }
        #expect(try places.container.directory.entries().isEmpty)
        try FilePath(places.oldStore.path).setMode(0o600)
        #expect(try places.share().outcome == .shared)
    }
}
