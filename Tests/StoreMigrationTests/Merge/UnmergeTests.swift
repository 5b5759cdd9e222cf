import ChangeMerging
import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreVerification
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Undoing a merge")
struct UnmergeTests {
    @Test(
        "Undone rows of a share count as late again, and the next share merges them again",
        arguments: ["wal", "rollback"]
    )
    func ofShare(journalMode: String) throws {
        let world = try MergeWorld(journalMode: journalMode)
        let places = world.places
        try places.share(MergeWorld.capture)
        try world.rename(1, to: "Walk", in: places.oldStore)
        try world.add(3, "late", to: places.oldStore)
        try world.delete(2, in: places.oldStore)
        try world.add(4, "new", to: places.newStore)
        let before = try world.content(of: places.newStore)
        #expect(try places.share(MergeWorld.capture).outcome == .merged)
        let after = try world.content(of: places.newStore)

        let outcome = try MergeUndoing(of: places.newStore.url).unmergeAndWait()

        #expect((outcome.inserted, outcome.deleted) == (1, 2))
        #expect(try world.content(of: places.newStore) == before)
        try world.expectSound(places.newStore)
        #expect(try places.migrator().statusAndWait().lateWrites == .found)
        #expect(throws: MigrationError.self) { try MergeUndoing(of: places.newStore.url).unmergeAndWait() }
        #expect(try places.share(MergeWorld.capture).outcome == .merged)
        #expect(try world.content(of: places.newStore) == after)
        try world.expectSound(places.newStore)
    }

    @Test("An unmerge separates two merged stores, and the old one is writable again")
    func ofBothPlaces() throws {
        let world = try MergeWorld()
        let places = world.places
        try MergeWorld.build(at: places.newStore, tracksHistory: true, seed: "other")
        try world.add(4, "old", to: places.oldStore)
        let before = try world.content(of: places.newStore)
        let merged = try places.share {
            $0.onBoth = .merge
            $0.level = .coredata
        }
        #expect(merged.outcome == .merged)

        try MergeUndoing(of: places.newStore.url).unmergeAndWait()

        #expect(try world.content(of: places.newStore) == before)
        #expect(try !places.isFenced(places.oldStore))
        try world.add(5, "after", to: places.oldStore)
        #expect(try places.share { $0.level = .coredata }.outcome == .bothHoldObjects)
    }

    @Test("An unmerge is refused when merged objects were changed later")
    func writtenLater() throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share(MergeWorld.capture)
        try world.rename(1, to: "Walk", in: places.oldStore)
        #expect(try places.share(MergeWorld.capture).outcome == .merged)
        try world.rename(1, to: "Crawl", in: places.newStore)
        let before = try places.digest(of: places.newStore)

        let error = #expect(throws: MigrationError.self) { try MergeUndoing(of: places.newStore.url).unmergeAndWait() }

        #expect(error?.outcome == .needsDecision)
        #expect(error?.message.contains("Habit") == true)
        #expect(try places.digest(of: places.newStore) == before)
    }

    @Test("An unmerge is refused when a later object refers to a merged one")
    func referredToLater() throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share(MergeWorld.capture)
        try world.add(3, "late", to: places.oldStore)
        #expect(try places.share(MergeWorld.capture).outcome == .merged)
        // As a program that does not raise the version of the other object.
        try StoreConnection(places.newStore, access: .liveWriting)
            .execute(
                """
                UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_NAME = 'Day';
                INSERT INTO ZDAY (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZHABIT)
                    SELECT Z_MAX, Z_ENT, 1, 9, (SELECT Z_PK FROM ZHABIT WHERE ZID = 3)
                    FROM Z_PRIMARYKEY WHERE Z_NAME = 'Day'
                """
            )
        let before = try places.digest(of: places.newStore)

        let error = #expect(throws: MigrationError.self) { try MergeUndoing(of: places.newStore.url).unmergeAndWait() }

        #expect(error?.outcome == .needsDecision)
        #expect(error?.message.contains("Habit") == true)
        #expect(try places.digest(of: places.newStore) == before)
        try world.expectSound(places.newStore)
    }

    @Test("An unmerge does not undo a merge of a share that has ended")
    func ofFormerShare() throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share(MergeWorld.capture)
        try world.add(3, "late", to: places.oldStore)
        #expect(try places.share(MergeWorld.capture).outcome == .merged)
        var options = ShareOptions()
        options.level = .coredata
        try StoreUnsharing(places.oldStore.url, from: places.newStore.url, options: options).unshareAndWait()
        #expect(try places.share(MergeWorld.capture).outcome == .shared)

        #expect(throws: MigrationError.self) { try MergeUndoing(of: places.newStore.url).unmergeAndWait() }

        #expect(try world.content(of: places.newStore) == ["1 Run -: 1 2", "2 Read -:", "3 late : 3"])
    }

    @Test("A source is recognised after other merges, and after a merge without a recorded result")
    func mergedInBetween() throws {
        let world = try MergeWorld()
        let folder = try ScratchFolder()
        for name in ["base", "into", "one", "two"] {
            try MergeWorld.build(at: folder.location("\(name).sqlite"), tracksHistory: true)
        }
        let into = folder.location("into.sqlite")
        try world.add(3, "into", to: into)
        try world.add(4, "one", to: folder.location("one.sqlite"))
        try world.rename(2, to: "two", in: folder.location("two.sqlite"))
        func merge(_ name: String, base: String = "base", state: ScratchFolder? = nil) throws -> MigrationOutcome {
            var options = MergeOptions()
            options.base = folder.location("\(base).sqlite").url
            options.stateFolder = state?.location("state").url
            return try StoreMerging(folder.location("\(name).sqlite").url, into: into.url, options: options)
                .mergeAndWait()
                .outcome
        }
        let merged = ["1 Run -: 1 2", "2 two -:", "3 into : 3", "4 one : 4"]
        #expect(try merge("one") == .merged)
        // Simulates a kill before the result is recorded.
        let journalFolder = try folder.directory.openDirectory(StateFolder.name).openDirectory(into.name)
        let records = try MigrationJournal.records(in: journalFolder)
        try journalFolder.removeFile(MigrationJournal.name)
        var journal = try MigrationJournal(in: journalFolder)
        for record in records.dropLast() { try journal.append(record) }
        let elsewhere = try ScratchFolder()
        #expect(try merge("two", state: elsewhere) == .merged)
        #expect(try merge("one") == .done)
        #expect(try world.content(of: into) == merged)

        try folder.copyFiles(of: "one.sqlite", to: folder, as: "one-then.sqlite")
        try world.rename(4, to: "one again", in: folder.location("one.sqlite"))
        #expect(try merge("one", base: "one-then") == .merged)
        #expect(try world.content(of: into) == merged.dropLast() + ["4 one again : 4"])
        try world.expectSound(into)
    }

    @Test("A merge with a base merges once, and an unmerge undoes it")
    func ofMerge() throws {
        let world = try MergeWorld()
        let folder = try ScratchFolder()
        for name in ["base", "into", "from"] {
            try MergeWorld.build(at: folder.location("\(name).sqlite"), tracksHistory: true)
        }
        let (into, from) = (folder.location("into.sqlite"), folder.location("from.sqlite"))
        try world.add(3, "from", to: from)
        try world.rename(2, to: "into", in: into)
        var options = MergeOptions()
        options.base = folder.location("base.sqlite").url
        let merging = StoreMerging(from.url, into: into.url, options: options)
        let before = try folder.bytes(from.name)
        #expect(try merging.planAndWait().summary.inserted == 2)
        #expect(try world.content(of: into) == ["1 Run -: 1 2", "2 into -:"])

        let outcome = try merging.mergeAndWait()

        #expect(outcome.outcome == .merged)
        #expect(outcome.report?.passed == true)
        #expect(try world.content(of: into) == ["1 Run -: 1 2", "2 into -:", "3 from : 3"])
        #expect(try folder.bytes(from.name) == before)
        #expect(try merging.mergeAndWait().outcome == .done)
        #expect(try world.content(of: into) == ["1 Run -: 1 2", "2 into -:", "3 from : 3"])
        try world.rename(3, to: "from again", in: from)
        #expect(throws: MigrationError.self) { try merging.mergeAndWait() }
        try MergeUndoing(of: into.url).unmergeAndWait()
        #expect(try world.content(of: into) == ["1 Run -: 1 2", "2 into -:"])
        try world.expectSound(into)
        #expect(throws: MigrationError.self) { try StoreMerging(from.url, into: into.url).mergeAndWait() }
    }
}
