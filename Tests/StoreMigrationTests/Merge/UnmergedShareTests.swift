import ChangeMerging
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Rows of an undone merge")
struct UnmergedShareTests {
    private static let late = "3 late : 3"

    /// A shared store into which a late row was merged.
    private func merged() throws -> MergeWorld {
        let world = try MergeWorld()
        try world.places.share(MergeWorld.capture)
        try world.add(3, "late", to: world.places.oldStore)
        #expect(try world.places.share(MergeWorld.capture).outcome == .merged)
        #expect(try world.content(of: world.places.newStore).contains(Self.late))
        return world
    }

    /// Undoes the last merge like an unmerge that is killed before it is journalled.
    private func takeBackUnnoted(_ places: Places) throws {
        let folder = try StateFolder(of: places.oldStore, stateFolder: nil).open()
        let epoch = try #require(try MergeState(MigrationJournal.records(in: folder)).standing.last?.epoch)
        let record = try folder.openFile(MergeRecords.name(of: .changeset, epoch), for: .reading)
        let connection = try places.container.open()
        let undone = try MergeUndo(reading: record)
            .undo(in: MergePlace(connection), deadline: Deadline(after: .seconds(60)), epoch: epoch)
        #expect(undone.deleted > 0)
        try connection.close()
        try record.close()
    }

    @Test("During an interrupted unmerge, share, unshare and retire are refused")
    func beingTakenBack() throws {
        let world = try merged()
        let places = world.places
        try takeBackUnnoted(places)
        let before = try (world.content(of: places.oldStore), world.content(of: places.newStore))
        #expect(before.0.contains(Self.late) && !before.1.contains(Self.late))

        var options = ShareOptions()
        options.level = .coredata
        let unsharing = StoreUnsharing(places.oldStore.url, from: places.newStore.url, options: options)
        let errors = [
            #expect(throws: MigrationError.self) { try places.share(MergeWorld.capture) },
            #expect(throws: MigrationError.self) { try places.share() },
            #expect(throws: MigrationError.self) { _ = try places.migrator(MergeWorld.capture).planAndWait() },
            #expect(throws: MigrationError.self) { try unsharing.unshareAndWait() },
            #expect(throws: MigrationError.self) { try StoreRetirement(of: places.oldStore.url).retireAndWait() },
        ]

        for error in errors {
            #expect(error?.outcome == .needsDecision)
            #expect(error?.next == .unmerge(into: places.newStore.path))
        }
        #expect(try (world.content(of: places.oldStore), world.content(of: places.newStore)) == before)
        try MergeUndoing(of: places.newStore.url).unmergeAndWait()
        #expect(try places.share(MergeWorld.capture).outcome == .merged)
        #expect(try world.content(of: places.newStore).contains(Self.late))
        try world.expectSound(places.newStore)
    }

    @Test("Undone rows count as late again after a share that only fenced the store")
    func fencedSince() throws {
        let world = try merged()
        let places = world.places
        let fenced = try places.share {
            $0.level = .coredata
            $0.oldStore = .fence
        }
        #expect(fenced.outcome == .alreadyShared)
        #expect(try places.isFenced(places.oldStore))
        try MergeUndoing(of: places.newStore.url).unmergeAndWait()
        #expect(try !world.content(of: places.newStore).contains(Self.late))

        #expect(throws: MigrationError.self) { try StoreRetirement(of: places.oldStore.url).retireAndWait() }
        #expect(try places.share { $0.level = .coredata }.outcome == .merged)
        #expect(try world.content(of: places.newStore).contains(Self.late))
        #expect(try StoreRetirement(of: places.oldStore.url).retireAndWait().outcome == .retired)
    }

    @Test("After two undone merges the rows of both count as late again")
    func bothTakenBack() throws {
        let world = try merged()
        let places = world.places
        let before = try world.content(of: places.newStore)
        try world.add(4, "later", to: places.oldStore)
        #expect(try places.share(MergeWorld.capture).outcome == .merged)
        try MergeUndoing(of: places.newStore.url).unmergeAndWait()
        #expect(try world.content(of: places.newStore) == before)
        try MergeUndoing(of: places.newStore.url).unmergeAndWait()
        #expect(try !world.content(of: places.newStore).contains(Self.late))

        // The first base was not kept: the share reports late writes and treats nothing as merged.
        let outcome = try places.share(MergeWorld.capture)
        #expect(outcome.outcome == .lateWrites)
        #expect(outcome.next == .status(old: places.oldStore.path, new: places.newStore.path))
        #expect(throws: MigrationError.self) { try StoreRetirement(of: places.oldStore.url).retireAndWait() }
        #expect(try world.content(of: places.oldStore).contains(Self.late))
    }
}
