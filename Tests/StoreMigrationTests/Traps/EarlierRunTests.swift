import FoundationEssentials
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Traps after an earlier run")
struct EarlierRunTests {
    private static let rows = "PRAGMA journal_mode=wal; CREATE TABLE t (x); INSERT INTO t VALUES (1), (2), (3);"

    private func shared(_ change: (inout ShareOptions) -> Void = { _ in }) throws -> (
        places: Places, transaction: String
    ) {
        let places = try Places()
        try places.old.makeStore(Self.rows)
        let outcome = try places.share(change)
        #expect(outcome.outcome == .shared)
        return (places, try #require(outcome.transaction))
    }

    private func loseJournal(of places: Places) throws {
        let folder = try places.journalFolder()
        for name in try folder.entries() { try folder.removeFile(name) }
        let outer = try places.old.directory.openDirectory(StateFolder.name)
        try outer.removeDirectory(places.name)
        try places.old.directory.removeDirectory(StateFolder.name)
    }

    @Test("A shared store is not shared to a second path")
    func secondPlace() throws {
        let (places, _) = try shared()
        let other = try ScratchFolder()
        let before = try World(places)

        let outcome = try StoreMigrator(from: places.oldStore.url, to: other.location(places.name).url)
            .shareStoreIfNecessaryAndWait(isCancelled: nil)

        #expect(outcome.outcome == .needsDecision)
        #expect(outcome.message.contains(places.newStore.path))
        #expect(try other.directory.entries().isEmpty)
        #expect(try World(places) == before)
    }

    @Test("When the first new path is missing, the store is shared to a second one with an error finding")
    func secondPlaceInstead() throws {
        let (places, _) = try shared()
        let before = try places.digest(of: places.oldStore)
        try places.container.directory.removeFile(places.name)
        let other = try ScratchFolder()

        let outcome = try StoreMigrator(from: places.oldStore.url, to: other.location(places.name).url)
            .shareStoreIfNecessaryAndWait(isCancelled: nil)

        #expect(outcome.outcome == .shared)
        #expect(outcome.findings.contains { $0.code == .sharedStoreMissing && $0.severity == .error })
        #expect(try places.digest(of: other.location(places.name)) == before)
        let writer = try StoreWriterProcess(places.oldStore.path)
        #expect(try writer.execute("INSERT INTO t VALUES (9)").contains("store moved to \(other.path)"))
    }

    @Test("A lost journal is rebuilt from fence and receipt, so that the old store can be retired")
    func lostJournal() throws {
        let (places, _) = try shared()
        try loseJournal(of: places)
        let new = try places.container.bytes(places.name)

        #expect(try places.share().outcome == .alreadyShared)

        #expect(try places.isFenced(places.oldStore))
        #expect(try places.container.bytes(places.name) == new)
        #expect(try places.share().outcome == .alreadyShared)
        #expect(try StoreRetirement(of: places.oldStore.url).retireAndWait().outcome == .retired)
    }

    @Test("A lost journal does not hide a late write")
    func lostJournalAndLateWrite() throws {
        let (places, _) = try shared()
        let writer = try places.old.open()
        try writer.execute("CREATE TABLE late (x); INSERT INTO late VALUES (1)")
        try writer.close()
        try loseJournal(of: places)
        let new = try places.container.bytes(places.name)

        #expect(try places.share().outcome == .lateWrites)

        #expect(try places.container.bytes(places.name) == new)
        #expect(try places.count("SELECT count(*) FROM late", in: places.oldStore) == 1)
    }

    @Test("A fence without journal and receipt needs a decision")
    func lostJournalAndReceipt() throws {
        let (places, _) = try shared()
        try loseJournal(of: places)
        try places.container.directory.removeFile(ReceiptFile.receiptName(for: places.name))
        let before = try World(places)

        let outcome = try places.share()

        #expect(outcome.outcome == .needsDecision)
        #expect(try World(places) == before)
    }

    @Test("A fence without journal and new store is removed, and the store is shared again")
    func lostJournalAndNewStore() throws {
        let (places, transaction) = try shared()
        let before = try places.digest(of: places.oldStore)
        try loseJournal(of: places)
        try places.container.directory.removeFile(places.name)

        let outcome = try places.share()

        #expect(outcome.outcome == .shared)
        #expect(outcome.transaction != transaction)
        #expect(try places.digest(of: places.newStore) == before)
        #expect(
            try StoreReader().withView(of: places.oldStore) { try StoreFence(reading: $0.connection) }?.transaction
                == outcome.transaction
        )
        try places.expectTidy()
    }

    @Test("Another store at the new path is recognised by its inode and by the receipt's transaction")
    func anotherStoreAtTheNewPlace() throws {
        let (places, _) = try shared()
        try places.container.directory.removeFile(places.name)
        try places.container.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (7)", as: places.name)
        try Receipt(
            transaction: String(repeating: "f", count: 32),
            old: places.oldStore.path,
            storeUUID: nil,
            digest: "",
            token: nil,
            descriptions: [:]
        )
        .write(beside: places.name, in: places.container.directory)
        let (old, new) = (try places.old.everything(), try places.container.bytes(places.name))

        #expect(try places.share().outcome == .needsDecision)

        #expect(try places.container.bytes(places.name) == new)
        #expect(try places.old.everything() == old)
        #expect(throws: MigrationError.self) { try StoreRetirement(of: places.oldStore.url).retireAndWait() }
        #expect(try places.old.everything().keys == old.keys)
    }

    @Test("A new store that was restored from a copy is still the shared one")
    func restoredNewStore() throws {
        let (places, _) = try shared()
        let bytes = try places.container.bytes(places.name)
        try places.container.directory.removeFile(places.name)
        try places.container.write("other inode", [1])
        try places.container.write(places.name, bytes)

        #expect(try places.share().outcome == .alreadyShared)

        #expect(try places.container.bytes(places.name) == bytes)
    }

    @Test("Equal content in other pages is no late write, and the next check is cheap again")
    func checkpointedOldStore() throws {
        let (places, _) = try shared()
        let writer = try places.old.open()
        try writer.execute("PRAGMA wal_checkpoint(TRUNCATE); VACUUM")
        try writer.close()

        #expect(try places.share().outcome == .alreadyShared)

        guard case .renewed = try places.records().last else {
            Issue.record("the token was not renewed")
            return
        }
    }

    @Test("With a separate state folder there are no files of the tool beside the old store")
    func stateFolder() throws {
        let state = try ScratchFolder()
        let url = URL(filePath: state.path, directoryHint: .isDirectory)
        let (places, _) = try shared { $0.stateFolder = url }

        #expect(try !places.old.directory.entries().contains(StateFolder.name))
        #expect(try state.directory.entries() == [places.name])
        #expect(try places.share { $0.stateFolder = url }.outcome == .alreadyShared)
        var options = ShareOptions()
        options.stateFolder = url
        #expect(try StoreRetirement(of: places.oldStore.url, options: options).retireAndWait().outcome == .retired)
    }

    @Test("Two stores of the same name cannot use one state folder")
    func stateFolderOfTwoStores() throws {
        let state = try ScratchFolder()
        let url = URL(filePath: state.path, directoryHint: .isDirectory)
        let (first, _) = try shared { $0.stateFolder = url }
        let second = try Places()
        try second.old.makeStore(Self.rows)
        let before = try World(second)
        let records = try MigrationJournal.records(in: state.directory.openDirectory(first.name))

        let error = #expect(throws: MigrationError.self) { try second.share { $0.stateFolder = url } }

        #expect(error?.outcome == .needsDecision)
        #expect(error?.message.contains("journal") == true)
        #expect(try World(second) == before)
        #expect(try MigrationJournal.records(in: state.directory.openDirectory(first.name)) == records)
    }

    @Test("A captured store stays writable; its base is kept, and a late write is merged")
    func capture() throws {
        let capture: (inout ShareOptions) -> Void = { $0.oldStore = .capture }
        let (places, _) = try shared(capture)
        let content = try places.digest(of: places.newStore)
        #expect(try !places.isFenced(places.oldStore))
        let folder = try places.journalFolder()
        let name = try #require(try folder.entries().first(where: CapturedBase.isOne))
        let base = StoreLocation(folder: folder.path, name: name)
        #expect(try places.digest(of: base) == content)
        #expect(try places.share(capture).outcome == .alreadyShared)
        let writer = try StoreWriterProcess(places.oldStore.path)
        #expect(try writer.execute("INSERT INTO t VALUES ('late')") == "ok")

        let outcome = try places.share(capture)

        #expect(outcome.outcome == .merged)
        #expect(try places.digest(of: places.newStore) == places.digest(of: places.oldStore))
        #expect(try places.count("SELECT count(*) FROM t", in: places.newStore) == 4)
        #expect(try places.share(capture).outcome == .alreadyShared)
        #expect(writer.waitForExit() == 0)
        #expect(try StoreRetirement(of: places.oldStore.url).retireAndWait().outcome == .retired)
    }

    @Test("A captured store stays writable after later shares without a policy, with and without late writes")
    func captureStays() throws {
        let (places, _) = try shared { $0.oldStore = .capture }

        let again = try places.share()
        #expect(again.outcome == .alreadyShared && again.oldStore == .capture)
        #expect(try !places.isFenced(places.oldStore))

        let writer = try StoreWriterProcess(places.oldStore.path)
        #expect(try writer.execute("INSERT INTO t VALUES ('late')") == "ok")
        #expect(writer.waitForExit() == 0)
        let merged = try places.share()
        #expect(merged.outcome == .merged && merged.oldStore == .capture)
        #expect(try !places.isFenced(places.oldStore))
    }

    @Test("A later share that names a capture leaves the fence, and a finding says why")
    func fenceThenCapture() throws {
        let (places, _) = try shared { _ in }

        let outcome = try places.share { $0.oldStore = .capture }

        #expect(outcome.outcome == .alreadyShared && outcome.oldStore == .fence)
        #expect(outcome.findings.map(\.code) == [.fenceStays])
        #expect(try places.isFenced(places.oldStore))
    }

    @Test("A later share that names a fence fences a captured store")
    func captureThenFence() throws {
        let (places, _) = try shared { $0.oldStore = .capture }

        let outcome = try places.share { $0.oldStore = .fence }

        #expect(outcome.outcome == .alreadyShared && outcome.oldStore == .fence)
        #expect(try places.isFenced(places.oldStore))
        #expect(try places.share().outcome == .alreadyShared)
    }

    @Test("A failure to renew the fence leaves the earlier run in force")
    func busyFence() throws {
        let (places, _) = try shared()
        for name in try fenceTriggers(places) {
            let connection = try places.old.open(places.name)
            try connection.execute("DROP TRIGGER \(SQLName.quoted(name))")
            try connection.close()
        }
        let consumer = try StoreWriterProcess(places.newStore.path)
        #expect(try consumer.execute("INSERT INTO t VALUES ('new')") == "ok")
        let holder = try StoreWriterProcess(places.oldStore.path)
        #expect(try holder.execute("BEGIN IMMEDIATE") == "ok")

        let error = #expect(throws: MigrationError.self) { try places.share { $0.lockTimeout = .milliseconds(100) } }

        #expect(error?.outcome == .busy)
        #expect(try places.migrator().statusAndWait().run == .shared)
        #expect(try holder.execute("COMMIT") == "ok")
        #expect(try places.share().outcome == .alreadyShared)
        #expect(try places.isFenced(places.oldStore))
    }

    private func fenceTriggers(_ places: Places) throws -> [String] {
        var names: [String] = []
        try StoreReader()
            .withView(of: places.oldStore) { view in
                names = []
                try view.connection.forEachRow("SELECT name FROM sqlite_schema WHERE type = 'trigger'") {
                    names.append($0.text(0) ?? "")
                }
            }
        return names
    }

    @Test("An older state of the shared store at its path is not accepted as shared")
    func olderStore() throws {
        let places = try Places(fixture: "clean")
        try places.share()
        let last = "UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX - 1 WHERE Z_MAX > 0"
        let consumer = try StoreWriterProcess(places.newStore.path)
        #expect(try consumer.execute(last) == "ok")
        #expect(consumer.waitForExit() == 0)

        #expect(throws: MigrationError.self) { try StoreRetirement(of: places.oldStore.url).retireAndWait() }
        #expect(try places.old.directory.status(of: places.name) != nil)
    }

    @Test("A damaged record before valid ones stops every command, and the journal is unchanged")
    func damagedJournal() throws {
        let (places, _) = try shared()
        let folder = try places.journalFolder()
        var bytes = try folder.contents(of: MigrationJournal.name, limit: 1 << 20)
        bytes[30] ^= 1
        try folder.replace(MigrationJournal.name, with: bytes, mode: 0o600)
        let before = try World(places)

        for body: () throws -> Void in [
            { try places.share() }, { _ = try places.migrator().statusAndWait() },
            { try Recovery(of: places.oldStore.url).resumeAndWait() },
        ] {
            let error = #expect(throws: MigrationError.self) { try body() }
            #expect(error?.outcome == .foundButUnreadable)
        }
        #expect(try World(places) == before)
    }
}
