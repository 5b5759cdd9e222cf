import FoundationEssentials
import SafeFiles
import StoreAccess
import Synchronization
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Plans that the caller confirms")
struct ConfirmTests {
    private struct Refusal: Error {}

    private let places: Places

    init() throws {
        places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=wal; CREATE TABLE t (x); INSERT INTO t VALUES ('a')")
    }

    /// The plans that were shown.
    private final class Plans: Sendable {
        private let plans = Mutex<[SharePlan]>([])
        var all: [SharePlan] { plans.withLock { $0 } }
        func add(_ plan: SharePlan) -> Int {
            plans.withLock {
                $0.append(plan)
                return $0.count
            }
        }
    }

    @Test("A share asks once, with the plan that it then carries out")
    func accepted() throws {
        let plans = Plans()
        let expected = try places.migrator().planAndWait()
        let world = try World(places)
        let container = places.container.path
        let outcome = try places.share { options in
            options.confirm = { plan in
                _ = plans.add(plan)
                // Neither the journal nor a copy exists yet.
                return try FileManager.default.contentsOfDirectory(atPath: container).isEmpty
            }
        }
        #expect(outcome.outcome == .shared)
        #expect(plans.all == [expected])
        #expect(try World(places) != world)
        // With nothing to do, nothing is asked.
        #expect(try places.share { $0.confirm = { _ in false } }.outcome == .alreadyShared)
        #expect(plans.all.count == 1)
    }

    @Test("A declined plan ends as cancelled, and nothing is changed")
    func declined() throws {
        let world = try World(places)
        let error = #expect(throws: MigrationError.self) { try places.share { $0.confirm = { _ in false } } }
        #expect(error?.outcome == .cancelled)
        #expect(error?.message == "the plan was declined")
        #expect(try World(places) == world)
    }

    @Test("An error of the closure stops the share, and nothing is changed")
    func failed() throws {
        let world = try World(places)
        let error = #expect(throws: MigrationError.self) { try places.share { $0.confirm = { _ in throw Refusal() } } }
        #expect(error?.outcome == .failed)
        #expect(try World(places) == world)
    }

    @Test("No lock is held during the question, and a store that another run shared meanwhile is not shared twice")
    func otherRun() throws {
        let outcome = try places.share { options in
            options.confirm = { [places] _ in
                let other = try places.share()
                return other.outcome == .shared
            }
        }
        #expect(outcome.outcome == .alreadyShared)
        #expect(try places.rows(of: places.newStore) == ["a"])
    }

    @Test("A row written to the old store while the caller is asked leads to a new question")
    func writtenMeanwhile() throws {
        let plans = Plans()
        let outcome = try places.share { options in
            options.confirm = { [places] plan in
                guard plans.add(plan) == 1 else { return true }
                let app = try places.old.open()
                try app.execute("INSERT INTO t VALUES ('b')")
                try app.close()
                return true
            }
        }
        #expect(outcome.outcome == .shared)
        #expect(plans.all.count == 2)
        #expect(try places.rows(of: places.newStore) == ["a", "b"])
    }

    @Test("A store that appears at the new path while the caller is asked changes the plan, which is not carried out")
    func appearedMeanwhile() throws {
        let outcome = try places.share { options in
            options.confirm = { [places] _ in
                try places.container.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES ('other')")
                return true
            }
        }
        #expect(outcome.outcome == .bothHoldObjects)
        #expect(try places.rows(of: places.newStore) == ["other"])
    }

    @Test("A store that is replaced while the caller is asked is not shared under the former plan")
    func replacedMeanwhile() throws {
        let plans = Plans()
        let error = #expect(throws: MigrationError.self) {
            try places.share { options in
                options.confirm = { [places] plan in
                    guard plans.add(plan) == 1 else { return false }
                    try places.old.directory.removeFile("store.sqlite")
                    try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES ('b'), ('c')")
                    return true
                }
            }
        }
        #expect(error?.outcome == .cancelled)
        #expect(plans.all.count == 2)
        #expect(try places.container.directory.entries().isEmpty)
    }

    @Test("A store that changes during every question ends as busy, and nothing is written")
    func restless() throws {
        let plans = Plans()
        let error = #expect(throws: MigrationError.self) {
            try places.share { options in
                options.confirm = { [places] plan in
                    let app = try places.old.open()
                    try app.execute("INSERT INTO t VALUES ('\(plans.add(plan))')")
                    try app.close()
                    return true
                }
            }
        }
        #expect(error?.outcome == .busy)
        #expect(plans.all.count == ShareEngine.mostAttempts)
        #expect(try places.container.directory.entries().isEmpty)
    }

    @Test("A decision that voids the record of a pair is asked about before the record is voided")
    func voiding() throws {
        try places.share()
        for name in ["store.sqlite", ".store.sqlite.store-migrate.json"] {
            try places.container.directory.removeFile(name)
        }
        try places.container.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES ('other')")
        let records = try places.records()
        let error = #expect(throws: MigrationError.self) {
            try places.share {
                $0.onBoth = .keepOld
                $0.confirm = { _ in false }
            }
        }
        #expect(error?.outcome == .cancelled)
        #expect(try places.records() == records)
        let plans = Plans()
        let outcome = try places.share {
            $0.onBoth = .keepOld
            $0.confirm = { plans.add($0) > 0 }
        }
        #expect(outcome.outcome == .shared)
        #expect(try places.rows(of: places.newStore) == ["a"])
    }

    @Test("Cancelling the share cancels the question")
    func cancelled() async throws {
        let migrator = places.migrator { options in
            options.confirm = { _ in
                // A stream without elements ends when its task is cancelled.
                for await _ in AsyncStream<Int>(Int.self, { _ in }) {}
                return true
            }
        }
        let task = Task { try await migrator.shareStoreIfNecessary() }
        task.cancel()
        let error = await #expect(throws: MigrationError.self) { try await task.value }
        #expect(error?.outcome == .cancelled)
        #expect(try places.container.directory.entries().isEmpty)
    }
}
