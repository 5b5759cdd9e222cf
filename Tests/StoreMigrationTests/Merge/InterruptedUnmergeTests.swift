import ChangeMerging
import SafeFiles
import StoreFormat
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Taking a merge back is gone on with where it was stopped")
struct InterruptedUnmergeTests {
    private static let merge: @Sendable (inout ShareOptions) -> Void = {
        $0.onBoth = .merge
        $0.level = .sqlite
    }

    /// The same for plain stores, whose rows only their texts identify.
    private static let mergePlain: @Sendable (inout ShareOptions) -> Void = {
        merge(&$0)
        $0.merging.identities = ["t": ["x"]]
    }

    /// Takes the merge back while somebody writes to the old store, so that its fence cannot be lifted.
    private func unmergeWhileBusy(_ places: Places) throws {
        let writer = try places.old.open()
        try writer.beginWriting(deadline: Deadline(after: .seconds(60)))
        var options = MergeOptions()
        options.lockTimeout = .milliseconds(50)
        let error = #expect(throws: MigrationError.self) {
            try MergeUndoing(of: places.newStore.url, options: options).unmerge()
        }
        #expect(error?.outcome == .interrupted)
        #expect(error?.next == .unmerge(into: places.newStore.path))
        writer.rollback()
        try writer.close()
        // What was merged is in no shared store now: nothing may take the old one for done with.
        #expect(try places.isFenced(places.oldStore))
        let retiring = #expect(throws: MigrationError.self) {
            try StoreRetirement(of: places.oldStore.url).retire()
        }
        #expect(retiring?.outcome == .needsDecision)
        #expect(retiring?.next == .unmerge(into: places.newStore.path))
    }

    @Test("In a store of Core Data's the undoing that was committed is not asked for again")
    func managed() throws {
        let world = try MergeWorld()
        let places = world.places
        try MergeWorld.build(at: places.newStore, tracksHistory: true, seed: "other")
        try world.add(4, "old", to: places.oldStore)
        let before = try world.content(of: places.newStore)
        #expect(try places.share(Self.merge).outcome == .merged)

        try unmergeWhileBusy(places)
        // Somebody writes to what the merge had written.
        try world.rename(1, to: "Later", in: places.newStore)
        try MergeUndoing(of: places.newStore.url).unmerge()

        #expect(try world.content(of: places.newStore).dropFirst() == before.dropFirst())
        #expect(try !places.isFenced(places.oldStore))
        #expect(try places.share().outcome == .bothHoldObjects)
        #expect(throws: MigrationError.self) { try StoreRetirement(of: places.oldStore.url).retire() }
    }

    @Test("In any other store, too; and nothing of ours is left in it")
    func plain() throws {
        let places = try Places()
        let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT);"
        try places.old.makeStore(sql + "INSERT INTO t VALUES (1, 'old'), (2, 'both')")
        try places.container.makeStore(sql + "INSERT INTO t VALUES (2, 'both'), (3, 'new')")
        let before = try places.digest(of: places.newStore)
        #expect(try places.share(Self.mergePlain).outcome == .merged)
        #expect(try places.digest(of: places.newStore) != before)

        try unmergeWhileBusy(places)
        #expect(try places.digest(of: places.newStore) == before)
        try MergeUndoing(of: places.newStore.url).unmerge()

        #expect(try places.digest(of: places.newStore) == before)
        #expect(try !places.isFenced(places.oldStore))
        let ours = "SELECT count(*) FROM sqlite_schema WHERE name = '\(StoreSchema.mergeEpochTable)'"
        #expect(try places.count(ours, in: places.newStore) == 0)
        #expect(try places.share().outcome == .bothHoldObjects)
    }

    @Test("What another merge left in between is kept")
    func mergedInBetween() throws {
        let places = try Places()
        let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT);"
        try places.old.makeStore(sql + "INSERT INTO t VALUES (1, 'old')")
        try places.container.makeStore(sql + "INSERT INTO t VALUES (3, 'new')")
        #expect(try places.share(Self.mergePlain).outcome == .merged)
        try unmergeWhileBusy(places)
        let other = try ScratchFolder()
        try other.makeStore(sql + "INSERT INTO t VALUES (9, 'other')")
        var options = MergeOptions()
        options.level = .sqlite
        options.settings.identities = ["t": ["x"]]
        #expect(
            try StoreMerging(other.location("store.sqlite").url, into: places.newStore.url, options: options)
                .merge().outcome == .merged
        )
        let after = try places.digest(of: places.newStore)

        // The one that was begun is gone on with first, though the container's journal tells of the other one.
        #expect(try MergeUndoing(of: places.newStore.url).unmerge().deleted == 0)
        #expect(try !places.isFenced(places.oldStore))
        #expect(try places.digest(of: places.newStore) == after)
        #expect(try MergeUndoing(of: places.newStore.url).unmerge().deleted == 1)
        #expect(try places.digest(of: places.newStore) != after)
        #expect(try places.count("SELECT count(*) FROM t", in: places.newStore) == 1)
    }
}
