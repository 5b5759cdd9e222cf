import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreBackup
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Removing leftovers of earlier runs")
struct StoreCleaningTests {
    private let places: Places

    init() throws { places = try Places() }

    private func make(_ rows: [String], in folder: ScratchFolder) throws {
        let values = rows.map { "INSERT INTO t VALUES ('\($0)', '\($0)');" }.joined()
        try folder.makeStore("CREATE TABLE t (id TEXT PRIMARY KEY, x TEXT) WITHOUT ROWID;" + values)
    }

    private func clean(_ folder: ScratchFolder, isRehearsal: Bool = false, archives: Int? = nil) throws -> [Leftover] {
        var options = CleaningOptions()
        options.archives = archives
        options.lockTimeout = .milliseconds(200)
        let url = URL(filePath: folder.path, directoryHint: .isDirectory)
        return try StoreCleaning(at: url, options: options).cleanAndWait(isRehearsal: isRehearsal)
    }

    /// A store with the first rows, which replaced the content of one with the others.
    private func displace(_ old: [String], _ new: [String]) throws {
        try make(old, in: places.old)
        try make(new, in: places.container)
        #expect(try places.share { $0.onBoth = .keepOld }.outcome == .shared)
    }

    private func write(_ sql: String, _ folder: ScratchFolder) throws {
        let app = try folder.open()
        try app.execute(sql)
        try app.close()
    }

    @Test("A displaced store without rows is removed, and -n changes nothing")
    func empty() throws {
        try displace(["a"], [])
        let world = try World(places)
        let planned = try clean(places.container, isRehearsal: true)
        #expect(planned.map(\.kind) == [.displacedStore])
        #expect(planned.map(\.reason) == ["it has no rows"])
        #expect(try World(places) == world)
        #expect(try clean(places.container) == planned)
        try places.expectTidy()
        #expect(try places.rows(of: places.newStore) == ["a"])
        #expect(try clean(places.container).isEmpty)
    }

    @Test("A store with only a full-text index without content is neither replaced nor removed as one without rows")
    func searchIndex() throws {
        let index = "CREATE VIRTUAL TABLE f USING fts5(a, content='', columnsize=0);"
        try places.old.makeStore(index + "INSERT INTO f (rowid, a) VALUES (1, 'one')")
        try places.container.makeStore(index + "INSERT INTO f (rowid, a) VALUES (1, 'two')")
        #expect(try places.share().outcome == .bothHoldObjects)
        #expect(try places.share { $0.onBoth = .keepOld }.outcome == .shared)
        let kept = try clean(places.container)
        #expect(kept.map(\.isRemoved) == [false], "\(kept)")
    }

    @Test("A displaced store is kept while a row of it is only there, and removed once the store in use has all")
    func lastCopy() throws {
        try displace(["a", "b"], ["b", "c"])
        let kept = try clean(places.container)
        #expect(kept.map(\.isRemoved) == [false])
        #expect(kept[0].reason.hasPrefix("1 of its rows are not in \(places.newStore.path)"), "\(kept[0].reason)")
        try write("INSERT INTO t VALUES ('c', 'other')", places.container)
        #expect(try clean(places.container).map(\.isRemoved) == [false])
        try write("UPDATE t SET x = 'c' WHERE id = 'c'", places.container)
        let removed = try clean(places.container)
        #expect(removed.map(\.isRemoved) == [true])
        #expect(removed[0].reason == "the store in use has all of its rows: \(places.newStore.path)")
        try places.expectTidy()
    }

    @Test("A displaced store with a column that the store in use lacks is kept")
    func column() throws {
        try make(["a"], in: places.old)
        try places.container.makeStore(
            "CREATE TABLE t (id TEXT PRIMARY KEY, x TEXT, y TEXT) WITHOUT ROWID; INSERT INTO t VALUES ('a', 'a', 'only')"
        )
        try places.share { $0.onBoth = .keepOld }
        #expect(try clean(places.container).map(\.isRemoved) == [false])
    }

    @Test("A displaced store with an external file that the store in use lacks is kept")
    func externalFiles() throws {
        try make(["a"], in: places.old)
        try make(["a"], in: places.container)
        try places.writeExternalFile("blob", 7, count: 100, in: places.container, of: places.newStore)
        try write("UPDATE t SET x = 'b'", places.container)
        try places.share { $0.onBoth = .keepOld }
        let kept = try clean(places.container)
        #expect(kept.map(\.isRemoved) == [false])
    }

    @Test("A leftover that a process has open is kept")
    func open() throws {
        try displace(["a"], ["a", "b"])
        try write("INSERT INTO t VALUES ('b', 'b')", places.container)
        let store = try #require(DisplacedFiles.stores(displacedFrom: places.newStore).first)
        let connection = try StoreConnection(store, access: .liveWriting, lockTimeout: .zero)
        _ = try connection.value("SELECT count(*) FROM t")
        #expect(try clean(places.container).map(\.isRemoved) == [false])
        try connection.close()
        #expect(try clean(places.container).map(\.isRemoved) == [true])
    }

    @Test("The displaced store of a run that is not finished is kept")
    func atWork() throws {
        try displace(["a"], [])
        let aside = try #require(places.container.directory.entries().first { $0.hasPrefix(DisplacedFiles.prefix) })
        let staging = ".store-migrate-" + aside.dropFirst(DisplacedFiles.prefix.count)
        _ = try places.container.directory.createDirectory(staging, mode: 0o700)
        let kept = try clean(places.container)
        #expect(Set(kept.map(\.kind)) == [.displacedStore, .stagingFolder])
        #expect(kept.map(\.isRemoved) == [false, false])
        try places.container.directory.removeDirectory(staging)
        let removed = try clean(places.container)
        #expect(removed.map(\.isRemoved) == [true])
    }

    @Test("After an unshare the withdrawn and the replaced store go once their rows are in the old store")
    func unshare() throws {
        try make(["a"], in: places.old)
        try places.share()
        try write("INSERT INTO t VALUES ('b', 'b')", places.container)
        try StoreUnsharing(places.oldStore.url, from: places.newStore.url).unshareAndWait()
        try write("DELETE FROM t WHERE id = 'b'", places.old)
        #expect(try clean(places.container).map(\.isRemoved) == [false])
        try write("INSERT INTO t VALUES ('b', 'b'), ('c', 'c')", places.old)
        let removed = try clean(places.container) + clean(places.old)
        #expect(removed.map(\.kind) == [.withdrawnStore, .displacedStore])
        #expect(removed.map(\.isRemoved) == [true, true])
        #expect(try places.rows(of: places.oldStore) == ["a", "b", "c"])
        #expect(try places.share().outcome == .shared)
    }

    @Test("A removal that was interrupted after its rename is completed, with the store's other files")
    func interrupted() throws {
        let transaction = String(repeating: "0a", count: 16)
        let name = "store.sqlite.withdrawn-\(transaction).sqlite"
        let claimed = try places.container.directory.createDirectory(
            CleaningRun.claimedPrefix + transaction,
            mode: 0o700
        )
        try claimed.createFile(name, mode: 0o600).close()
        try places.writeExternalFile("blob", 1, count: 10, in: places.container, of: places.container.location(name))
        try places.container.write(".\(name).store-migrate.json", [1])
        try places.container.write("store.sqlite.other", [1])
        let removed = try clean(places.container)
        #expect(removed.map(\.kind) == [.interruptedRemoval])
        #expect(removed.map(\.isRemoved) == [true])
        #expect(try places.container.directory.entries() == ["store.sqlite.other"])
    }

    @Test("A folder with the name of an interrupted removal that others may write to is kept")
    func notPrivate() throws {
        let name = CleaningRun.claimedPrefix + String(repeating: "0a", count: 16)
        let claimed = try places.container.directory.createDirectory(name, mode: 0o700)
        try claimed.createFile("Habits.sqlite", mode: 0o600).close()
        try claimed.setMode(0o755)
        #expect(try clean(places.container).map(\.isRemoved) == [false])
        #expect(try claimed.entries() == ["Habits.sqlite"])
    }

    @Test("Files displaced without their store are kept")
    func filesAlone() throws {
        let aside = try places.container.directory.createDirectory(
            DisplacedFiles.name(for: String(repeating: "0b", count: 16)),
            mode: 0o700
        )
        try aside.createFile("store.sqlite-wal", mode: 0o600).close()
        #expect(try clean(places.container).map(\.kind) == [.displacedFiles])
        #expect(try clean(places.container).map(\.isRemoved) == [false])
    }

    @Test("Archives of retired stores go only by the retention, and the newest good one stays")
    func archives() throws {
        try make(["a"], in: places.old)
        try places.share()
        try StoreRetirement(of: places.oldStore.url).retireAndWait()
        let folder = try places.journalFolder().path
        let backups = BackupFolder(at: URL(filePath: folder, directoryHint: .isDirectory))
        let archive = try #require(backups.list().first)
        let copy = "store.sqlite-20200101T000000Z.tar.zst"
        try FileManager.default.copyItem(atPath: folder + "/" + archive.name, toPath: folder + "/" + copy)
        #expect(try clean(places.old).map(\.isRemoved) == [false, false])
        #expect(try clean(places.old, isRehearsal: true, archives: 1).filter(\.isRemoved).count == 1)
        #expect(try backups.list().count == 2)
        let removed = try clean(places.old, archives: 1).filter(\.isRemoved)
        #expect(removed.map(\.kind) == [.archive])
        #expect(try backups.list().map(\.name) == [archive.name])
    }

    @Test("Parked rows are listed and kept")
    func parked() throws {
        try make(["a"], in: places.old)
        try make(["a", "b"], in: places.container)
        try write("UPDATE t SET x = 'old'", places.old)
        let outcome = try places.share { $0.onBoth = .merge }
        let file = try #require(outcome.merge?.parkedRows)
        let kept = try clean(places.old)
        #expect(kept.map(\.kind) == [.parkedRows])
        #expect(kept.map(\.path) == [file])
        #expect(kept.map(\.isRemoved) == [false])
    }
}
