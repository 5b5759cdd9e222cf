import SafeFiles
import StoreAccess
import StoreStrategies
import Synchronization
import TestSupport
import Testing

@testable import StoreMigration

@Suite("When strategies run")
struct AskingTests {
    private let world: DescribedWorld
    private var places: Places { world.places }

    init() throws { world = try DescribedWorld() }

    private func share(_ whenAsked: @escaping @Sendable () throws -> Void) throws -> ShareOutcome {
        try world.share([StrategyPipeline.Step(Interviewed(whenAsked: whenAsked))])
    }

    @Test("The journal is neither locked nor created while strategies run")
    func noLock() throws {
        let old = places.oldStore
        let asked = Mutex(0)
        let outcome = try share {
            asked.withLock { $0 += 1 }
            let folder = try Directory.open(path: old.folder)
            #expect(try folder.status(of: StateFolder.name) == nil)
        }
        #expect(outcome.outcome == .shared)
        #expect(asked.withLock { $0 } == 1)
    }

    @Test("Another run may lock the journal while strategies run for a shared store")
    func lockedByOthers() throws {
        try world.share([])
        let old = places.oldStore
        let wasHeld = Mutex(false)
        let outcome = try share {
            try StateFolder(of: old, stateFolder: nil)
                .withJournal(deadline: Deadline(after: .zero)) { _ in
                    wasHeld.withLock { $0 = true }
                }
        }
        #expect(outcome.outcome == .alreadyShared)
        #expect(wasHeld.withLock { $0 })
    }

    @Test("Strategies run again when their input has changed under the lock")
    func askedAgain() throws {
        let old = places.oldStore
        let asked = Mutex(0)
        let outcome = try share {
            let count = asked.withLock { count in
                count += 1
                return count
            }
            guard count == 1 else { return }
            let connection = try StoreConnection(old, access: .privateCopy)
            _ = try connection.value("PRAGMA journal_mode=DELETE")
            try connection.close()
        }
        #expect(asked.withLock { $0 } == 2)
        #expect(outcome.outcome == .shared)
        #expect(outcome.descriptions[.app]?.journalMode == "DELETE")
        #expect(try places.container.bytes(places.name)[18...19] == [1, 1])
        try places.expectTidy()
    }

    @Test("A share whose strategy input changes at every attempt ends as busy, without changes")
    func restless() throws {
        let old = places.oldStore
        let asked = Mutex(0)
        let error = #expect(throws: MigrationError.self) {
            try share {
                let count = asked.withLock { count in
                    count += 1
                    return count
                }
                let folder = try Directory.open(path: old.folder)
                let file = try folder.openFile(old.name, for: .writing)
                try file.setMode(count % 2 == 0 ? 0o600 : 0o640)
            }
        }
        #expect(error?.outcome == .busy)
        #expect(asked.withLock { $0 } == ShareEngine.mostAttempts)
        #expect(try places.container.directory.entries().isEmpty)
        #expect(try places.old.directory.status(of: StateFolder.name) == nil)
    }

    @Test("A plan runs the strategies, writes nothing, and reports each step and its strategy")
    func plan() throws {
        let asked = Mutex(0)
        let pipeline = StrategyPipeline([StrategyPipeline.Step(Interviewed { asked.withLock { $0 += 1 } })])
        let before = try places.container.directory.status().modified
        let plan = try StoreMigrator(from: places.oldStore.url, to: places.newStore.url, strategies: pipeline)
            .planAndWait()
        #expect(asked.withLock { $0 } == 1)
        #expect(plan.outcome == .shared)
        #expect(plan.steps.map(\.action) == [.stage, .describe, .prove, .publish, .fence, .writeReceipt])
        #expect(plan.roles.first?.applied.first?.strategy == "Interviewed")
        #expect(plan.roles.first?.description.posixMode == 0o660)
        #expect(plan.findings.contains { $0.code == .containerKeepsNoGroup })
        #expect(try places.container.directory.status().modified == before)
        #expect(try places.container.directory.entries().isEmpty)
        #expect(try places.old.directory.status(of: StateFolder.name) == nil)
    }
}
