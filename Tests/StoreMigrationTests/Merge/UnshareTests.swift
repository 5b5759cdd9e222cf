import ChangeMerging
import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreVerification
import Synchronization
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Unsharing a store")
struct UnshareTests {
    @Test(
        "After unshare the old store is writable with the new one's content, and the new store is renamed",
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

        let outcome = try unsharing(places).unshareAndWait()

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
        let aside = try places.old.directory.openDirectory(DisplacedFiles.name(for: outcome.transaction ?? ""))
        #expect(try places.digest(of: StoreLocation(folder: aside.path, name: places.name)) == before)
        // Sharing again works as well.
        #expect(try places.share { $0.level = .coredata }.outcome == .shared)
        #expect(try world.content(of: places.newStore) == expected + ["5 after : 5"])
    }

    @Test("The outcome of an unshare has the merge of late writes with its conflicts and parked rows")
    func conflict() throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share(MergeWorld.capture)
        try world.rename(1, to: "Late", in: places.oldStore)
        try world.rename(1, to: "Shared", in: places.newStore)

        let plan = try unsharing(places).planAndWait()
        #expect(plan.outcome == .unshared)
        #expect(
            plan.steps.map(\.action) == [
                .merge, .keepBase, .writeReceipt, .copyAside, .replaceContent, .liftFence, .fence, .withdraw,
            ]
        )
        let outcome = try unsharing(places).unshareAndWait()

        let merge = try #require(outcome.merge)
        #expect(merge.summary.conflicts.map(\.property) == ["name"])
        #expect(merge.into == places.newStore.path)
        #expect(merge.from == places.oldStore.path)
        let parked = try #require(merge.parkedRows)
        #expect(StoreLocation(path: parked).folder == places.old.path + "/.store-migrate/store.sqlite")
        #expect(outcome.findings.contains { $0.code == .lateWrites })
        #expect(try world.content(of: places.oldStore).first == "1 Shared -: 1 2")
    }

    @Test("The policy decides conflicts of an unshare; the policy error stops it before any write")
    func policy() throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share(MergeWorld.capture)
        try world.rename(1, to: "Late", in: places.oldStore)
        try world.rename(1, to: "Shared", in: places.newStore)
        let strict = unsharing(places) { $0.merging = MergeSettings(policy: .error) }
        #expect(throws: MigrationError.self) { try strict.planAndWait() }
        let error = #expect(throws: MigrationError.self) { try strict.unshareAndWait() }
        #expect(error?.outcome == .needsDecision)
        #expect(try world.content(of: places.oldStore).first == "1 Late -: 1 2")
        #expect(try world.content(of: places.newStore).first == "1 Shared -: 1 2")
        #expect(try !places.isFenced(places.newStore))

        let late = try unsharing(places) { $0.merging = MergeSettings(policy: .mergeByPropertyObjectTrump) }
            .unshareAndWait()
        #expect(late.merge?.summary.conflicts.map(\.taken) == [.old])
        #expect(try world.content(of: places.oldStore).first == "1 Late -: 1 2")
    }

    @Test("status and plan report a run as at work while its process lives, and as interrupted afterwards")
    func atWork() throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share { $0.level = .coredata }
        let state = StateFolder(of: places.oldStore, stateFolder: nil)
        try state.withJournal(deadline: Deadline(after: .seconds(60))) {
            try $0.append(.unsharing(transaction: RunContext.drawTransaction()))

            let status = try places.migrator().statusAndWait()
            #expect(status.run == .atWork)
            #expect(status.findings.contains { $0.code == .runAtWork })
            #expect(!status.findings.contains { $0.code == .interruptedRun })
            #expect(try places.migrator().planAndWait().outcome == .busy)
            #expect(try unsharing(places).planAndWait().outcome == .busy)
        }

        #expect(try places.migrator().statusAndWait().run == .interrupted)
        #expect(try unsharing(places).planAndWait().outcome == .unshared)
    }

    @Test("The plan of an unshare writes nothing, and ends with the outcome of the run")
    func plan() throws {
        let world = try MergeWorld()
        let places = world.places
        #expect(throws: MigrationError.self) { try unsharing(places).planAndWait() }
        try places.share { $0.level = .coredata }
        let before = try World(places)

        let plan = try unsharing(places).planAndWait()

        #expect(plan.outcome == .unshared)
        #expect(plan.steps.map(\.action) == [.copyAside, .replaceContent, .liftFence, .fence, .withdraw])
        #expect(try World(places) == before)
    }

    @Test(
        "The plan of an unshare and the unshare end with notWritable for an unwritable file, and merge nothing before",
        .enabled(if: FileMark.isAvailable),
        arguments: ["old", "new", "folder of old"]
    )
    func markedFiles(kind: String) throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share(MergeWorld.capture)
        try world.rename(1, to: "Late", in: places.oldStore)
        let bytes = { try [places.old, places.container].map { try $0.everything().mapValues(\.bytes) } }
        let before = try bytes()
        do {
            let file = kind == "new" ? places.newStore.path : places.oldStore.path
            let mark = try #require(FileMark("i", on: kind == "folder of old" ? places.old.path : file))
            defer { withExtendedLifetime(mark) {} }
            for run in [
                { _ = try unsharing(places).planAndWait() }, { _ = try unsharing(places).unshareAndWait() },
            ] {
                let error = #expect(throws: MigrationError.self) { try run() }
                #expect(error?.outcome == .notWritable)
            }
        }
        #expect(try bytes() == before)
    }

    @Test("unshare accepts the new store's folder in place of its path")
    func folder() throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share { $0.level = .coredata }
        var options = ShareOptions()
        options.level = .coredata
        let folder = URL(filePath: places.container.path, directoryHint: .isDirectory)

        let outcome = try StoreUnsharing(places.oldStore.url, from: folder, options: options).unshareAndWait()

        #expect(outcome.outcome == .unshared)
        #expect(try places.container.directory.status(of: places.name) == nil)
    }

    @Test("unshare fences but does not rename a new store that a process has open")
    func inUse() throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share { $0.level = .coredata }
        let reader = try StoreWriterProcess(places.newStore.path)
        #expect(try reader.execute("SELECT count(*) FROM ZHABIT") == "value 2")

        let outcome = try unsharing(places).unshareAndWait()

        #expect(outcome.outcome == .unshared)
        #expect(outcome.findings.contains { $0.code == .notWithdrawn })
        #expect(try places.isFenced(places.newStore))
        #expect(try reader.execute("DELETE FROM ZDAY").contains("store moved to \(places.oldStore.path)"))
        try world.add(3, "after", to: places.oldStore)
        #expect(reader.waitForExit() == 0)
        #expect(outcome.next == .unshare(old: places.oldStore.path, new: places.newStore.path))
        #expect(throws: MigrationError.self) { try places.share() }
        #expect(throws: MigrationError.self) { try Recovery(of: places.oldStore.url).abortAndWait() }
        #expect(try unsharing(places).unshareAndWait().outcome == .unshared)
        #expect(try places.container.directory.status(of: places.name) == nil)
        #expect(try world.content(of: places.oldStore).last == "3 after : 3")
        #expect(try places.share { $0.level = .coredata }.outcome == .shared)
    }

    @Test("An unshare interrupted before its copy is finished by the next one")
    func interrupted() throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share { $0.level = .coredata }
        try world.add(3, "new", to: places.newStore)
        let transaction = RunContext.drawTransaction()
        // The state after a kill: the intent is journalled, the copy back is not complete.
        let state = StateFolder(of: places.oldStore, stateFolder: nil)
        try state.withJournal(deadline: Deadline(after: .seconds(60))) {
            try $0.append(.unsharing(transaction: transaction))
        }
        #expect(try places.migrator().statusAndWait().run == .interrupted)
        #expect(try Recovery(of: places.oldStore.url).resumeAndWait().outcome == .unshared)
        #expect(try world.content(of: places.oldStore) == ["1 Run -: 1 2", "2 Read -:", "3 new : 3"])
    }

    @Test(
        "share and abort roll back an unshare that was interrupted before it replaced anything",
        arguments: [true, false]
    )
    func rolledBack(byShare: Bool) throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share { $0.level = .coredata }
        try world.add(3, "new", to: places.newStore)
        let before = try world.content(of: places.oldStore)
        let state = StateFolder(of: places.oldStore, stateFolder: nil)
        try state.withJournal(deadline: Deadline(after: .seconds(60))) {
            try $0.append(.unsharing(transaction: RunContext.drawTransaction()))
        }

        if byShare {
            #expect(try places.share { $0.level = .coredata }.outcome == .alreadyShared)
        } else {
            #expect(try Recovery(of: places.oldStore.url).abortAndWait().outcome == .rolledBack)
        }

        #expect(try places.migrator().statusAndWait().run == .shared)
        #expect(try places.isFenced(places.oldStore))
        #expect(try world.content(of: places.oldStore) == before)
        #expect(try unsharing(places).unshareAndWait().outcome == .unshared)
    }

    @Test(
        "While a program holds the old store's write lock, unshare checks for cancellation between its tries",
        arguments: [false, true]
    )
    func waiting(isCancelling: Bool) throws {
        let undisturbed = try sharedWorld()
        let questions = Mutex(0)
        let outcome = try unsharing(undisturbed.places)
            .unshareAndWait(isCancelled: {
                questions.withLock { $0 += 1 }
                return false
            })
        #expect(outcome.outcome == .unshared)
        let usual = questions.withLock { $0 }

        let world = try sharedWorld()
        let places = world.places
        let before = try places.digest(of: places.oldStore)
        let writer = try StoreConnection(places.oldStore, access: .liveWriting)
        try writer.beginWriting(deadline: Deadline(after: .seconds(60)))
        // The questions are asked on the thread of this test.
        nonisolated(unsafe) let holder = writer
        questions.withLock { $0 = 0 }
        let result = Result {
            try unsharing(places)
                .unshareAndWait(isCancelled: {
                    let number = questions.withLock { number in
                        number += 1
                        return number
                    }
                    if number == usual + 20 { holder.rollback() }
                    return isCancelling && number >= usual + 20
                })
        }
        try writer.close()
        guard isCancelling else {
            #expect(try result.get().outcome == .unshared)
            #expect(try world.content(of: places.oldStore).contains("3 new : 3"))
            return
        }
        let error = #expect(throws: MigrationError.self) { try result.get() }
        #expect(error?.outcome == .cancelled)
        #expect(try places.digest(of: places.oldStore) == before)
        #expect(try unsharing(places).unshareAndWait().outcome == .unshared)
    }

    @Test("A row written to the old store after unshare read it is not replaced, and the next unshare merges it")
    func lateRow() throws {
        let world = try sharedWorld()
        let places = world.places
        let writes = Mutex(0)
        let unsharing = StoreUnsharing(
            places.oldStore.url,
            from: places.newStore.url,
            onProgress: { progress in
                guard progress.phase == .publishing, writes.withLock({ $0 == 0 }),
                    (try? world.add(4, "late", to: places.oldStore)) != nil
                else { return }
                writes.withLock { $0 += 1 }
            }
        )

        let error = #expect(throws: MigrationError.self) { try unsharing.unshareAndWait() }

        #expect(error?.outcome == .busy)
        #expect(writes.withLock { $0 } == 1)
        #expect(try world.content(of: places.oldStore).contains("4 late : 4"))
        #expect(try unsharing.unshareAndWait().outcome == .unshared)
        let content = try world.content(of: places.oldStore)
        #expect(content.contains("3 new : 3") && content.contains("4 late : 4"))
    }

    @Test("While a program holds the old store's write lock, unshare pauses between its tries")
    func pauses() throws {
        let places = try sharedWorld().places
        let writer = try StoreConnection(places.oldStore, access: .liveWriting)
        try writer.beginWriting(deadline: Deadline(after: .seconds(60)))
        let questions = Mutex(0)
        let unsharing = unsharing(places) { $0.lockTimeout = .milliseconds(200) }
        let error = #expect(throws: MigrationError.self) {
            try unsharing.unshareAndWait(isCancelled: {
                questions.withLock { $0 += 1 }
                return false
            })
        }
        try writer.close()
        #expect(error?.outcome == .busy)
        #expect(error?.message.contains("(database is locked)") == true, "\(String(describing: error))")
        // A pause takes half a millisecond at least.
        #expect(questions.withLock { $0 } < 4000)
        #expect(try self.unsharing(places).unshareAndWait().outcome == .unshared)
    }

    /// A store that accepts writes in both places, with a row that only the new one has.
    private func sharedWorld() throws -> MergeWorld {
        let world = try MergeWorld()
        try world.places.share(MergeWorld.capture)
        try world.add(3, "new", to: world.places.newStore)
        return world
    }

    @Test("unshare is refused for a store that was never shared")
    func neverShared() throws {
        let world = try MergeWorld()
        let error = #expect(throws: MigrationError.self) { try unsharing(world.places).unshareAndWait() }
        #expect(error?.outcome == .needsDecision)
        #expect(try world.places.old.directory.status(of: StateFolder.name) == nil)
    }

    private func unsharing(_ places: Places, _ change: (inout ShareOptions) -> Void = { _ in }) -> StoreUnsharing {
        var options = ShareOptions()
        options.level = .coredata
        change(&options)
        return StoreUnsharing(places.oldStore.url, from: places.newStore.url, options: options)
    }
}

extension String {
    fileprivate var lastName: String { String(split(separator: "/").last ?? "") }
}
