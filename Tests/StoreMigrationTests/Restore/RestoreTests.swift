import Foundation
import SafeFiles
import StoreAccess
import StoreBackup
import StoreFormat
import StoreVerification
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Restoring a backup")
struct RestoreTests {
    private static let sql = "CREATE TABLE t (x); INSERT INTO t VALUES (1), ('two')"

    @Test("A restore to a vacant path brings the store, its mode and external files, and no other files")
    func emptyPlace() throws {
        let world = try RestoreWorld()
        try world.stores.makeStore("PRAGMA journal_mode=wal;" + Self.sql)
        try world.stores.directory.openFile(world.name, for: .writing).setMode(0o640)
        let external = try world.stores.directory.createDirectory(world.store.supportFolderName, mode: 0o755)
            .createDirectory("_EXTERNAL_DATA", mode: 0o755)
        try external.createFile("A", mode: 0o644).close()
        let archive = try world.backUp()

        let outcome = try world.restore(archive)

        #expect(outcome.outcome == .restored && outcome.keptAside == nil)
        #expect(try world.digest(of: world.restored) == world.digest(of: world.store))
        #expect(try world.place.directory.status(of: world.name)?.mode == 0o640)
        let restored = try #require(try world.place.directory.externalData(of: world.restored))
        #expect(try restored.status(of: "A")?.mode == 0o640 && restored.status().mode == 0o750)
        #expect(try world.place.directory.entries() == [world.store.supportFolderName, world.name])
    }

    @Test("In an existing folder a store keeps its name; a missing folder fails with the command to create it")
    func folder() throws {
        let world = try RestoreWorld(name: "Habits.sqlite")
        try world.stores.makeStore(Self.sql, as: world.name)
        let archive = try world.backUp()
        let folder = StoreLocation(path: world.place.path)
        #expect(try world.restore(archive, to: folder).path == world.restored.path)
        let missing = StoreLocation(path: world.place.path + "/missing/x.sqlite")
        let error = #expect(throws: MigrationError.self) { try world.restore(archive, to: missing) }
        #expect(error?.outcome == .nothingFound && error?.next == .makeFolder(path: world.place.path + "/missing"))
    }

    @Test("A store restored under another name has its external files in the folder of that name")
    func otherName() throws {
        let world = try RestoreWorld()
        try world.stores.makeStore(Self.sql)
        try world.stores.directory.createDirectory(world.store.supportFolderName, mode: 0o755)
            .createDirectory("_EXTERNAL_DATA", mode: 0o755).createFile("A", mode: 0o644).close()
        let other = world.place.location("Other.store")
        try world.restore(try world.backUp(), to: other)
        #expect(try world.place.directory.entries() == [".Other_SUPPORT", "Other.store"])
        #expect(try world.digest(of: other) == world.digest(of: world.store))
    }

    @Test("An existing store stays unchanged without --overwrite")
    func occupied() throws {
        let world = try RestoreWorld()
        try world.stores.makeStore(Self.sql)
        let archive = try world.backUp()
        try world.place.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (3)")
        let before = try world.place.everything()

        let error = #expect(throws: MigrationError.self) { try world.restore(archive) }

        #expect(error?.outcome == .needsDecision)
        #expect(try world.place.everything() == before)
    }

    @Test("A copy of a replaced store is kept, and processes that have it open continue", arguments: ["wal", "delete"])
    func replaced(mode: String) throws {
        let world = try RestoreWorld()
        try world.stores.makeStore(Self.sql)
        let archive = try world.backUp()
        try world.place.makeStore("PRAGMA journal_mode=\(mode); CREATE TABLE t (x); INSERT INTO t VALUES (3)")
        let former = try world.digest(of: world.restored)
        let inode = try world.place.directory.status(of: world.name)?.identity
        let reader = try StoreWriterProcess(world.restored.path)
        #expect(try reader.execute("SELECT x FROM t") == "value 3")

        let outcome = try world.restore(archive) { $0.overwrite = .always }

        #expect(try reader.execute("SELECT count(*) FROM t") == "value 2")
        #expect(reader.waitForExit() == 0)
        #expect(try world.digest(of: world.restored) == world.digest(of: world.store))
        #expect(try world.place.directory.status(of: world.name)?.identity == inode)
        let aside = StoreLocation(folder: try #require(outcome.keptAside), name: world.name)
        #expect(try world.digest(of: aside) == former)
    }

    @Test("A repeated restore does nothing")
    func again() throws {
        let world = try RestoreWorld()
        try world.stores.makeStore(Self.sql)
        let archive = try world.backUp()
        try world.restore(archive)
        let before = try world.place.everything()
        let outcome = try world.restore(archive)
        #expect(outcome.outcome == .restored && outcome.transaction == nil)
        #expect(try world.place.everything().mapValues(\.bytes) == before.mapValues(\.bytes))
    }

    @Test("A restore succeeds over an empty file and over a log without its store")
    func remains() throws {
        let world = try RestoreWorld()
        try world.stores.makeStore(Self.sql)
        let archive = try world.backUp()
        try world.place.write(world.name, [])
        try world.restore(archive)
        #expect(try world.digest(of: world.restored) == world.digest(of: world.store))

        let other = try RestoreWorld()
        try other.place.write(other.name + "-wal", [1, 2, 3])
        let outcome = try other.restore(archive)
        #expect(try other.digest(of: other.restored) == world.digest(of: world.store))
        let aside = try Directory.open(path: try #require(outcome.keptAside))
        #expect(try aside.entries() == [other.name + "-wal"])
    }

    @Test("An unreadable file at the destination stays unless the overwrite policy is always")
    func unreadable() throws {
        let world = try RestoreWorld()
        try world.stores.makeStore(Self.sql)
        let archive = try world.backUp()
        try world.place.write(world.name, Array("no database at all".utf8))
        let before = try world.place.everything()
        for policy in [RestoreOptions.OverwritePolicy.never, .ifOlder] {
            let error = #expect(throws: MigrationError.self) { try world.restore(archive) { $0.overwrite = policy } }
            #expect(error?.outcome == .foundButUnreadable && error?.advice.contains("overwrite policy always") == true)
        }
        #expect(try world.place.everything() == before)
    }

    @Test("A restore from a damaged archive fails and changes nothing", arguments: [10, 100, 400])
    func damaged(length: Int) throws {
        let world = try RestoreWorld()
        try world.stores.makeStore(Self.sql)
        let archive = try world.backUp()
        try world.archives.write("part", Array(world.archives.bytes("archive.tar.zst").prefix(length)))
        let error = #expect(throws: MigrationError.self) { try world.restore(world.archives.location("part").url) }
        #expect(error?.outcome == .foundButUnreadable)
        #expect(try world.place.directory.entries().isEmpty)
        #expect(try world.restore(archive).outcome == .restored)
    }

    @Test("A restored backup of a fenced store is writable; a restore over a fenced store is refused")
    func fenced() throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=wal;" + Self.sql)
        try places.share()
        let world = try RestoreWorld()
        let archive = try world.backUp(places.oldStore)
        try world.restore(archive)
        try world.execute("INSERT INTO t VALUES (3)", in: world.restored)
        #expect(try places.count("SELECT count(*) FROM t", in: world.restored) == 3)

        let before = try places.digest(of: places.oldStore)
        for policy in RestoreOptions.OverwritePolicy.allCases {
            let error = #expect(throws: MigrationError.self) {
                try world.restore(archive, to: places.oldStore) { $0.overwrite = policy }
            }
            #expect(error?.outcome == .needsDecision)
        }
        #expect(try places.digest(of: places.oldStore) == before)
    }

    @Test(
        "A store with another UUID is replaced only with --other-store",
        .genuineStores("wibosco-1", "objcio-moody-2")
    )
    func otherStore() throws {
        let world = try RestoreWorld()
        let first = try Corpus.copy(
            try #require(Corpus.store(in: "wibosco-1")),
            into: world.stores
        )
        let archive = try world.backUp(first)
        let place = try Corpus.copy(
            try #require(Corpus.store(in: "objcio-moody-2")),
            into: world.place
        )
        let error = #expect(throws: MigrationError.self) {
            try world.restore(archive, to: place) { $0.overwrite = .always }
        }
        #expect(error?.outcome == .incompatible)
        let second = #expect(throws: MigrationError.self) {
            try world.restore(archive, to: place) {
                $0.overwrite = .always
                $0.allowsOtherStore = true
            }
        }
        #expect(second?.outcome == .incompatible)
        try world.restore(archive, to: place) {
            $0.overwrite = .always
            $0.allowsOtherStore = true
            $0.allowsOtherModel = true
        }
        #expect(try world.digest(of: place) == world.digest(of: first))
    }

    @Test("if-older replaces only an older store", .genuineStores("objcio-moody-2"))
    func ifOlder() throws {
        let world = try RestoreWorld()
        let store = try #require(Corpus.store(in: "objcio-moody-2"))
        let source = try Corpus.copy(store, into: world.stores)
        let place = try Corpus.copy(store, into: world.place)
        try world.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_MAX > 0", in: source)
        let newer = try world.backUp(source, as: "newer.tar.zst")
        let older = try world.backUp(place, as: "older.tar.zst")

        #expect(try world.restore(newer, to: place) { $0.overwrite = .ifOlder }.keptAside != nil)
        let error = #expect(throws: MigrationError.self) {
            try world.restore(older, to: place) { $0.overwrite = .ifOlder }
        }
        #expect(error?.outcome == .needsDecision)
        #expect(try world.digest(of: place) == world.digest(of: source))
    }

    @Test("Every genuine store is restored with equal content", .genuineStores, arguments: Corpus.stores)
    func corpus(store: String) throws {
        let world = try RestoreWorld()
        let source = try Corpus.copy(store, into: world.stores)
        guard try StoreInspector().inspect(source).inspection != nil else { return }
        let archive = try world.backUp(source)
        let outcome = try world.restore(archive, to: world.place.location(source.name))
        #expect(try world.digest(of: world.place.location(source.name)) == world.digest(of: source))
        #expect(outcome.report?.levels.contains { $0.status == .failed } == false)
        let names = try world.place.directory.entries()
        #expect(Set(names).isSubset(of: [source.name, source.supportFolderName]))
    }
}
