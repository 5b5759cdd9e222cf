import Dispatch
import Glibc
import SafeFiles
import StoreAccess
import Synchronization
import TestSupport
import Testing

@testable import StoreMigration

@Suite("The folder of a journal")
struct StateFolderTests {
    @Test("Runs without a record take turns, although each removes the journal's folder")
    func takingTurns() throws {
        let scratch = try ScratchFolder()
        let folder = StateFolder(of: scratch.location("store.sqlite"), stateFolder: nil)
        let inside = Atomic(0)
        let problems = Mutex([String]())
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<25 {
                do {
                    try folder.withJournal(deadline: Deadline(after: .seconds(120))) { _ in
                        let others = inside.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
                        inside.wrappingSubtract(1, ordering: .sequentiallyConsistent)
                        if others > 0 { problems.withLock { $0.append("two at once") } }
                    }
                } catch {
                    problems.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(problems.withLock { $0 } == [])
        #expect(try scratch.directory.entries().isEmpty)
    }

    @Test("A journal of another user, or one that others may write, is not read", arguments: Stranger.all)
    func foreign(_ stranger: Stranger) throws {
        guard geteuid() == 0 else { return }
        let places = try Places()
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        let outer = try places.old.directory.createDirectory(StateFolder.name, mode: 0o755)
        let inner = try outer.createDirectory(places.name, mode: stranger.folderMode)
        if stranger.ownsFolder { try inner.setOwner(user: 65_534, group: nil) }
        let journal = try inner.createFile(MigrationJournal.name, mode: stranger.journalMode)
        if stranger.ownsJournal { try journal.setOwner(user: 65_534, group: nil) }
        try journal.close()
        let before = try World(places)

        let errors = [
            #expect(throws: MigrationError.self) { try places.share() },
            #expect(throws: MigrationError.self) { _ = try places.migrator().statusAndWait() },
        ]

        for error in errors {
            #expect(error?.outcome == .needsDecision)
            #expect(error?.path.hasPrefix(outer.path + "/" + places.name) == true)
            #expect(error?.advice.contains("Remove") == true)
        }
        #expect(try World(places) == before)
    }

    @Test("Root reads a journal of the store's owner")
    func ofOwner() throws {
        guard geteuid() == 0 else { return }
        let places = try Places()
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        try #require(try places.share().outcome == .shared)
        for file in [places.oldStore.path, places.old.path + "/.store-migrate/" + places.name] {
            #expect(chown(file, 65_534, 65_534) == 0)
        }
        #expect(chown(places.old.path + "/.store-migrate/" + places.name + "/journal", 65_534, 65_534) == 0)
        #expect(try places.migrator().statusAndWait().run == .shared)
    }

    @Test("The advice on an untrusted journal does not say to remove a folder with unique files", arguments: Self.kept)
    func keeping(_ name: String) throws {
        let places = try Places()
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        let outer = try places.old.directory.createDirectory(StateFolder.name, mode: 0o755)
        let inner = try outer.createDirectory(places.name, mode: 0o777)
        try inner.createFile(name, mode: 0o600).close()
        let error = #expect(throws: MigrationError.self) { try places.share() }
        #expect(error?.outcome == .needsDecision)
        #expect(error?.advice.contains("Remove") == false)
        #expect(error?.advice.contains("move the folder away") == true)
        // The folder is the user's own, so it may be on a mount without modes.
        #expect(error?.advice.contains("name a state folder") == true)
    }

    private static let kept = [
        "store.sqlite.retired-0123456789abcdef0123456789abcdef.tar.zst", "merge-0123456789abcdef.parked.jsonl",
        "base-0123456789abcdef.sqlite",
    ]

    @Test("A journal accepted at the start of a run is not refused during the run", .enabled(if: geteuid() == 0))
    func midst() throws {
        let places = try Places()
        try retire(places)
        let unsharing = StoreUnsharing(places.oldStore.url, from: places.newStore.url)
        #expect(try unsharing.unshareAndWait().outcome == .unshared)
    }

    @Test(
        "Root can read the journal of a missing store, and changes nothing for it",
        .enabled(if: geteuid() == 0)
    )
    func gone() throws {
        let places = try Places()
        try retire(places)
        #expect(chown(places.old.path, 0, 0) == 0)
        #expect(try places.migrator().statusAndWait().run == .retired)
        let before = try World(places)
        let unsharing = StoreUnsharing(places.oldStore.url, from: places.newStore.url)
        let error = #expect(throws: MigrationError.self) { try unsharing.unshareAndWait() }
        #expect(error?.advice.contains("Remove") == false)
        #expect(try World(places) == before)
        #expect(chown(places.old.path + "/.store-migrate/" + places.name + "/journal", 4_321, 4_321) == 0)
        #expect(throws: MigrationError.self) { _ = try places.migrator().statusAndWait() }
    }

    /// Shares and retires a store, and gives its folder and journal to another user.
    private func retire(_ places: Places) throws {
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        try #require(try places.share().outcome == .shared)
        try #require(try StoreRetirement(of: places.oldStore.url).retireAndWait().outcome == .retired)
        let folder = places.old.path + "/.store-migrate"
        for path in [places.old.path, folder, folder + "/" + places.name, folder + "/" + places.name + "/journal"] {
            #expect(chown(path, 65_534, 65_534) == 0)
        }
    }

    @Test("A foreign folder with the name for displaced files is not adopted")
    func foreignAside() throws {
        let scratch = try ScratchFolder()
        let transaction = RunContext.drawTransaction()
        _ = try scratch.directory.createDirectory(DisplacedFiles.name(for: transaction), mode: 0o777)
        var isCreated = false
        let error = #expect(throws: MigrationError.self) {
            _ = try DisplacedFiles(for: transaction, in: scratch.directory).open { _ in isCreated = true }
        }
        #expect(error?.outcome == .needsDecision)
        #expect(error?.path == scratch.path + "/" + DisplacedFiles.name(for: transaction))
        #expect(!isCreated)
    }

    struct Stranger: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var ownsFolder = false
        var ownsJournal = false
        var folderMode: UInt32 = 0o700
        var journalMode: UInt32 = 0o600

        static let all = [
            Self(testDescription: "another user's folder", ownsFolder: true),
            Self(testDescription: "another user's journal", ownsJournal: true),
            Self(testDescription: "a group-writable folder", folderMode: 0o770),
            Self(testDescription: "a world-writable journal", journalMode: 0o666),
        ]
    }
}
