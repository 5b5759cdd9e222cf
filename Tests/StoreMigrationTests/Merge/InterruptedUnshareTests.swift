import Glibc
import SafeFiles
import StoreAccess
import StoreBackup
import StoreVerification
import SystemPackage
import TestSupport
import Testing

@testable import StoreMigration

@Suite("An unshare killed while it replaces the old store's content")
struct InterruptedUnshareTests {
    private func shared(_ policy: ShareOptions.OldStorePolicy) throws -> Places {
        let places = try Places()
        try places.old.makeStore(
            "PRAGMA journal_mode=delete; CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (1, 'early')"
        )
        try places.share { $0.oldStore = policy }
        return places
    }

    private func unsharing(
        _ places: Places,
        level: VerificationLevel = .content,
        lockTimeout: Duration = .seconds(60)
    ) -> StoreUnsharing {
        var options = ShareOptions()
        options.lockTimeout = lockTimeout
        options.level = level
        return StoreUnsharing(places.oldStore.url, from: places.newStore.url, options: options)
    }

    private func write(_ sql: String, to store: StoreLocation) throws {
        let writer = try StoreWriterProcess(store.path)
        #expect(try writer.execute(sql) == "ok")
        #expect(writer.waitForExit() == 0)
    }

    @Test(
        "With equal stores the old one is writable afterwards, whether or not its content was replaced",
        arguments: ShareOptions.OldStorePolicy.allCases,
        [false, true]
    )
    func sameContent(policy: ShareOptions.OldStorePolicy, isCommitted: Bool) throws {
        let places = try shared(policy)
        _ = try InterruptedReverseShare(of: places, isCommitted: isCommitted)

        #expect(try unsharing(places).unshareAndWait().outcome == .unshared)

        #expect(try !places.isFenced(places.oldStore))
        try write("INSERT INTO t VALUES (2, 'after')", to: places.oldStore)
        #expect(try places.rows(of: places.oldStore) == ["after", "early"])
        #expect(try places.container.directory.status(of: places.name) == nil)
        #expect(try places.share().outcome == .shared)
        #expect(try places.rows(of: places.newStore) == ["after", "early"])
    }

    @Test(
        "An unshare that replaced equal content is not rolled back: the fence of the old store went with it",
        arguments: [false, true]
    )
    func sameContentWithoutFence(isResumedAtNewStore: Bool) throws {
        let places = try shared(.fence)
        _ = try InterruptedReverseShare(of: places, isCommitted: true)
        if isResumedAtNewStore {
            try Recovery(of: places.newStore.url).resumeAndWait()
            #expect(try places.isFenced(places.newStore))
        }

        let error = #expect(throws: MigrationError.self) { try places.share() }
        #expect(error?.outcome == .interrupted)
        #expect(error?.next == .unshare(old: places.oldStore.path, new: places.newStore.path))

        #expect(try unsharing(places).unshareAndWait().outcome == .unshared)
        #expect(try places.container.directory.status(of: places.name) == nil)
    }

    @Test("A restore over the new store of an unfinished unshare is refused, and changes nothing")
    func restoreOverNewStore() throws {
        let places = try shared(.fence)
        let archives = try ScratchFolder()
        let archive = archives.location("archive.tar.zst").url
        try BackupMaker(of: places.newStore.url).make(at: archive)
        try write("INSERT INTO t VALUES (2, 'new')", to: places.newStore)
        try StateFolder(of: places.oldStore, stateFolder: nil)
            .withJournal(deadline: Deadline(after: .seconds(60))) {
                try $0.append(.unsharing(transaction: RunContext.drawTransaction()))
            }
        var options = RestoreOptions()
        options.overwrite = .always
        let restorer = StoreRestorer(to: places.newStore.url, options: options)

        let error = #expect(throws: MigrationError.self) { try restorer.restoreAndWait(from: archive) }

        #expect(error?.outcome == .needsDecision)
        #expect(error?.next == .unshare(old: places.oldStore.path, new: places.newStore.path))
        #expect(try places.rows(of: places.newStore) == ["early", "new"])
        #expect(try unsharing(places).unshareAndWait().outcome == .unshared)
        #expect(try places.rows(of: places.oldStore) == ["early", "new"])
    }

    /// A commit whose fsync failed: that run took everything back, and the next one finds the fence in the log.
    private func unshareWithFailedFence(_ places: Places) throws {
        let transaction = RunContext.drawTransaction()
        try StateFolder(of: places.oldStore, stateFolder: nil)
            .withJournal(deadline: Deadline(after: .seconds(60))) {
                try $0.append(.unsharing(transaction: transaction))
            }
        let connection = try places.container.open()
        try connection.inTransaction(until: Deadline(after: .seconds(60))) {
            _ = try FenceWriter(connection).set(transaction: transaction, newPath: places.oldStore.path)
        }
        try connection.close()
    }

    @Test(
        "A fence on the new store that a failed fsync left is no proof that the content was brought back",
        arguments: [false, true]
    )
    func fenceOfFailedCommit(isWritten: Bool) throws {
        let places = try shared(.capture)
        try write("INSERT INTO t VALUES (2, 'new')", to: places.newStore)
        try unshareWithFailedFence(places)
        if isWritten {
            try write("INSERT INTO t VALUES (3, 'late')", to: places.oldStore)
            let error = #expect(throws: MigrationError.self) { try unsharing(places).unshareAndWait() }
            #expect(error?.outcome == .busy)
        }
        #expect(try unsharing(places).unshareAndWait().outcome == .unshared)
        #expect(try places.rows(of: places.oldStore) == ["early"] + (isWritten ? ["late"] : []) + ["new"])
        #expect(try places.container.directory.status(of: places.name) == nil)
    }

    @Test("abort lifts such a fence, and the stores are shared as before")
    func abortOfFailedCommit() throws {
        let places = try shared(.capture)
        try write("INSERT INTO t VALUES (2, 'new')", to: places.newStore)
        try unshareWithFailedFence(places)
        #expect(try Recovery(of: places.oldStore.url).abortAndWait().outcome == .rolledBack)
        #expect(try !places.isFenced(places.newStore))
        #expect(try places.rows(of: places.oldStore) == ["early"])
        #expect(try places.rows(of: places.newStore) == ["early", "new"])
        #expect(try places.migrator().statusAndWait().run == .shared)
    }

    /// A fenced store accepts no writes before its content is replaced.
    static let writableCases: [(ShareOptions.OldStorePolicy, Bool)] = [
        (.capture, false), (.capture, true), (.fence, true),
    ]

    @Test(
        "Writes to the old store after the kill are kept: merged, or beside the content that was brought back",
        arguments: writableCases
    )
    func writtenSince(policy: ShareOptions.OldStorePolicy, isCommitted: Bool) throws {
        let places = try shared(policy)
        try write("INSERT INTO t VALUES (2, 'new')", to: places.newStore)
        let killed = try InterruptedReverseShare(of: places, isCommitted: isCommitted)
        try write("INSERT INTO t VALUES (3, 'late')", to: places.oldStore)

        if !isCommitted {
            let error = #expect(throws: MigrationError.self) { try unsharing(places).unshareAndWait() }

            #expect(error?.outcome == .busy)
            #expect(error?.advice.contains("Remove") == false)
            #expect(error?.next == .unshare(old: places.oldStore.path, new: places.newStore.path))
            #expect(try places.rows(of: places.oldStore) == ["early", "late"])
            #expect(try places.migrator().statusAndWait().run == .shared)
        }
        #expect(try unsharing(places).unshareAndWait().outcome == .unshared)
        #expect(try places.rows(of: places.oldStore) == ["early", "late", "new"])
        let kept = try places.old.directory.openDirectory(DisplacedFiles.name(for: killed.transaction))
        #expect(try places.rows(of: StoreLocation(folder: kept.path, name: places.name)) == ["early"])
    }

    @Test("Core Data objects that were added to the old store after the kill are kept", arguments: writableCases)
    func objectsWrittenSince(policy: ShareOptions.OldStorePolicy, isCommitted: Bool) throws {
        let world = try MergeWorld(journalMode: "rollback")
        let places = world.places
        try places.share {
            MergeWorld.capture(&$0)
            $0.oldStore = policy
        }
        try world.add(3, "new", to: places.newStore)
        _ = try InterruptedReverseShare(of: places, isCommitted: isCommitted)
        try world.add(4, "late", to: places.oldStore)

        if !isCommitted {
            let error = #expect(throws: MigrationError.self) {
                try unsharing(places, level: .coredata).unshareAndWait()
            }

            #expect(error?.outcome == .busy)
        }
        #expect(try unsharing(places, level: .coredata).unshareAndWait().outcome == .unshared)
        #expect(
            try world.content(of: places.oldStore) == ["1 Run -: 1 2", "2 Read -:", "3 new : 3", "4 late : 4"]
        )
        try world.expectSound(places.oldStore)
    }

    @Test("External files of the new content stay while a later write may refer to them")
    func externalFiles() throws {
        let places = try shared(.capture)
        try places.writeExternalFile("blob", 7, count: 10, in: places.container)
        try write("INSERT INTO t VALUES (2, 'new')", to: places.newStore)
        try places.writeExternalFile("blob", 7, count: 10, in: places.old)
        let external = try #require(try places.old.directory.externalData(of: places.oldStore))
        let blob = try #require(try external.status(of: "blob")).identity
        _ = try InterruptedReverseShare(of: places, isCommitted: true, externalFiles: ["blob": blob])
        try write("INSERT INTO t VALUES (3, 'late')", to: places.oldStore)

        #expect(try unsharing(places).unshareAndWait().outcome == .unshared)

        #expect(try places.externalFiles(in: places.old.directory) == ["blob": 7])
        #expect(try places.rows(of: places.oldStore) == ["early", "late", "new"])
    }

    @Test(
        "The next unshare removes the second name that a power cut during the new store's rename left",
        arguments: [false, true]
    )
    func secondName(isJournalLost: Bool) throws {
        let places = try shared(.capture)
        let reader = try StoreWriterProcess(places.newStore.path)
        #expect(try reader.execute("SELECT count(*) FROM t") == "value 1")
        let outcome = try unsharing(places, lockTimeout: .seconds(1)).unshareAndWait()
        #expect(outcome.findings.contains { $0.code == .notWithdrawn })
        #expect(reader.waitForExit() == 0)
        let transaction = try #require(outcome.transaction)
        let name = RetirementDisposition.withdrawn.name(of: places.newStore, transaction: transaction)
        #expect(link(places.newStore.path, places.container.path + "/" + name) == 0)
        if isJournalLost {
            let journal = try places.container.directory.openDirectory(StateFolder.name)
            try DisplacedFiles.removeContents(of: journal)
            try places.container.directory.removeDirectory(StateFolder.name)
        }

        #expect(try unsharing(places).unshareAndWait().outcome == .unshared)

        #expect(try places.container.directory.status(of: places.name) == nil)
        #expect(try places.container.directory.status(of: name)?.linkCount == 1)
        #expect(try places.rows(of: places.oldStore) == ["early"])
    }

    @Test("The advice on an existing folder with a run's name does not say to remove it")
    func takenName() throws {
        let scratch = try ScratchFolder()
        _ = try scratch.directory.createDirectory(DisplacedFiles.name(for: "t"), mode: 0o700)

        let error = #expect(throws: MigrationError.self) {
            _ = try DisplacedFiles(for: "t", in: scratch.directory).open { _ in }
        }

        #expect(error?.outcome == .needsDecision)
        #expect(error?.advice.contains("Remove") == false)
    }

    @Test("unshare journals nothing when its own journal cannot be created")
    func journalOfAnother() throws {
        let places = try shared(.capture)
        let outer = try places.container.directory.createDirectory(StateFolder.name, mode: 0o700)
        // A file that others may write is trusted no more than one of another user.
        let inner = try outer.createDirectory(places.name, mode: 0o700)
        try FilePath(inner.path).setMode(0o777)
        let records = try places.records()

        let error = #expect(throws: MigrationError.self) { try unsharing(places).unshareAndWait() }

        #expect(error?.outcome == .needsDecision)
        #expect(error?.path.hasPrefix(inner.path) == true)
        #expect(try places.records() == records)
        #expect(try places.share { $0.oldStore = .capture }.outcome == .alreadyShared)
        #expect(try Recovery(of: places.oldStore.url).abortAndWait().outcome == .done)
        try outer.removeDirectory(places.name)
        #expect(try unsharing(places).unshareAndWait().outcome == .unshared)
    }

    @Test("An unshare whose replacement fails lifts the fence of the new store")
    func fenceLifted() throws {
        let places = try shared(.capture)
        try write("INSERT INTO t VALUES (2, 'new')", to: places.newStore)
        let holder = try StoreWriterProcess(places.oldStore.path)
        #expect(try holder.execute("BEGIN IMMEDIATE") == "ok")

        let error = #expect(throws: MigrationError.self) {
            try unsharing(places, lockTimeout: .milliseconds(200)).unshareAndWait()
        }

        #expect(error?.outcome == .busy)
        #expect(try !places.isFenced(places.newStore))
        #expect(try holder.execute("ROLLBACK") == "ok")
        #expect(holder.waitForExit() == 0)
        #expect(try unsharing(places).unshareAndWait().outcome == .unshared)
        #expect(try places.rows(of: places.oldStore) == ["early", "new"])
    }

    @Test("A store that a program created after the new one was renamed stays, and the unshare is finished")
    func createdSince() throws {
        let places = try shared(.fence)
        let records = try places.records()
        let transaction = try #require(try unsharing(places).unshareAndWait().transaction)
        // As if the run had been killed before it recorded the new name.
        try StateFolder(of: places.oldStore, stateFolder: nil)
            .withJournal(deadline: Deadline(after: .seconds(60))) { journal in
                for record in records + [.unsharing(transaction: transaction)] { try journal.append(record) }
            }
        let folder = try StateFolder(of: places.newStore, stateFolder: nil).open()
        let withdrawal = try MigrationJournal.records(in: folder)
        try #require(withdrawal.last.map { if case .retired = $0 { true } else { false } } == true)
        try folder.removeFile(MigrationJournal.name)
        var journal = try MigrationJournal(in: folder)
        for record in withdrawal.dropLast() { try journal.append(record) }
        try places.container.write(places.name, [])

        #expect(try unsharing(places).unshareAndWait().outcome == .unshared)

        #expect(try places.container.bytes(places.name).isEmpty)
        #expect(try places.rows(of: places.oldStore) == ["early"])
    }
}
