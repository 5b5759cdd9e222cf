import SafeFiles
import StoreFormat
import TestSupport
import Testing

@testable import StoreMigration

@Suite("An interrupted run")
struct InterruptedRunTests {
    @Test(
        "resume finishes it or takes it back, and a second time finds nothing to do",
        arguments: Interruption.publishing,
        ["wal", "delete"]
    )
    func resume(_ interruption: Interruption, mode: String) throws {
        let world = try InterruptedWorld(interruption, mode: mode)
        let recovery = Recovery(of: world.places.oldStore.url)

        #expect(try recovery.resume().outcome == (interruption.goesForward ? .shared : .rolledBack))

        if interruption.goesForward { try expectShared(world) } else { try expectUntouched(world) }
        let after = try World(world.places)
        #expect(try recovery.resume().outcome == .done)
        #expect(try recovery.abort().outcome == .done)
        #expect(try World(world.places) == after)
        #expect(try world.places.share().outcome == (interruption.goesForward ? .alreadyShared : .shared))
        try expectShared(world)
    }

    @Test("Killed while it filled an empty file, it is taken back, and every verb goes on")
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
        // Back to before the fence and the commit, with the destination as the killed writer left it.
        try FenceWriter.lift(from: places.oldStore, lockTimeout: .seconds(60))
        let folder = try places.journalFolder()
        try folder.removeFile(MigrationJournal.name)
        var journal = try MigrationJournal(in: folder)
        for record in records[...replacing] { try journal.append(record) }
        let file = try places.container.directory.openFile(places.name, for: .writing)
        try file.truncate(to: 0)
        try file.close()
        try places.container.writeHalfFilledStore(places.name)

        let status = try places.migrator().status()
        #expect(status.run == .interrupted)
        #expect(status.recovery?.contains("rolls the run back") == true)
        #expect(try Recovery(of: places.oldStore.url).resume().outcome == .rolledBack)

        #expect(try places.digest(of: places.oldStore) == digest)
        #expect(try places.share().outcome == .shared)
        #expect(try places.digest(of: places.newStore) == digest)
    }

    @Test(
        "abort takes it back before the commit point, and changes nothing after it",
        arguments: Interruption.publishing,
        ["wal", "delete"]
    )
    func abort(_ interruption: Interruption, mode: String) throws {
        let world = try InterruptedWorld(interruption, mode: mode)
        let recovery = Recovery(of: world.places.oldStore.url)
        let before = try contents(world)
        for attempt in 1...2 {
            if interruption.goesForward {
                let error = #expect(throws: MigrationError.self) { try recovery.abort() }
                #expect(error?.outcome == .needsDecision)
                let (old, new) = (world.places.oldStore.path, world.places.newStore.path)
                #expect(error?.next == .unshare(old: old, new: new))
                #expect(try contents(world) == before)
            } else {
                #expect(try recovery.abort().outcome == (attempt == 1 ? .rolledBack : .done))
                try expectUntouched(world)
            }
        }
        #expect(try world.places.share().outcome == (interruption.goesForward ? .alreadyShared : .shared))
        try expectShared(world)
    }

    @Test(
        "share recovers first and ends as if nothing had happened",
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

    @Test("status and plan tell of it, and change nothing", arguments: Interruption.publishing, ["wal", "delete"])
    func status(_ interruption: Interruption, mode: String) throws {
        let world = try InterruptedWorld(interruption, mode: mode)
        let before = try World(world.places)
        for _ in 1...2 {
            let status = try world.places.migrator().status()
            #expect(status.run == .interrupted)
            #expect(status.transaction == world.transaction)
            #expect(status.recovery?.contains(interruption.goesForward ? "finishes" : "rolls the run back") == true)
            #expect(status.next == .resume(old: world.places.oldStore.path))
            let plan = try world.places.migrator().plan()
            #expect(plan.outcome == .interrupted)
            #expect(plan.next == .resume(old: world.places.oldStore.path))
            #expect(try World(world.places) == before)
        }
    }

    @Test(
        "A row that a writer added between the crash and the recovery is told, and merged by the next share",
        arguments: ["wal", "delete"]
    )
    func writtenMeanwhile(mode: String) throws {
        for interruption in Interruption.publishing where interruption.goesForward && !interruption.isFenced {
            let world = try InterruptedWorld(interruption, mode: mode)
            let writer = try StoreWriterProcess(world.places.oldStore.path)
            #expect(try writer.execute("INSERT INTO t VALUES ('late')") == "ok")

            #expect(try Recovery(of: world.places.oldStore.url).resume().outcome == .shared)

            #expect(try world.places.digest(of: world.places.newStore) == world.digest)
            #expect(try world.places.count("SELECT count(*) FROM t", in: world.places.oldStore) == 3)
            #expect(try world.places.isFenced(world.places.oldStore))
            #expect(try world.places.migrator().status().lateWrites == .found)
            #expect(writer.waitForExit() == 0)
            #expect(throws: MigrationError.self) { try StoreRetirement(of: world.places.oldStore.url).retire() }
            #expect(try world.places.share().outcome == .merged)
            #expect(try world.places.count("SELECT count(*) FROM t", in: world.places.newStore) == 3)
            #expect(try StoreRetirement(of: world.places.oldStore.url).retire().outcome == .retired)
        }
    }

    @Test("A new store that is damaged is not taken for a proved one, now or later", arguments: ["wal", "delete"])
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
                    if attempt == 1 { try Recovery(of: world.places.oldStore.url).resume() }
                    if attempt == 2 { try world.places.share() }
                }
                #expect(error?.outcome == (attempt == 1 ? .verificationFailed : .foundButUnreadable))
                #expect(try !world.places.isFenced(world.places.oldStore))
            }
            #expect(try world.places.digest(of: world.places.oldStore) == world.digest)
            #expect(throws: MigrationError.self) { try StoreRetirement(of: world.places.oldStore.url).retire() }
        }
    }

    @Test("When the old store is gone the new one is what is left, and the run ends", arguments: ["wal", "delete"])
    func oldGone(mode: String) throws {
        for interruption in Interruption.publishing where interruption.goesForward {
            let world = try InterruptedWorld(interruption, mode: mode)
            for name in try world.places.old.directory.entries() where name.hasPrefix(world.places.name) {
                try world.places.old.directory.removeFile(name)
            }

            #expect(try Recovery(of: world.places.oldStore.url).resume().outcome == .shared)

            #expect(try world.places.digest(of: world.places.newStore) == world.digest)
            #expect(try world.places.share().outcome == .alreadyShared)
        }
    }

    @Test("A row that a consumer added to the new store before the recovery is kept", arguments: ["wal", "delete"])
    func consumedMeanwhile(mode: String) throws {
        for interruption in Interruption.publishing where interruption.goesForward {
            let world = try InterruptedWorld(interruption, mode: mode)
            let consumer = try StoreWriterProcess(world.places.newStore.path)
            #expect(try consumer.execute("INSERT INTO t VALUES ('new')") == "ok")

            #expect(try Recovery(of: world.places.oldStore.url).resume().outcome == .shared)

            #expect(try world.places.count("SELECT count(*) FROM t", in: world.places.newStore) == 3)
            #expect(try consumer.execute("SELECT count(*) FROM t") == "value 3")
            #expect(try world.places.migrator().status().lateWrites == StatusReport.LateWrites.none)
            #expect(try world.places.share().outcome == .alreadyShared)
        }
    }

    @Test("A foreign file at the destination stays when the run is taken back", arguments: ["wal", "delete"])
    func foreignFile(mode: String) throws {
        for interruption in Interruption.publishing where !interruption.goesForward {
            let world = try InterruptedWorld(interruption, mode: mode)
            try world.places.container.write(world.places.name, [1, 2, 3])

            #expect(try Recovery(of: world.places.oldStore.url).resume().outcome == .rolledBack)

            #expect(try world.places.container.bytes(world.places.name) == [1, 2, 3])
            #expect(try world.places.digest(of: world.places.oldStore) == world.digest)
        }
    }

    @Test(
        "A published store that is gone is given up: the fence is lifted and the old store whole",
        arguments: ["wal", "delete"]
    )
    func publishedAndGone(mode: String) throws {
        for interruption in Interruption.publishing where interruption.goesForward {
            let world = try InterruptedWorld(interruption, mode: mode)
            try world.places.container.directory.removeFile(world.places.name)

            #expect(try Recovery(of: world.places.oldStore.url).resume().outcome == .rolledBack)

            #expect(try !world.places.isFenced(world.places.oldStore))
            #expect(try world.places.digest(of: world.places.oldStore) == world.digest)
            #expect(try world.places.share().outcome == .shared)
            try expectShared(world)
        }
    }

    // MARK: Looking at the world

    private func expectShared(_ world: InterruptedWorld, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let places = world.places
        #expect(try places.digest(of: places.newStore) == world.digest, sourceLocation: sourceLocation)
        #expect(try places.digest(of: places.oldStore) == world.digest, sourceLocation: sourceLocation)
        #expect(try places.isFenced(places.oldStore), sourceLocation: sourceLocation)
        #expect(try places.externalFiles(in: places.container.directory) == ["blob": 7], sourceLocation: sourceLocation)
        #expect(Receipt(beside: places.name, in: places.container.directory) != nil, sourceLocation: sourceLocation)
        try places.expectTidy(sourceLocation: sourceLocation)
    }

    private func expectUntouched(_ world: InterruptedWorld, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let places = world.places
        // A receipt is no part of a run that did not get so far.
        #expect(try places.container.directory.entries().isEmpty, sourceLocation: sourceLocation)
        #expect(try places.digest(of: places.oldStore) == world.digest, sourceLocation: sourceLocation)
        #expect(try !places.isFenced(places.oldStore), sourceLocation: sourceLocation)
        #expect(try places.records().isEmpty, sourceLocation: sourceLocation)
    }

    /// The bytes at both places, less those of the lock file's folder times.
    private func contents(_ world: InterruptedWorld) throws -> [String: [UInt8]] {
        try world.places.old.everything().mapValues(\.bytes)
            .merging(
                world.places.container.everything().map { ("new/" + $0.key, $0.value.bytes) }
            ) { first, _ in first }
    }
}
