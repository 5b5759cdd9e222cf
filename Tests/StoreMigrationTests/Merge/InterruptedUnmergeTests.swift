import ChangeMerging
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("An interrupted unmerge")
struct InterruptedUnmergeTests {
    private static let merge: @Sendable (inout ShareOptions) -> Void = {
        $0.onBoth = .merge
        $0.level = .sqlite
    }

    /// The same for plain stores, whose rows are matched by their text only.
    private static let mergePlain: @Sendable (inout ShareOptions) -> Void = {
        merge(&$0)
        $0.merging = MergeSettings(identities: ["t": ["x"]])
    }

    /// Undoes the merge while a process writes to the old store, so that its fence cannot be removed.
    private func unmergeWhileBusy(_ places: Places) throws {
        let writer = try places.old.open()
        try writer.beginWriting(deadline: Deadline(after: .seconds(60)))
        var options = MergeOptions()
        options.lockTimeout = .milliseconds(50)
        let error = #expect(throws: MigrationError.self) {
            try MergeUndoing(of: places.newStore.url, options: options).unmergeAndWait()
        }
        #expect(error?.outcome == .interrupted)
        #expect(error?.next == .unmerge(into: places.newStore.path))
        writer.rollback()
        try writer.close()
        // The merged rows are in no shared store now, so the old store must not be retired.
        #expect(try places.isFenced(places.oldStore))
        let retiring = #expect(throws: MigrationError.self) {
            try StoreRetirement(of: places.oldStore.url).retireAndWait()
        }
        #expect(retiring?.outcome == .needsDecision)
        #expect(retiring?.next == .unmerge(into: places.newStore.path))
    }

    @Test("A second unmerge does not repeat a committed undo in a Core Data store")
    func managed() throws {
        let world = try MergeWorld()
        let places = world.places
        try MergeWorld.build(at: places.newStore, tracksHistory: true, seed: "other")
        try world.add(4, "old", to: places.oldStore)
        let before = try world.content(of: places.newStore)
        #expect(try places.share(Self.merge).outcome == .merged)

        try unmergeWhileBusy(places)
        // An app writes to an object that the merge had written.
        try world.rename(1, to: "Later", in: places.newStore)
        try MergeUndoing(of: places.newStore.url).unmergeAndWait()

        #expect(try world.content(of: places.newStore).dropFirst() == before.dropFirst())
        #expect(try !places.isFenced(places.oldStore))
        #expect(try places.share().outcome == .bothHoldObjects)
        #expect(throws: MigrationError.self) { try StoreRetirement(of: places.oldStore.url).retireAndWait() }
    }

    @Test("A second unmerge finishes in a plain store, and leaves no table of the tool in it")
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
        try MergeUndoing(of: places.newStore.url).unmergeAndWait()

        #expect(try places.digest(of: places.newStore) == before)
        #expect(try !places.isFenced(places.oldStore))
        let ours = "SELECT count(*) FROM sqlite_schema WHERE name = '\(StoreSchema.mergeEpochTable)'"
        #expect(try places.count(ours, in: places.newStore) == 0)
        #expect(try places.share().outcome == .bothHoldObjects)
    }

    @Test("A second unmerge keeps another merge that was made in between")
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
                .mergeAndWait().outcome == .merged
        )
        let after = try places.digest(of: places.newStore)

        // The interrupted undo is finished first, although the container's journal records the later merge.
        #expect(try MergeUndoing(of: places.newStore.url).unmergeAndWait().deleted == 0)
        #expect(try !places.isFenced(places.oldStore))
        #expect(try places.digest(of: places.newStore) == after)
        #expect(try MergeUndoing(of: places.newStore.url).unmergeAndWait().deleted == 1)
        #expect(try places.digest(of: places.newStore) != after)
        #expect(try places.count("SELECT count(*) FROM t", in: places.newStore) == 1)
    }
}
