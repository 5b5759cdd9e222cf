import SafeFiles
import StoreFormat
import StoreVerification
import TestSupport
import Testing

@testable import StoreMigration

@Suite("A share is taken back with all that was written since")
struct UnshareTests {
    @Test(
        "The old place gets what the new one holds and takes writes; the new store is kept under another name",
        arguments: ["wal", "rollback"],
        ShareOptions.OldStorePolicy.allCases
    )
    func unshare(journalMode: String, policy: ShareOptions.OldStorePolicy) throws {
        let world = try MergeWorld(journalMode: journalMode)
        let places = world.places
        try places.share {
            $0.oldStore = policy
            $0.level = .coredata
        }
        try world.add(3, "new", to: places.newStore)
        if policy == .capture { try world.add(4, "late", to: places.oldStore) }
        let before = try places.digest(of: places.oldStore)

        let outcome = try unsharing(places).unshare()

        #expect(outcome.outcome == .unshared)
        let expected = ["1 Run -: 1 2", "2 Read -:", "3 new : 3"] + (policy == .capture ? ["4 late : 4"] : [])
        #expect(try world.content(of: places.oldStore) == expected)
        try world.expectSound(places.oldStore)
        #expect(try !places.isFenced(places.oldStore))
        try world.add(5, "after", to: places.oldStore)
        #expect(try places.container.directory.status(of: places.name) == nil)
        let kept = try #require(
            outcome.new.map { StoreLocation(folder: places.container.path, name: $0.path.lastName) }
        )
        #expect(kept.name == "\(places.name).withdrawn-\(outcome.transaction ?? "").sqlite")
        #expect(try world.content(of: kept) == expected)
        let aside = try places.old.directory.openDirectory(AsideFolder.name(for: outcome.transaction ?? ""))
        #expect(try places.digest(of: StoreLocation(folder: aside.path, name: places.name)) == before)
        // And there again.
        #expect(try places.share { $0.level = .coredata }.outcome == .shared)
        #expect(try world.content(of: places.newStore) == expected + ["5 after : 5"])
    }

    @Test("A new store that somebody has open stays, and takes no writes")
    func inUse() throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share { $0.level = .coredata }
        let reader = try StoreWriterProcess(places.newStore.path)
        #expect(try reader.execute("SELECT count(*) FROM ZHABIT") == "value 2")

        let outcome = try unsharing(places).unshare()

        #expect(outcome.outcome == .unshared)
        #expect(outcome.findings.contains { $0.code == .notWithdrawn })
        #expect(try places.isFenced(places.newStore))
        #expect(try reader.execute("DELETE FROM ZDAY").contains("store moved to \(places.oldStore.path)"))
        try world.add(3, "after", to: places.oldStore)
        #expect(reader.waitForExit() == 0)
        #expect(outcome.next == .unshare(old: places.oldStore.path, new: places.newStore.path))
        #expect(throws: MigrationError.self) { try places.share() }
        #expect(try unsharing(places).unshare().outcome == .unshared)
        #expect(try places.container.directory.status(of: places.name) == nil)
        #expect(try world.content(of: places.oldStore).last == "3 after : 3")
        #expect(try places.share { $0.level = .coredata }.outcome == .shared)
    }

    @Test("Interrupted before the way back began, it goes on")
    func interrupted() throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share { $0.level = .coredata }
        try world.add(3, "new", to: places.newStore)
        let transaction = RunContext.drawTransaction()
        // As far as a killed process had come: the intent is journalled, the way back is not complete.
        let state = StateFolder(of: places.oldStore, stateFolder: nil)
        try state.withJournal(deadline: Deadline(after: .seconds(60))) {
            try $0.append(.unsharing(transaction: transaction))
        }
        #expect(try places.migrator().status().run == .interrupted)
        #expect(throws: MigrationError.self) { try places.share() }
        #expect(throws: MigrationError.self) { try Recovery(of: places.oldStore.url).abort() }
        #expect(try Recovery(of: places.oldStore.url).resume().outcome == .unshared)
        #expect(try world.content(of: places.oldStore) == ["1 Run -: 1 2", "2 Read -:", "3 new : 3"])
    }

    @Test("What was never shared is not taken back")
    func neverShared() throws {
        let world = try MergeWorld()
        let error = #expect(throws: MigrationError.self) { try unsharing(world.places).unshare() }
        #expect(error?.outcome == .needsDecision)
        #expect(try world.places.old.directory.status(of: StateFolder.name) == nil)
    }

    private func unsharing(_ places: Places) -> StoreUnsharing {
        var options = ShareOptions()
        options.level = .coredata
        return StoreUnsharing(places.oldStore.url, from: places.newStore.url, options: options)
    }
}

extension String {
    fileprivate var lastName: String { String(split(separator: "/").last ?? "") }
}
