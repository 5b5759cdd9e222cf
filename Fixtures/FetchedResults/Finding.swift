import Glibc
import ManagedObjects
import Synchronization

/// One row of the investigation: what is done, and what both contexts and the controller of the main one report.
struct Finding: Sendable {
    let letter: String
    let steps: String
    /// The sets of the last save's notice: inserted, updated, deleted.
    var saved = [0, 0, 0]
    /// The objects that the main context registers in the end, and those among the deleted objects during the merge.
    var registered = 0
    var deleted = 0
    /// The objects that the main context's controller shows, and those that a fresh fetch returns.
    var shown = 0
    var wanted = 0
    /// The events of that controller: insertions, deletions, moves, updates.
    var events = [0, 0, 0, 0]
    /// How often the delegate was called for the beginning of a change.
    var rounds = 0
    /// How often the main context reported an object as updated or refreshed.
    var reports = 0
    /// How many faults were fired in the main context.
    var faults = 0
    /// What became of an unsaved edit in the main context.
    var edit = "–"
    var rowsRead = 0
    var time = Duration.zero

    /// Performs steps in the background context after a preparation, and observes the last save.
    ///
    /// The preparation is saved first; the main context and its controllers know it.
    init(
        _ letter: String,
        _ steps: String,
        by arrangement: Laboratory.Arrangement = .merge,
        onlyEven: Bool = true,
        behaviour: FetchedResultsController.Behaviour = .registeredOnly,
        hasDelegate: Bool = true,
        editing edited: Int? = nil,
        given preparation: @Sendable (isolated ManagedObjectContext) throws -> Void = { _ in },
        _ change: @Sendable (isolated ManagedObjectContext) throws -> Void
    ) throws {
        (self.letter, self.steps) = (letter, steps)
        let laboratory = try Laboratory(arrangement)
        let (main, background) = (laboratory.main, laboratory.background)
        func save() throws {
            try background.performAndWait { try $0.save() }
            if arrangement == .child { try main.performAndWait { try $0.save() } }
            // Everything that the save sent to the main context is done.
            main.performAndWait { _ in }
        }
        try laboratory.show(in: background, onlyEven: onlyEven, behaviour)
        try background.performAndWait(preparation)
        try save()
        try laboratory.show(in: main, onlyEven: onlyEven, behaviour, hasDelegate: hasDelegate)
        if let edited {
            try main.performAndWait { context in
                for dummy in try context.dummies([edited]) { dummy.name = "edited" }
                try context.processPendingChanges()
            }
        }
        let counts = Counts()
        main.performAndWait { context in
            _ = context.addObserver { [unowned context] news in
                counts.reports.withLock { $0 += news.updated.count + news.refreshed.count }
                let deleted = context.assumeIsolated { $0.deletedObjects.count }
                counts.deleted.withLock { $0 += deleted }
            }
            context.shown?.recorder.counts = [:]
            context.shown?.recorder.rounds = 0
            context.userInfo["faults"] = 0
        }
        let observation = background.onDidSave { notice in
            let sets = [notice.insertedObjectIDs, notice.updatedObjectIDs, notice.deletedObjectIDs].map(\.count)
            counts.saved.withLock { $0 = sets }
        }
        try background.performAndWait(change)
        let rows = laboratory.rowsRead
        time = try Self.processorTime { try save() }
        rowsRead = laboratory.rowsRead - rows
        observation.cancel()
        saved = counts.saved.withLock { $0 }
        deleted = counts.deleted.withLock { $0 }
        reports = counts.reports.withLock { $0 }
        let (events, rounds, shown) = main.performAndWait { context in
            let recorder = context.shown?.recorder
            return (
                [.insert, .delete, .move, .update].map { recorder?.counts[$0] ?? 0 }, recorder?.rounds ?? 0,
                context.shown?.controller.fetchedObjects?.count ?? 0
            )
        }
        (self.events, self.rounds, self.shown) = (events, rounds, shown)
        (faults, registered) = main.performAndWait { context in
            (context.userInfo["faults"] as? Int ?? 0, context.registeredObjects.count)
        }
        if let edited { edit = try main.performAndWait { try Self.state(ofEdited: edited, in: $0) } }
        wanted = try main.performAndWait { context in
            try context.shown.map { try context.fetch($0.controller.fetchRequest).count } ?? 0
        }
    }

    private static func state(ofEdited number: Int, in context: isolated ManagedObjectContext) throws -> String {
        let name = try context.dummies([number]).first?.name
        return name == "edited" ? "kept" : "lost"
    }

    /// The processor time of this program while `body` runs, on which other programs have little influence.
    private static func processorTime(_ body: () throws -> Void) rethrows -> Duration {
        func now() -> Duration {
            var time = timespec()
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
        let start = now()
        try body()
        return now() - start
    }

    /// What observers count, on the queues of both contexts.
    private final class Counts: Sendable {
        let saved = Mutex([0, 0, 0])
        let reports = Mutex(0)
        let deleted = Mutex(0)
    }

    // MARK: As a table

    static let columns = [
        "", "done in the background context", "saved: inserted, updated, deleted", "main: registered, deleted",
        "shown of", "events: insert, delete, move, update", "will change", "reports", "faults fired", "unsaved edit",
    ]

    var cells: [String] {
        func list(_ numbers: [Int]) -> String { numbers.map(String.init).joined(separator: ", ") }
        return [
            letter, steps, list(saved), list([registered, deleted]), "\(shown) of \(wanted)", list(events), "\(rounds)",
            "\(reports)", "\(faults)", edit,
        ]
    }

    static func row(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
}
