import ChangeMerging
import SafeFiles
import StoreAccess
import StoreVerification
import Synchronization
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Merging two stores with objects")
struct BothPlacesTests {
    private static let merge: @Sendable (inout ShareOptions) -> Void = {
        $0.onBoth = .merge
        $0.level = .coredata
    }

    /// Two unrelated stores: habit 1 of the new one equals the old one's by its unique number.
    private func makeBoth() throws -> MergeWorld {
        let world = try MergeWorld()
        try MergeWorld.build(at: world.places.newStore, tracksHistory: true, seed: "other")
        try world.delete(2, in: world.places.newStore)
        try world.rename(1, to: "Jog", in: world.places.newStore)
        try world.add(3, "new", to: world.places.newStore)
        try world.add(4, "old", to: world.places.oldStore)
        return world
    }

    @Test("A merge joins objects with equal unique values, keeps all others, and fences the old store")
    func mergeBoth() throws {
        let world = try makeBoth()
        let places = world.places
        #expect(try places.share { $0.level = .coredata }.outcome == .bothHoldObjects)
        #expect(try places.migrator(Self.merge).planAndWait().outcome == .merged)

        let outcome = try places.share(Self.merge)

        #expect(outcome.outcome == .merged)
        let names = try world.content(of: places.newStore)
        #expect(names.map { $0.prefix(1) } == ["1", "2", "3", "4"])
        // The days of both are kept; the name of the shared store's object is kept.
        #expect(names.first?.hasPrefix("1 Jog") == true)
        #expect(names.last == "4 old : 4")
        try world.expectSound(places.newStore)
        #expect(try places.isFenced(places.oldStore))
        let rekeyed = try places.journalFolder().entries().contains { $0.hasSuffix("rekeyed.jsonl") }
        #expect(rekeyed)
        #expect(try places.share().outcome == .alreadyShared)
        #expect(try places.share(Self.merge).outcome == .alreadyShared)
    }

    @Test("A resolver is asked about each conflict once, before the old store is fenced and the journal is locked")
    func resolved() throws {
        let world = try makeBoth()
        let places = world.places
        let asked = Mutex<[StoreMergeConflict]>([])

        let outcome = try places.share { options in
            Self.merge(&options)
            options.resolver = ConflictResolver { conflict in
                asked.withLock { $0.append(conflict) }
                let isFenced = try places.isFenced(places.oldStore)
                let journal = try places.old.directory.status(of: StateFolder.name)
                #expect(!isFenced && journal == nil)
                return .old
            }
        }

        #expect(outcome.outcome == .merged)
        #expect(asked.withLock { $0.map(\.property) } == ["name"])
        #expect(outcome.merge?.summary.conflicts.map(\.isResolved) == [true])
        #expect(try world.content(of: places.newStore).first?.hasPrefix("1 Jog") == false)
        #expect(try places.isFenced(places.oldStore))
    }

    @Test("A refused merge leaves both stores unchanged, and the old one writable")
    func refused() throws {
        let world = try makeBoth()
        let places = world.places
        let new = try places.digest(of: places.newStore)

        let error = #expect(throws: MigrationError.self) {
            try places.share {
                Self.merge(&$0)
                $0.merging = MergeSettings(policy: .error)
            }
        }

        #expect(error?.outcome == .needsDecision)
        #expect(try places.digest(of: places.newStore) == new)
        #expect(try !places.isFenced(places.oldStore))
        try world.add(5, "after", to: places.oldStore)
        #expect(try places.old.directory.status(of: StateFolder.name) == nil)
    }

    @Test("After a failed proof of a merge the old store is writable, and the merge can be undone")
    func failedProof() throws {
        let world = try makeBoth()
        let places = world.places
        let writer = try places.container.open()
        try writer.execute(
            "INSERT INTO ZDAY (Z_PK, Z_ENT, Z_OPT) SELECT Z_MAX + 1, Z_ENT, 1 FROM Z_PRIMARYKEY WHERE Z_NAME = 'Day';"
                + "UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_NAME = 'Day'"
        )
        try writer.close()
        let before = try world.content(of: places.newStore)

        let error = #expect(throws: MigrationError.self) { try places.share(Self.merge) }

        #expect(error?.outcome == .verificationFailed)
        #expect(error?.next == .unmerge(into: places.newStore.path))
        #expect(try !places.isFenced(places.oldStore))
        try world.add(5, "after", to: places.oldStore)
        try MergeUndoing(of: places.newStore.url).unmergeAndWait()
        #expect(try world.content(of: places.newStore) == before)
        #expect(try places.share { $0.level = .coredata }.outcome == .bothHoldObjects)
    }

    @Test("The plan of a merge ends with the outcome of the share")
    func planned() throws {
        let world = try MergeWorld()
        let places = world.places
        try MergeWorld.build(at: places.newStore, tracksHistory: true)
        try world.add(4, "old", to: places.oldStore)
        for attempt in 1...2 {
            let error = #expect(throws: MigrationError.self) {
                if attempt == 1 { _ = try places.migrator(Self.merge).planAndWait() }
                if attempt == 2 { try places.share(Self.merge) }
            }
            #expect(error?.outcome == .needsDecision)
        }
    }

    @Test("After a kill at any journal record of a merge, the next run reaches the same store", arguments: 1...6)
    func killed(records: Int) throws {
        let world = try makeBoth()
        let places = world.places
        let reference = try makeBoth()
        try reference.places.share(Self.merge)
        let expected = try reference.content(of: reference.places.newStore)
        try places.share(Self.merge)
        let folder = try places.journalFolder()
        let all = try MigrationJournal.records(in: folder)
        guard records < all.count else { return }
        // Simulates a kill before the other records are written; the merge itself is committed.
        try folder.removeFile(MigrationJournal.name)
        var journal = try MigrationJournal(in: folder)
        for record in all.prefix(records) { try journal.append(record) }
        let isMerged = all.prefix(records).contains { if case .merging = $0 { true } else { false } }

        if isMerged {
            #expect(try Recovery(of: places.oldStore.url).resumeAndWait().outcome == .shared)
            #expect(try places.share().outcome == .alreadyShared)
        } else {
            #expect(try Recovery(of: places.oldStore.url).resumeAndWait().outcome == .rolledBack)
        }
        #expect(try world.content(of: places.newStore) == expected)
        try world.expectSound(places.newStore)
    }

    @Test("An earlier defect of the new store does not count as lost external files")
    func inheritedDamage() throws {
        let world = try MergeWorld()
        let places = world.places
        try MergeWorld.build(at: places.newStore, tracksHistory: true, seed: "other")
        try world.add(4, "old", to: places.oldStore)
        try places.writeExternalFile("left over", 1, count: 10, in: places.old)
        let connection = try places.container.open()
        try connection.execute("UPDATE ZDAY SET ZHABIT = 99")
        try connection.close()
        for round in 1...3 {
            let outcome = try places.share {
                $0.onBoth = .keepNew
                $0.level = .sqlite
            }
            #expect(outcome.outcome == .alreadyShared, "\(round): \(outcome.message)")
        }
    }

    @Test("A kept new store stays the shared one, with any UUID and with fewer keys")
    func keptNew() throws {
        let world = try MergeWorld()
        let places = world.places
        try MergeWorld.build(at: places.newStore, tracksHistory: true, seed: "other")
        try world.add(4, "old", to: places.oldStore)
        let keepNew: @Sendable (inout ShareOptions) -> Void = {
            $0.onBoth = .keepNew
            $0.level = .coredata
        }
        for policy in [ShareOptions.OldStorePolicy.capture, .fence, .fence] {
            let outcome = try places.share {
                keepNew(&$0)
                $0.oldStore = policy
            }
            #expect(outcome.outcome == .alreadyShared, "\(policy): \(outcome.message)")
        }
        try world.add(5, "new", to: places.newStore)
        #expect(try places.share(keepNew).outcome == .alreadyShared)
        #expect(try places.migrator().statusAndWait().lateWrites == .none)
        #expect(try StoreRetirement(of: places.oldStore.url).retireAndWait().outcome == .retired)
    }

    @Test("A kept new store is recognised without the journal, and the old store can be retired")
    func keptNewWithoutJournal() throws {
        let world = try MergeWorld()
        let places = world.places
        try MergeWorld.build(at: places.newStore, tracksHistory: true, seed: "other")
        try world.add(4, "old", to: places.oldStore)
        let keeping = try places.share {
            $0.onBoth = .keepNew
            $0.level = .coredata
        }
        #expect(keeping.outcome == .alreadyShared)
        try places.old.directory.openDirectory(StateFolder.name).removeContents()

        #expect(try places.share { $0.level = .coredata }.outcome == .alreadyShared)

        #expect(try StoreRetirement(of: places.oldStore.url).retireAndWait().outcome == .retired)
    }

    @Test("unshare brings a kept new store back to an old store whose fence is only in the log")
    func keptNewComesBack() throws {
        let world = try MergeWorld()
        let places = world.places
        try MergeWorld.build(at: places.newStore, tracksHistory: true, seed: "other")
        try world.add(4, "old", to: places.oldStore)
        try world.add(5, "new", to: places.newStore)
        let content = try world.content(of: places.newStore)
        let keeping = try places.share {
            $0.onBoth = .keepNew
            $0.level = .coredata
        }
        #expect(keeping.outcome == .alreadyShared)
        var options = ShareOptions()
        options.level = .coredata

        let outcome = try StoreUnsharing(places.oldStore.url, from: places.newStore.url, options: options)
            .unshareAndWait()

        #expect(outcome.outcome == .unshared)
        #expect(try world.content(of: places.oldStore) == content)
        #expect(try !places.isFenced(places.oldStore))
        try world.add(6, "after", to: places.oldStore)
        try world.expectSound(places.oldStore)
    }

    @Test("An older state of the shared store is detected, also when late writes were left behind")
    func olderAfterKeeping() throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share(MergeWorld.capture)
        try world.add(3, "late", to: places.oldStore)
        let keeping = try places.share {
            MergeWorld.capture(&$0)
            $0.onBoth = .keepNew
        }
        #expect(keeping.outcome == .alreadyShared)
        let connection = try places.container.open()
        try connection.execute("DELETE FROM ZHABIT; DELETE FROM ZDAY; UPDATE Z_PRIMARYKEY SET Z_MAX = 0")
        try connection.close()

        let error = #expect(throws: MigrationError.self) {
            try StoreRetirement(of: places.oldStore.url).retireAndWait()
        }

        #expect(error?.outcome == .needsDecision)
        #expect(try places.old.directory.status(of: places.name) != nil)
    }
}
