import ChangeMerging
import FoundationEssentials
import SafeFiles
import StoreFormat
import StoreVerification
import TestSupport
import Testing

@testable import StoreMigration

@Suite("A merge is taken back")
struct UnmergeTests {
    @Test(
        "What a share merged is undone, counts as late again, and is merged once more",
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

        let outcome = try MergeUndoing(of: places.newStore.url).unmerge()

        #expect((outcome.inserted, outcome.deleted) == (1, 2))
        #expect(try world.content(of: places.newStore) == before)
        try world.expectSound(places.newStore)
        #expect(try places.migrator().status().lateWrites == .found)
        #expect(throws: MigrationError.self) { try MergeUndoing(of: places.newStore.url).unmerge() }
        #expect(try places.share(MergeWorld.capture).outcome == .merged)
        #expect(try world.content(of: places.newStore) == after)
        try world.expectSound(places.newStore)
    }

    @Test("Two stores that were made one are two again, and the old one takes writes")
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

        try MergeUndoing(of: places.newStore.url).unmerge()

        #expect(try world.content(of: places.newStore) == before)
        #expect(try !places.isFenced(places.oldStore))
        try world.add(5, "after", to: places.oldStore)
        #expect(try places.share { $0.level = .coredata }.outcome == .bothHoldObjects)
    }

    @Test("Nothing is taken back where something was written later to what was merged")
    func writtenLater() throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share(MergeWorld.capture)
        try world.rename(1, to: "Walk", in: places.oldStore)
        #expect(try places.share(MergeWorld.capture).outcome == .merged)
        try world.rename(1, to: "Crawl", in: places.newStore)
        let before = try places.digest(of: places.newStore)

        let error = #expect(throws: MigrationError.self) { try MergeUndoing(of: places.newStore.url).unmerge() }

        #expect(error?.outcome == .needsDecision)
        #expect(error?.message.contains("Habit") == true)
        #expect(try places.digest(of: places.newStore) == before)
    }

    @Test("One store is merged into another by a base, and that is taken back")
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
        #expect(try merging.plan().summary.inserted == 2)
        #expect(try world.content(of: into) == ["1 Run -: 1 2", "2 into -:"])

        let outcome = try merging.merge()

        #expect(outcome.outcome == .merged)
        #expect(outcome.report?.passed == true)
        #expect(try world.content(of: into) == ["1 Run -: 1 2", "2 into -:", "3 from : 3"])
        #expect(try folder.bytes(from.name) == before)
        #expect(try merging.merge().outcome == .done)
        #expect(try world.content(of: into) == ["1 Run -: 1 2", "2 into -:", "3 from : 3"])
        try world.rename(3, to: "from again", in: from)
        #expect(throws: MigrationError.self) { try merging.merge() }
        try MergeUndoing(of: into.url).unmerge()
        #expect(try world.content(of: into) == ["1 Run -: 1 2", "2 into -:"])
        try world.expectSound(into)
        #expect(throws: MigrationError.self) { try StoreMerging(from.url, into: into.url).merge() }
    }
}
