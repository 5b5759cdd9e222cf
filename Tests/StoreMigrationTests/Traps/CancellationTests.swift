import SafeFiles
import StoreAccess
import Synchronization
import TestSupport
import Testing

@testable import StoreMigration

/// A caller that asks to stop, at each of the times at which a command asks it.
@Suite("Commands that are cancelled")
struct CancellationTests {
    /// A pair of stores, of which the old one was written to since the share.
    private func captured(isLate: Bool) throws -> Places {
        let places = try Places()
        try places.old.makeStore("CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (1, 'early')")
        try places.share { $0.oldStore = .capture }
        guard isLate else { return places }
        let store = try places.old.open()
        try store.execute("INSERT INTO t VALUES (2, 'late')")
        try store.close()
        return places
    }

    /// Calls `body` with a caller that asks to stop at its first question, then at its second one, and so on, until
    /// `body` finishes; returns the number of calls that were cancelled.
    private func cancelEverywhere(_ body: (@escaping @Sendable () -> Bool) throws -> Void) throws -> Int {
        for patience in 0... {
            let questions = Mutex(0)
            do {
                try body {
                    questions.withLock {
                        $0 += 1
                        return $0 > patience
                    }
                }
                return patience
            } catch let error as MigrationError {
                #expect(error.outcome == .cancelled, "\(error)")
                guard error.outcome == .cancelled else { return patience }
            }
        }
        return 0
    }

    @Test("plan and status stop at any time, and write nothing")
    func reading() throws {
        let places = try captured(isLate: true)
        let before = try places.old.everything().mapValues(\.bytes)
        let plans = try cancelEverywhere { isCancelled in
            var options = ShareOptions()
            options.oldStore = .capture
            let migrator = StoreMigrator(from: places.oldStore.url, to: places.newStore.url, options: options)
            let plan = try migrator.planAndWait(isCancelled: isCancelled)
            #expect(plan.outcome == .merged)
        }
        let reports = try cancelEverywhere { isCancelled in
            let status = try places.migrator().statusAndWait(isCancelled: isCancelled)
            #expect(status.run == .shared)
        }
        #expect(plans > 2 && reports > 0, "\(plans), \(reports)")
        #expect(try places.old.everything().mapValues(\.bytes) == before)
    }

    @Test("retire stops until the old store is changed, and is carried out afterwards")
    func retiring() throws {
        let places = try captured(isLate: false)
        let old = places.oldStore
        let cancelled = try cancelEverywhere { isCancelled in
            let outcome = try StoreRetirement(of: old.url).retireAndWait(isCancelled: isCancelled)
            #expect(outcome.outcome == .retired)
        }
        #expect(cancelled > 2, "\(cancelled)")
        #expect(try Set(places.old.directory.entries()) == [StateFolder.name])
        #expect(try places.rows(of: places.newStore) == ["early"])
    }

    @Test("resume and abort stop at any time, and the next call goes on", arguments: Interruption.publishing)
    func recovering(_ interruption: Interruption) throws {
        for isWanted in [true, false] where isWanted || !interruption.goesForward {
            let world = try InterruptedWorld(interruption, mode: "wal")
            let recovery = Recovery(of: world.places.oldStore.url)
            let cancelled = try cancelEverywhere { isCancelled in
                if isWanted {
                    let outcome = try recovery.resumeAndWait(isCancelled: isCancelled).outcome
                    #expect(outcome == (interruption.goesForward ? .shared : .rolledBack))
                } else {
                    #expect(try recovery.abortAndWait(isCancelled: isCancelled).outcome == .rolledBack)
                }
            }
            #expect(cancelled > 0 || !interruption.goesForward)
            #expect(try world.places.digest(of: world.places.oldStore) == world.digest)
            let again = try world.places.share().outcome
            #expect(again == (interruption.goesForward ? .alreadyShared : .shared))
            #expect(try world.places.digest(of: world.places.newStore) == world.digest)
            #expect(try world.places.isFenced(world.places.oldStore))
        }
    }
}
