import SafeFiles
import StoreFormat
import StoreVerification
import SystemPackage
import TestSupport
import Testing

@testable import StoreMigration

@Suite("A way back that was killed at the moment in which it replaces the old store's content")
struct InterruptedUnshareTests {
    private func shared(_ policy: ShareOptions.OldStorePolicy) throws -> Places {
        let places = try Places()
        try places.old.makeStore(
            "PRAGMA journal_mode=delete; CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (1, 'early')"
        )
        try places.share { $0.oldStore = policy }
        return places
    }

    private func unsharing(_ places: Places, level: VerificationLevel = .content) -> StoreUnsharing {
        var options = ShareOptions()
        options.lockTimeout = .seconds(60)
        options.level = level
        return StoreUnsharing(places.oldStore.url, from: places.newStore.url, options: options)
    }

    private func write(_ sql: String, to store: StoreLocation) throws {
        let writer = try StoreWriterProcess(store.path)
        #expect(try writer.execute(sql) == "ok")
        #expect(writer.waitForExit() == 0)
    }

    @Test(
        "Both places held the same: the old one takes writes afterwards, whether its content was replaced or not",
        arguments: ShareOptions.OldStorePolicy.allCases,
        [false, true]
    )
    func sameContent(policy: ShareOptions.OldStorePolicy, isCommitted: Bool) throws {
        let places = try shared(policy)
        _ = try InterruptedWayBack(of: places, isCommitted: isCommitted)

        #expect(try unsharing(places).unshare().outcome == .unshared)

        #expect(try !places.isFenced(places.oldStore))
        try write("INSERT INTO t VALUES (2, 'after')", to: places.oldStore)
        #expect(try places.rows(of: places.oldStore) == ["after", "early"])
        #expect(try places.container.directory.status(of: places.name) == nil)
        #expect(try places.share().outcome == .shared)
        #expect(try places.rows(of: places.newStore) == ["after", "early"])
    }

    /// A fenced store takes no writes before its content was replaced.
    static let writableCases: [(ShareOptions.OldStorePolicy, Bool)] = [
        (.capture, false), (.capture, true), (.fence, true),
    ]

    @Test("The old store was written to since: that is merged by the next run", arguments: writableCases)
    func writtenSince(policy: ShareOptions.OldStorePolicy, isCommitted: Bool) throws {
        let places = try shared(policy)
        try write("INSERT INTO t VALUES (2, 'new')", to: places.newStore)
        let killed = try InterruptedWayBack(of: places, isCommitted: isCommitted)
        try write("INSERT INTO t VALUES (3, 'late')", to: places.oldStore)

        let error = #expect(throws: MigrationError.self) { try unsharing(places).unshare() }

        #expect(error?.outcome == .busy)
        #expect(error?.advice.contains("Remove") == false)
        #expect(error?.next == .unshare(old: places.oldStore.path, new: places.newStore.path))
        #expect(try places.rows(of: places.oldStore) == (isCommitted ? ["early", "late", "new"] : ["early", "late"]))
        #expect(try places.migrator().status().run == .shared)
        #expect(try unsharing(places).unshare().outcome == .unshared)
        #expect(try places.rows(of: places.oldStore) == ["early", "late", "new"])
        let kept = try places.old.directory.openDirectory(AsideFolder.name(for: killed.transaction))
        #expect(try places.rows(of: StoreLocation(folder: kept.path, name: places.name)) == ["early"])
    }

    @Test("The same with the objects of Core Data", arguments: writableCases)
    func objectsWrittenSince(policy: ShareOptions.OldStorePolicy, isCommitted: Bool) throws {
        let world = try MergeWorld(journalMode: "rollback")
        let places = world.places
        try places.share {
            MergeWorld.capture(&$0)
            $0.oldStore = policy
        }
        try world.add(3, "new", to: places.newStore)
        _ = try InterruptedWayBack(of: places, isCommitted: isCommitted)
        try world.add(4, "late", to: places.oldStore)

        let error = #expect(throws: MigrationError.self) { try unsharing(places, level: .coredata).unshare() }

        #expect(error?.outcome == .busy)
        #expect(try unsharing(places, level: .coredata).unshare().outcome == .unshared)
        let content = try world.content(of: places.oldStore)
        // Where the content was replaced already both stores have what is new, and a day has nothing to be known by: that
        // there may be two of it is no loss.
        #expect(content.count == 4)
        for (line, expected) in zip(content, ["1 Run -: 1 2", "2 Read -:", "3 new : 3", "4 late : 4"]) {
            #expect(isCommitted ? line.hasPrefix(expected) : line == expected)
        }
        try world.expectSound(places.oldStore)
    }

    @Test("External files that came with the content stay while somebody may have written to the store since")
    func externalFiles() throws {
        let places = try shared(.capture)
        try places.writeExternalFile("blob", 7, count: 10, in: places.container)
        try write("INSERT INTO t VALUES (2, 'new')", to: places.newStore)
        try places.writeExternalFile("blob", 7, count: 10, in: places.old)
        let external = try #require(try places.old.directory.externalData(of: places.oldStore))
        let blob = try #require(try external.status(of: "blob")).identity
        _ = try InterruptedWayBack(of: places, isCommitted: true, externalFiles: ["blob": blob])
        try write("INSERT INTO t VALUES (3, 'late')", to: places.oldStore)

        #expect(throws: MigrationError.self) { try unsharing(places).unshare() }

        #expect(try places.externalFiles(in: places.old.directory) == ["blob": 7])
    }

    @Test("Nobody is told to remove a folder that has the name of a run's own")
    func takenName() throws {
        let scratch = try ScratchFolder()
        _ = try scratch.directory.createDirectory(AsideFolder.name(for: "t"), mode: 0o700)

        let error = #expect(throws: MigrationError.self) {
            _ = try AsideFolder(for: "t", in: scratch.directory).open { _ in }
        }

        #expect(error?.outcome == .needsDecision)
        #expect(error?.advice.contains("Remove") == false)
    }

    @Test("Nothing is journalled while the journal of the way back cannot be kept")
    func journalOfAnother() throws {
        let places = try shared(.capture)
        let outer = try places.container.directory.createDirectory(StateFolder.name, mode: 0o700)
        // What others may write is believed no more than what another one wrote.
        let inner = try outer.createDirectory(places.name, mode: 0o700)
        try FilePath(inner.path).setMode(0o777)
        let records = try places.records()

        let error = #expect(throws: MigrationError.self) { try unsharing(places).unshare() }

        #expect(error?.outcome == .needsDecision)
        #expect(error?.path.hasPrefix(inner.path) == true)
        #expect(try places.records() == records)
        #expect(try places.share { $0.oldStore = .capture }.outcome == .alreadyShared)
        #expect(try Recovery(of: places.oldStore.url).abort().outcome == .done)
        try outer.removeDirectory(places.name)
        #expect(try unsharing(places).unshare().outcome == .unshared)
    }
}
