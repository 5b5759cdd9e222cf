import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreBackup
import SystemPackage
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Paths that cannot be an old and a new store")
struct PlacesTests {
    private static let rows = "CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)"

    @Test("A store is never shared to itself under any of its paths", arguments: ["same", "folder", "link"])
    func itself(_ kind: String) throws {
        let places = try Places()
        try places.old.makeStore(Self.rows)
        let before = try World(places)
        var target = places.oldStore.url
        if kind == "folder" { target = places.oldStore.url.deletingLastPathComponent() }
        let link = places.container.path + "/link"
        if kind == "link" {
            try FilePath(link).makeSymbolicLink(to: places.old.path)
            target = StoreLocation(folder: link, name: places.name).url
        }
        let migrator = StoreMigrator(from: places.oldStore.url, to: target)

        let error = #expect(throws: MigrationError.self) { try migrator.shareStoreIfNecessaryAndWait(isCancelled: nil) }

        #expect(error?.outcome == .usage)
        #expect(throws: MigrationError.self) { try migrator.planAndWait() }
        if kind != "link" { #expect(try World(places) == before) }
        #expect(try !places.isFenced(places.oldStore))
    }

    @Test(
        "A new name with a sidecar's suffix, or without room for sidecar names, is refused",
        arguments: [
            "store.sqlite-wal", "store.sqlite-journal", "other-shm", String(repeating: "n", count: 236) + ".db",
        ]
    )
    func name(_ name: String) throws {
        let places = try Places()
        try places.old.makeStore(Self.rows)
        let before = try World(places)
        for folder in [places.old, places.container] {
            let migrator = StoreMigrator(from: places.oldStore.url, to: folder.location(name).url)
            let error = #expect(throws: MigrationError.self) {
                try migrator.shareStoreIfNecessaryAndWait(isCancelled: nil)
            }
            #expect(error?.outcome == .usage)
        }
        #expect(try World(places) == before)
    }

    @Test(
        "An old store with the name of a sidecar of the new store is refused",
        arguments: ["-wal", "-shm", "-journal"].map { "x" + $0 } + [".x.relay.sqlite", ".x.relay.sqlite-wal"]
    )
    func oldNamedLikeCompanion(_ name: String) throws {
        let places = try Places()
        try places.old.makeStore(Self.rows, as: name)
        let before = try World(places)
        let migrator = StoreMigrator(from: places.old.location(name).url, to: places.old.location("x").url)

        for run in [
            { try _ = migrator.planAndWait() }, { try _ = migrator.shareStoreIfNecessaryAndWait(isCancelled: nil) },
        ] {
            let error = #expect(throws: MigrationError.self) { try run() }
            #expect(error?.outcome == .usage)
        }
        #expect(try World(places) == before)
    }

    @Test(
        "A database with the name of a sidecar of the old or new store is not displaced",
        arguments: ["-wal", "-journal"]
    )
    func databaseNamedLikeSidecar(_ suffix: String) throws {
        for isAtNew in [true, false] {
            let places = try Places()
            try places.old.makeStore(Self.rows)
            let folder = isAtNew ? places.container : places.old
            try folder.makeStore("CREATE TABLE other (x)", as: places.name + suffix)
            let before = try World(places)

            let error = #expect(throws: MigrationError.self) { try places.share() }

            #expect(error?.outcome == .usage)
            #expect(error?.message.contains(places.name + suffix) == true)
            #expect(try World(places) == before)
        }
    }

    @Test("A database with the name of the new store's shared-memory file is not displaced")
    func databaseNamedLikeSharedMemory() throws {
        let places = try Places()
        try places.old.makeStore(Self.rows)
        try places.container.makeStore("CREATE TABLE other (x)", as: places.name + "-shm")
        let before = try World(places)

        #expect(throws: MigrationError.self) { try places.share() }

        #expect(try World(places) == before)
    }

    @Test("A store with the longest permitted name can be shared, unshared, shared again and retired")
    func longestName() throws {
        let length = try longestNameOfOldStore() - 4
        let places = try Places(name: String(repeating: "n", count: length - 3) + ".db")
        try places.old.makeStore(Self.rows, as: places.name)
        try places.writeExternalFile("blob", 7, count: 100, in: places.old)
        try places.share()

        try StoreUnsharing(places.oldStore.url, from: places.newStore.url).unshareAndWait()
        try places.share()
        let retired = try StoreRetirement(of: places.oldStore.url).retireAndWait()

        #expect(retired.outcome == .retired)
        #expect(try places.old.directory.status(of: places.name) == nil)
        #expect(try places.count("SELECT count(*) FROM t", in: places.newStore) == 2)
    }

    @Test("plan and share refuse an old store whose name is too long for sidecars, and write nothing")
    func oldName() throws {
        let length = try longestNameOfOldStore() + 4
        let places = try Places(name: String(repeating: "n", count: length - 3) + ".db")
        try places.old.makeStore(Self.rows, as: places.name)
        let before = try World(places)
        let migrator = StoreMigrator(from: places.oldStore.url, to: places.container.location("s.db").url)

        let error = #expect(throws: MigrationError.self) { try migrator.shareStoreIfNecessaryAndWait(isCancelled: nil) }

        #expect(error?.outcome == .usage)
        #expect(error?.path == places.oldStore.path)
        #expect(throws: MigrationError.self) { try migrator.planAndWait() }
        #expect(try World(places) == before)
    }

    @Test("The shortened name of a retired store contains the transaction ID")
    func cutName() {
        let store = StoreLocation(folder: "/f", name: String(repeating: "ü", count: 112) + ".sqlite")
        let transaction = String(repeating: "0", count: 32)

        for disposition in [RetirementDisposition.archived, .withdrawn] {
            let name = disposition.name(of: store, transaction: transaction)
            #expect((230...231).contains(name.utf8.count))
            #expect(name.hasSuffix(disposition.mark + transaction + ".sqlite"))
        }
    }

    /// The longest name of an old store in a scratch folder; the path of a copy two folders below must fit SQLite's
    /// limit.
    ///
    /// The lengths of scratch folders' names differ by up to two bytes.
    private func longestNameOfOldStore() throws -> Int {
        let folder = try ScratchFolder().path + "/.store-migrate/"
        return min(231, -BackupMaker.copy(of: "", in: folder).excessBytes / 2)
    }

    @Test("A container that moved between two runs is found again, with its consumers' writes")
    func movedContainer() throws {
        let places = try Places()
        try places.old.makeStore(Self.rows)
        try places.share()
        let consumer = try StoreWriterProcess(places.newStore.path)
        #expect(try consumer.execute("INSERT INTO t VALUES (3)") == "ok")
        #expect(consumer.waitForExit() == 0)
        // An open folder reports its present path.
        let path = places.container.path
        let moved = path + "-moved"
        try rename(path, to: moved)
        let new = StoreLocation(folder: moved, name: places.name)
        let migrator = StoreMigrator(from: places.oldStore.url, to: new.url)

        #expect(try migrator.planAndWait().outcome == .alreadyShared)
        #expect(try migrator.shareStoreIfNecessaryAndWait(isCancelled: nil).outcome == .alreadyShared)

        #expect(try places.isFenced(places.oldStore))
        #expect(try places.count("SELECT count(*) FROM t", in: new) == 3)
        try rename(moved, to: path)
    }

    @Test("Another store at another path does not remove the fence of a shared one")
    func anotherStoreElsewhere() throws {
        let places = try Places()
        try places.old.makeStore(Self.rows)
        try places.share()
        try places.container.directory.removeFile(places.name)
        let other = try ScratchFolder()
        try other.makeStore(Self.rows)
        let migrator = StoreMigrator(from: places.oldStore.url, to: other.location("store.sqlite").url)

        #expect(try migrator.planAndWait().outcome == .needsDecision)
        #expect(try migrator.shareStoreIfNecessaryAndWait(isCancelled: nil).outcome == .needsDecision)

        #expect(try places.isFenced(places.oldStore))
        #expect(try places.migrator().statusAndWait().run == .shared)
    }

    @Test("A copy of a shared store's folder does not affect the original")
    func copiedFolder() throws {
        let places = try Places()
        try places.old.makeStore(Self.rows)
        try places.share()
        let copy = try ScratchFolder()
        try places.old.copyFiles(of: places.name, to: copy)
        let journal = try places.journalFolder()
        let state = try copy.directory.createDirectory(StateFolder.name, mode: 0o700)
            .createDirectory(places.name, mode: 0o700)
        try state.replace(
            MigrationJournal.name,
            with: journal.contents(of: MigrationJournal.name, limit: 1 << 20),
            mode: 0o600
        )
        let before = try World(places)
        let old = copy.location(places.name).url

        for body: () throws -> Void in [
            { try StoreMigrator(from: old, to: places.newStore.url).shareStoreIfNecessaryAndWait(isCancelled: nil) },
            { try Recovery(of: old).resumeAndWait() }, { try StoreRetirement(of: old).retireAndWait() },
        ] {
            let error = #expect(throws: MigrationError.self) { try body() }
            #expect(error?.outcome == .needsDecision)
        }
        #expect(try World(places) == before)
    }

    @Test("A state folder that the caller created stays after any run")
    func stateFolder() throws {
        let places = try Places()
        try places.old.makeStore(Self.rows)
        let state = try places.container.directory.createDirectory("state", mode: 0o700)
        let holder = try StoreWriterProcess(places.oldStore.path)
        #expect(try holder.execute("BEGIN IMMEDIATE") == "ok")

        let error = #expect(throws: MigrationError.self) {
            try places.share {
                $0.stateFolder = URL(filePath: state.path, directoryHint: .isDirectory)
                $0.lockTimeout = .milliseconds(100)
            }
        }

        #expect(error?.outcome == .busy)
        #expect(try places.container.directory.entries() == ["state"])
        #expect(try state.entries().isEmpty)
    }

    @Test("The status of a misspelt old path leads to the pair that the receipt beside the new store names")
    func misspelt() throws {
        let places = try Places()
        try places.old.makeStore(Self.rows)
        try places.share()
        let misspelt = places.old.location("stroe.sqlite")

        let status = try StoreMigrator(from: misspelt.url, to: places.newStore.url).statusAndWait()

        #expect(status.next == .status(old: places.oldStore.path, new: places.newStore.path))
    }

    @Test("A container on a network file system is refused unless the caller allows it")
    func networkFileSystem() throws {
        let scratch = try ScratchFolder()
        let system = RecordingFileSystem(fileSystemType: 0x6969)
        let remote = try Directory.open(path: scratch.path, operations: system)
        var surroundings = Surroundings(lockTimeout: .seconds(60))
        let error = #expect(throws: UnreadableStore.self) { try surroundings.requireTrusted(remote) }
        #expect(error?.reason == .networkFileSystem)
        #expect(error?.path == scratch.directory.path)
        try surroundings.requireTrusted(scratch.directory)
        surroundings.allowsNetworkFileSystem = true
        try surroundings.requireTrusted(remote)
    }

    private func rename(_ path: String, to other: String) throws {
        let parent = try Directory.open(path: FilePath(path).removingLastComponent().string)
        guard let name = FilePath(path).lastComponent?.string, let newName = FilePath(other).lastComponent?.string
        else { return }
        try parent.move(name, to: newName, in: parent)
    }
}
