import FoundationEssentials
import SafeFiles
import StoreAccess
import SystemPackage
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Traps at the destination")
struct DestinationTests {
    private static let rows = "CREATE TABLE t (x); INSERT INTO t VALUES (1), (2), (3);"

    @Test("A missing container or sub-folder is not created, and the error has the command to create it")
    func missingFolder() throws {
        let places = try Places()
        try places.old.makeStore(Self.rows)
        let before = try World(places)
        for folder in ["/sub", "/sub/sub"] {
            let new = StoreLocation(folder: places.container.path + folder, name: "store.sqlite")
            let migrator = StoreMigrator(from: places.oldStore.url, to: new.url)

            let error = #expect(throws: MigrationError.self) {
                try migrator.shareStoreIfNecessaryAndWait(isCancelled: nil)
            }

            #expect(error?.outcome == .nothingFound)
            #expect(error?.next == .makeFolder(path: new.folder))
            #expect(throws: MigrationError.self) { try migrator.planAndWait() }
            #expect(try World(places) == before)
        }
    }

    @Test("In an existing folder as destination the store keeps its name")
    func folderAsDestination() throws {
        let places = try Places()
        try places.old.makeStore(Self.rows)
        let migrator = StoreMigrator(
            from: places.oldStore.url,
            to: URL(filePath: places.container.path, directoryHint: .isDirectory)
        )

        #expect(try migrator.shareStoreIfNecessaryAndWait(isCancelled: nil).new?.path == places.newStore.path)

        #expect(try places.digest(of: places.newStore) == places.digest(of: places.oldStore))
        #expect(try places.share().outcome == .alreadyShared)
        try places.expectTidy()
    }

    @Test(
        "A file in place of the external-file folder stops the share before publication",
        arguments: [
            "file", "link", "inner file", "inner link",
        ]
    )
    func obstructedSupportFolder(kind: String) throws {
        let places = try Places()
        try places.old.makeStore(Self.rows)
        try places.writeExternalFile("blob", 7, count: 100, in: places.old)
        let elsewhere = try ScratchFolder()
        let support = places.container.path + "/.store_SUPPORT"
        switch kind {
        case "file": try places.container.write(".store_SUPPORT", [1])
        case "link": try FilePath(support).makeSymbolicLink(to: elsewhere.path)
        case "inner file":
            let folder = try places.container.directory.createDirectory(".store_SUPPORT", mode: 0o755)
            try folder.createFile("_EXTERNAL_DATA", mode: 0o600).close()
        default:
            _ = try places.container.directory.createDirectory(".store_SUPPORT", mode: 0o755)
            try FilePath(support + "/_EXTERNAL_DATA").makeSymbolicLink(to: elsewhere.path)
        }
        let (old, names) = (try places.digest(of: places.oldStore), try Set(places.container.everything().keys))

        let error = #expect(throws: MigrationError.self) { try places.share() }

        #expect(error.map { [1, 12].contains($0.outcome.exitStatus) } == true, "\(String(describing: error))")
        #expect(error?.path.contains(".store_SUPPORT") == true)
        #expect(try Set(places.container.everything().keys) == names)
        #expect(try elsewhere.directory.entries().isEmpty)
        #expect(try places.digest(of: places.oldStore) == old)
        #expect(try !places.isFenced(places.oldStore))
        #expect(try places.records().isEmpty)
    }

    @Test(
        "Plan and share end with notWritable for an unwritable file, and change nothing",
        .enabled(if: FileMark.isAvailable),
        arguments: ["old", "old-wal", "new", "new-wal", "folder of old"]
    )
    func markedFiles(kind: String) throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=wal; " + Self.rows)
        // An empty store to be replaced.
        try places.container.makeStore("PRAGMA journal_mode=wal")
        let folder = kind.hasPrefix("old") ? places.old : places.container
        let file = folder.path + "/" + places.name + (kind.hasSuffix("-wal") ? "-wal" : "")
        if kind.hasSuffix("-wal") { try folder.write(places.name + "-wal", []) }
        let state = try ScratchFolder()
        let bytes = { try [places.old, places.container].map { try $0.everything().mapValues(\.bytes) } }
        let before = try bytes()
        do {
            let mark = try #require(FileMark("i", on: kind == "folder of old" ? places.old.path : file))
            defer { withExtendedLifetime(mark) {} }
            let migrator = places.migrator {
                $0.stateFolder = URL(filePath: state.path, directoryHint: .isDirectory)
            }
            for run in [
                { _ = try migrator.planAndWait() }, { _ = try migrator.shareStoreIfNecessaryAndWait(isCancelled: nil) },
            ] {
                let error = #expect(throws: MigrationError.self) { try run() }
                #expect(error?.outcome == .notWritable)
            }
        }
        #expect(try bytes() == before)
    }

    @Test("A store in WAL mode is not replaced by one with another page size")
    func otherPageSizeInLogMode() throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA page_size=1024;" + Self.rows)
        try places.container.makeStore("PRAGMA page_size=8192; PRAGMA journal_mode=wal; CREATE TABLE t (x)")
        let old = try places.digest(of: places.oldStore)
        let new = try places.container.bytes("store.sqlite")

        let error = #expect(throws: MigrationError.self) { try places.share() }

        #expect(error?.outcome == .needsDecision)
        #expect(error?.outcome.exitStatus == 4)
        #expect(try places.container.bytes("store.sqlite") == new)
        #expect(try places.digest(of: places.oldStore) == old)
        #expect(try !places.isFenced(places.oldStore))
        #expect(try places.records().isEmpty)
        #expect(try places.container.directory.entries().filter { $0.hasPrefix(".store-migrate") }.isEmpty)
    }

    @Test("A store with a rollback journal is replaced by one with another page size")
    func otherPageSizeWithJournal() throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA page_size=1024;" + Self.rows)
        try places.container.makeStore("PRAGMA page_size=8192; CREATE TABLE t (x)")
        let old = try places.digest(of: places.oldStore)

        #expect(try places.share().outcome == .shared)

        #expect(try places.digest(of: places.newStore) == old)
    }

    @Test("keep-old keeps a copy of the new store with its external files", arguments: ["wal", "delete"])
    func keepOldWithExternalFiles(mode: String) throws {
        let places = try Places()
        try places.old.makeStore(Self.rows)
        try places.container.makeStore("PRAGMA journal_mode=\(mode); CREATE TABLE t (x); INSERT INTO t VALUES (9)")
        for (name, old, new) in [("both", 1, 2), ("equal", 3, 3)] as [(String, UInt8, UInt8)] {
            try places.writeExternalFile(name, old, count: 500, in: places.old)
            try places.writeExternalFile(name, new, count: 500, in: places.container)
        }
        try places.writeExternalFile("only old", 4, count: 500, in: places.old)
        try places.writeExternalFile("only new", 5, count: 500, in: places.container)
        let (old, new) = (try places.digest(of: places.oldStore), try places.digest(of: places.newStore))

        let outcome = try places.share { $0.onBoth = .keepOld }

        #expect(outcome.outcome == .shared)
        #expect(try places.digest(of: places.newStore) == old)
        #expect(try places.externalFiles(in: places.container.directory) == ["both": 1, "equal": 3, "only old": 4])
        let aside = try places.aside(of: outcome.transaction)
        #expect(try places.digest(of: StoreLocation(folder: aside.path, name: places.name)) == new)
        #expect(try places.externalFiles(in: aside) == ["both": 2, "equal": 3, "only new": 5])
        let path = outcome.findings.first { $0.code == .storeKeptAside }?.path
        #expect(path == aside.path + "/" + places.name, "the finding names the copy")
        #expect(try places.share { $0.onBoth = .keepOld }.outcome == .alreadyShared)
    }

    @Test("A replaced store is recognised while its new content is still in the log")
    func knownByItsLog() throws {
        let places = try Places(fixture: "clean")
        try places.build("empty-store", at: places.newStore)
        #expect(try places.share().outcome == .shared)
        #expect(try places.container.bytes("store.sqlite-wal").isEmpty == false)

        #expect(try places.share().outcome == .alreadyShared)
        var options = ShareOptions()
        options.lockTimeout = .seconds(60)
        #expect(try StoreRetirement(of: places.oldStore.url, options: options).retireAndWait().outcome == .retired)
    }

    @Test("keep-new fences the old store and changes no byte of the new one")
    func keepNew() throws {
        let places = try Places()
        try places.old.makeStore(Self.rows)
        try places.container.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (9)")
        let (old, new) = (try places.digest(of: places.oldStore), try places.container.bytes("store.sqlite"))

        #expect(try places.share { $0.onBoth = .keepNew }.outcome == .alreadyShared)

        #expect(try places.container.bytes("store.sqlite") == new)
        #expect(try places.digest(of: places.oldStore) == old)
        #expect(try places.isFenced(places.oldStore))
        #expect(try places.share().outcome == .alreadyShared)
    }

    @Test("A store that appears at the destination during the copy is never overwritten")
    func destinationAppears() throws {
        let places = try Places()
        try places.old.makeStore(Self.rows)
        let old = try places.digest(of: places.oldStore)
        let intruder = places.newStore.path

        let outcome = try share(places) {
            guard let writer = try? StoreWriterProcess(intruder) else { return }
            _ = try? writer.execute("CREATE TABLE t (x)")
            _ = try? writer.execute("INSERT INTO t VALUES ('theirs')")
        }

        #expect(outcome.outcome == .bothHoldObjects)
        #expect(try places.count("SELECT count(*) FROM t WHERE x = 'theirs'", in: places.newStore) == 1)
        #expect(try places.digest(of: places.oldStore) == old)
        #expect(try !places.isFenced(places.oldStore))
        #expect(try places.records().isEmpty)
        #expect(try places.container.directory.entries() == ["store.sqlite"])
    }

    @Test(
        "Rows added to an empty destination during the copy are not overwritten",
        arguments: ["wal", "delete"]
    )
    func emptyStoreFills(mode: String) throws {
        let places = try Places()
        try places.old.makeStore(Self.rows)
        try places.container.makeStore("PRAGMA journal_mode=\(mode); CREATE TABLE t (x)")
        let old = try places.digest(of: places.oldStore)
        let intruder = places.newStore.path

        let outcome = try share(places) {
            guard let writer = try? StoreWriterProcess(intruder) else { return }
            _ = try? writer.execute("INSERT INTO t VALUES ('theirs')")
        }

        #expect(outcome.outcome == .bothHoldObjects)
        #expect(try places.count("SELECT count(*) FROM t", in: places.newStore) == 1)
        #expect(try places.count("SELECT count(*) FROM t WHERE x = 'theirs'", in: places.newStore) == 1)
        #expect(try places.digest(of: places.oldStore) == old)
        #expect(try !places.isFenced(places.oldStore))
        #expect(try places.records().isEmpty)
        #expect(try places.container.directory.entries().filter { $0.hasPrefix(".store-migrate") }.isEmpty)
    }

    /// Shares, and runs `act` once, between the plan and the completion of the copy.
    private func share(_ places: Places, meanwhile act: @escaping @Sendable () -> Void) throws -> ShareOutcome {
        let once = Once()
        let migrator = StoreMigrator(from: places.oldStore.url, to: places.newStore.url) { progress in
            guard progress.phase == .proving, once.isFirst() else { return }
            act()
        }
        let outcome = try migrator.shareStoreIfNecessaryAndWait(isCancelled: nil)
        #expect(!once.isFirst(), "the action never ran")
        return outcome
    }
}
