import SafeFiles
import StoreAccess
import StoreBackup
import TestSupport
import Testing

@testable import StoreMigration

@Suite("An interrupted run")
struct InterruptedRunTests {
    @Test(
        "resume finishes an interrupted run or rolls it back, and a second resume does nothing",
        arguments: Interruption.publishing,
        ["wal", "delete"]
    )
    func resume(_ interruption: Interruption, mode: String) throws {
        let world = try InterruptedWorld(interruption, mode: mode)
        let recovery = Recovery(of: world.places.oldStore.url)

        #expect(try recovery.resumeAndWait().outcome == (interruption.goesForward ? .shared : .rolledBack))

        if interruption.goesForward { try expectShared(world) } else { try expectUntouched(world) }
        let after = try World(world.places)
        #expect(try recovery.resumeAndWait().outcome == .done)
        #expect(try recovery.abortAndWait().outcome == .done)
        #expect(try World(world.places) == after)
        #expect(try world.places.share().outcome == (interruption.goesForward ? .alreadyShared : .shared))
        try expectShared(world)
    }

    @Test("A run killed while it fills an empty file is rolled back, and every verb works afterwards")
    func halfFilled() throws {
        let places = try Places()
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)")
        try places.container.write(places.name, [])
        let digest = try places.digest(of: places.oldStore)
        try #require(try places.share().outcome == .shared)
        let records = try places.records()
        let replacing = try #require(
            records.firstIndex { record in if case .replacing = record { true } else { false } }
        )
        // The state before the fence and the commit, with the destination as the killed writer left it.
        try FenceWriter.lift(from: places.oldStore, lockTimeout: .seconds(60))
        let folder = try places.journalFolder()
        try folder.removeFile(MigrationJournal.name)
        var journal = try MigrationJournal(in: folder)
        for record in records[...replacing] { try journal.append(record) }
        let file = try places.container.directory.openFile(places.name, for: .writing)
        try file.truncate(to: 0)
        try file.close()
        try places.container.writeHalfFilledStore(places.name)

        let status = try places.migrator().statusAndWait()
        #expect(status.run == .interrupted)
        #expect(status.recovery?.contains("rolls the run back") == true)
        #expect(try Recovery(of: places.oldStore.url).resumeAndWait().outcome == .rolledBack)

        #expect(try places.digest(of: places.oldStore) == digest)
        #expect(try places.share().outcome == .shared)
        #expect(try places.digest(of: places.newStore) == digest)
    }

    @Test("A store that was damaged while a share replaced it needs a decision, which rolls the run back")
    func damagedWhileReplaced() throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode = delete; CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        try places.container.makeStore("PRAGMA journal_mode = delete; CREATE TABLE t (x); INSERT INTO t VALUES (2)")
        try places.share { $0.onBoth = .keepOld }
        let records = try places.records()
        let replacing = try #require(
            records.firstIndex { record in if case .replacing = record { true } else { false } }
        )
        try FenceWriter.lift(from: places.oldStore, lockTimeout: .seconds(60))
        let folder = try places.journalFolder()
        try folder.removeFile(MigrationJournal.name)
        var journal = try MigrationJournal(in: folder)
        for record in records[...replacing] { try journal.append(record) }
        try places.container.overwrite(places.name, at: 4096, [UInt8](repeating: 0xFF, count: 4096))

        let error = #expect(throws: MigrationError.self) { try Recovery(of: places.oldStore.url).resumeAndWait() }
        #expect(error?.outcome == .needsDecision)
        // A damaged store is restored or removed, not shared onto.
        #expect(throws: MigrationError.self) { try places.share { $0.onBoth = .keepOld } }
        #expect(try !RunState(places.records()).isUnfinished)
    }

    @Test("A restore voids the record of a pair whose last run was rolled back after it had written the receipt")
    func receiptOfRolledBackRun() throws {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode = delete; CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        try places.share { $0.oldStore = .capture }
        let archives = try ScratchFolder()
        let archive = archives.location("archive.tar.zst").url
        try BackupMaker(of: places.newStore.url).make(at: archive)
        let connection = try StoreConnection(places.newStore, access: .liveWriting)
        try connection.execute("INSERT INTO t VALUES (2)")
        try connection.close()
        try places.share { $0.oldStore = .fence }
        // The run that copies nothing was killed before its last record.
        let records = try places.records()
        guard case .done? = records.last else {
            Issue.record("the last record is \(String(describing: records.last))")
            return
        }
        let folder = try places.journalFolder()
        try folder.removeFile(MigrationJournal.name)
        var journal = try MigrationJournal(in: folder)
        for record in records.dropLast() { try journal.append(record) }
        try #require(try Recovery(of: places.oldStore.url).abortAndWait().outcome == .rolledBack)

        var options = RestoreOptions()
        options.overwrite = .always
        _ = try StoreRestorer(to: places.newStore.url, options: options).restoreAndWait(from: archive)

        guard case .voided = try StateFolder(of: places.oldStore, stateFolder: nil).state() else {
            Issue.record("the record still holds: \(try places.records())")
            return
        }
    }

    @Test(
        "abort rolls an interrupted run back before the commit point, and changes nothing after it",
        arguments: Interruption.publishing,
        ["wal", "delete"]
    )
    func abort(_ interruption: Interruption, mode: String) throws {
        let world = try InterruptedWorld(interruption, mode: mode)
        let recovery = Recovery(of: world.places.oldStore.url)
        let before = try contents(world)
        for attempt in 1...2 {
            if interruption.goesForward {
                let error = #expect(throws: MigrationError.self) { try recovery.abortAndWait() }
                #expect(error?.outcome == .needsDecision)
                let (old, new) = (world.places.oldStore.path, world.places.newStore.path)
                #expect(error?.next == .unshare(old: old, new: new))
                #expect(try contents(world) == before)
            } else {
                #expect(try recovery.abortAndWait().outcome == (attempt == 1 ? .rolledBack : .done))
                try expectUntouched(world)
            }
        }
        #expect(try world.places.share().outcome == (interruption.goesForward ? .alreadyShared : .shared))
        try expectShared(world)
    }

    @Test(
        "share recovers an interrupted run first and ends like an uninterrupted one",
        arguments: Interruption.publishing,
        ["wal", "delete"]
    )
    func share(_ interruption: Interruption, mode: String) throws {
        let world = try InterruptedWorld(interruption, mode: mode)

        #expect(try world.places.share().outcome == (interruption.goesForward ? .alreadyShared : .shared))

        try expectShared(world)
        #expect(try world.places.share().outcome == .alreadyShared)
        try expectShared(world)
    }

    @Test(
        "status and plan report an interrupted run, and change nothing",
        arguments: Interruption.publishing,
        ["wal", "delete"]
    )
    func status(_ interruption: Interruption, mode: String) throws {
        let world = try InterruptedWorld(interruption, mode: mode)
        let before = try World(world.places)
        for _ in 1...2 {
            let status = try world.places.migrator().statusAndWait()
            #expect(status.run == .interrupted)
            #expect(status.transaction == world.transaction)
            #expect(status.recovery?.contains(interruption.goesForward ? "finishes" : "rolls the run back") == true)
            #expect(status.next == .resume(old: world.places.oldStore.path))
            let plan = try world.places.migrator().planAndWait()
            #expect(plan.outcome == .interrupted)
            #expect(plan.next == .resume(old: world.places.oldStore.path))
            #expect(try World(world.places) == before)
        }
    }

    @Test(
        "A row added between the crash and the recovery is a late write, and the next share merges it",
        arguments: ["wal", "delete"]
    )
    func writtenMeanwhile(mode: String) throws {
        for interruption in Interruption.publishing where interruption.goesForward && !interruption.isFenced {
            let world = try InterruptedWorld(interruption, mode: mode)
            let writer = try StoreWriterProcess(world.places.oldStore.path)
            #expect(try writer.execute("INSERT INTO t VALUES ('late')") == "ok")

            #expect(try Recovery(of: world.places.oldStore.url).resumeAndWait().outcome == .shared)

            #expect(try world.places.digest(of: world.places.newStore) == world.digest)
            #expect(try world.places.count("SELECT count(*) FROM t", in: world.places.oldStore) == 3)
            #expect(try world.places.isFenced(world.places.oldStore))
            #expect(try world.places.migrator().statusAndWait().lateWrites == .found)
            #expect(writer.waitForExit() == 0)
            #expect(throws: MigrationError.self) { try StoreRetirement(of: world.places.oldStore.url).retireAndWait() }
            #expect(try world.places.share().outcome == .merged)
            #expect(try world.places.count("SELECT count(*) FROM t", in: world.places.newStore) == 3)
            #expect(try StoreRetirement(of: world.places.oldStore.url).retireAndWait().outcome == .retired)
        }
    }

    @Test(
        "A damaged new store fails the recovery's proof, and is never treated as proved",
        arguments: ["wal", "delete"]
    )
    func damagedMeanwhile(mode: String) throws {
        for interruption in Interruption.publishing where interruption.goesForward && interruption.records < 6 {
            let world = try InterruptedWorld(interruption, mode: mode)
            try world.places.container.overwrite(
                world.places.name,
                at: 4096,
                [UInt8](repeating: 0xff, count: 4096)
            )

            for attempt in 1...2 {
                let error = #expect(throws: MigrationError.self) {
                    if attempt == 1 { try Recovery(of: world.places.oldStore.url).resumeAndWait() }
                    if attempt == 2 { try world.places.share() }
                }
                #expect(error?.outcome == (attempt == 1 ? .verificationFailed : .foundButUnreadable))
                #expect(try !world.places.isFenced(world.places.oldStore))
            }
            #expect(try world.places.digest(of: world.places.oldStore) == world.digest)
            #expect(throws: MigrationError.self) { try StoreRetirement(of: world.places.oldStore.url).retireAndWait() }
        }
    }

    @Test("Recovery finishes a run whose old store is missing", arguments: ["wal", "delete"])
    func oldGone(mode: String) throws {
        for interruption in Interruption.publishing where interruption.goesForward {
            let world = try InterruptedWorld(interruption, mode: mode)
            for name in try world.places.old.directory.entries() where name.hasPrefix(world.places.name) {
                try world.places.old.directory.removeFile(name)
            }

            #expect(try Recovery(of: world.places.oldStore.url).resumeAndWait().outcome == .shared)

            #expect(try world.places.digest(of: world.places.newStore) == world.digest)
            #expect(try world.places.share().outcome == .alreadyShared)
        }
    }

    @Test("Recovery keeps a row that a consumer added to the new store", arguments: ["wal", "delete"])
    func consumedMeanwhile(mode: String) throws {
        for interruption in Interruption.publishing where interruption.goesForward {
            let world = try InterruptedWorld(interruption, mode: mode)
            let consumer = try StoreWriterProcess(world.places.newStore.path)
            #expect(try consumer.execute("INSERT INTO t VALUES ('new')") == "ok")

            #expect(try Recovery(of: world.places.oldStore.url).resumeAndWait().outcome == .shared)

            #expect(try world.places.count("SELECT count(*) FROM t", in: world.places.newStore) == 3)
            #expect(try consumer.execute("SELECT count(*) FROM t") == "value 3")
            #expect(try world.places.migrator().statusAndWait().lateWrites == StatusReport.LateWrites.none)
            #expect(try world.places.share().outcome == .alreadyShared)
        }
    }

    @Test("A rollback leaves a foreign file at the destination", arguments: ["wal", "delete"])
    func foreignFile(mode: String) throws {
        for interruption in Interruption.publishing where !interruption.goesForward {
            let world = try InterruptedWorld(interruption, mode: mode)
            try world.places.container.write(world.places.name, [1, 2, 3])

            #expect(try Recovery(of: world.places.oldStore.url).resumeAndWait().outcome == .rolledBack)

            #expect(try world.places.container.bytes(world.places.name) == [1, 2, 3])
            #expect(try world.places.digest(of: world.places.oldStore) == world.digest)
        }
    }

    @Test(
        "When the published store is missing, recovery removes the fence and keeps the old store",
        arguments: ["wal", "delete"]
    )
    func publishedAndGone(mode: String) throws {
        for interruption in Interruption.publishing where interruption.goesForward {
            let world = try InterruptedWorld(interruption, mode: mode)
            try world.places.container.directory.removeFile(world.places.name)

            #expect(try Recovery(of: world.places.oldStore.url).resumeAndWait().outcome == .rolledBack)

            #expect(try !world.places.isFenced(world.places.oldStore))
            #expect(try world.places.digest(of: world.places.oldStore) == world.digest)
            #expect(try world.places.share().outcome == .shared)
            try expectShared(world)
        }
    }

    // MARK: Helpers

    private func expectShared(_ world: InterruptedWorld, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let places = world.places
        #expect(try places.digest(of: places.newStore) == world.digest, sourceLocation: sourceLocation)
        #expect(try places.digest(of: places.oldStore) == world.digest, sourceLocation: sourceLocation)
        #expect(try places.isFenced(places.oldStore), sourceLocation: sourceLocation)
        #expect(try places.externalFiles(in: places.container.directory) == ["blob": 7], sourceLocation: sourceLocation)
        #expect(try Receipt(beside: places.name, in: places.container.directory) != nil, sourceLocation: sourceLocation)
        try places.expectTidy(sourceLocation: sourceLocation)
    }

    private func expectUntouched(_ world: InterruptedWorld, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let places = world.places
        // A run that stops before its receipt leaves none.
        #expect(try places.container.directory.entries().isEmpty, sourceLocation: sourceLocation)
        #expect(try places.digest(of: places.oldStore) == world.digest, sourceLocation: sourceLocation)
        #expect(try !places.isFenced(places.oldStore), sourceLocation: sourceLocation)
        #expect(try places.records().isEmpty, sourceLocation: sourceLocation)
    }

    /// The bytes at both paths, without the folder times of the lock file.
    private func contents(_ world: InterruptedWorld) throws -> [String: [UInt8]] {
        try world.places.old.everything().mapValues(\.bytes)
            .merging(
                world.places.container.everything().map { ("new/" + $0.key, $0.value.bytes) }
            ) { first, _ in first }
    }

    @Test("A resume and a share with nothing to do name the rows that lost in a merge, which may have been killed")
    func namesLosingRows() throws {
        let lives = try Lives()
        try lives.share("a", "b")
        try lives.write("UPDATE t SET v = 'late' WHERE id = 1", at: "a")
        try lives.write("UPDATE t SET v = 'shared' WHERE id = 1", at: "b")
        let merged = try lives.share("a", "b")
        #expect(merged.outcome == .merged)

        let outcome = try Recovery(of: lives.store("a").url).resumeAndWait()

        #expect(outcome.outcome == .done)
        let path = try #require(outcome.findings.first { $0.code == .losingRowsKept }?.path)
        #expect(path.hasSuffix(".parked.jsonl"))
        let again = try lives.share("a", "b")
        #expect(again.outcome == .alreadyShared)
        #expect(again.findings.filter { $0.code == .losingRowsKept }.map(\.path) == [path])
        #expect(!merged.findings.contains { $0.code == .losingRowsKept })
        // The next merge names the rows of the earlier one, too.
        try lives.write("UPDATE t SET v = 'later' WHERE id = 2", at: "a")
        let next = try lives.share("a", "b")
        #expect(next.outcome == .merged)
        #expect(next.findings.filter { $0.code == .losingRowsKept }.map(\.path) == [path])
    }
}
