import ChangeMerging
import ManagedObjects
import TestSupport
import Testing

/// One sequence: two contexts and a foreign program write at random; a third context merges everything in any order.
struct RandomSequence {
    /// The failure, and how to reproduce it.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let seed: UInt64
    let stack: SequenceStack
    /// True for a long sequence with more objects.
    var isLong = false

    func run() async throws {
        var generator = SeededGenerator(seed: seed)
        let request = RandomRequest(&generator)
        let main = ManagedObjectContext(.privateQueue, coordinator: stack.coordinator, name: "main")
        let writers = ["first", "second"]
            .map { ManagedObjectContext(.privateQueue, coordinator: stack.coordinator, name: $0) }
        for context in [main] + writers {
            context.performAndWait { $0.mergePolicy = .mergeByPropertyObjectTrump }
        }
        try Self.work(writers[0], count: isLong ? 12 : 5, &generator)
        try Self.observe(main, request)
        let inbox = LockedArray<ContextDidSave>()
        let observations = writers.map { $0.onDidSave { inbox.append($0) } }
        let rounds = isLong ? 25 : Int.random(in: 1...3, using: &generator)
        for round in 0..<rounds {
            for writer in writers where generator.chance(60) {
                try Self.work(writer, count: Int.random(in: 1...(isLong ? 4 : 2), using: &generator), &generator)
            }
            var foreign: ObjectURIChanges?
            if generator.chance(40) { foreign = try stack.foreign.change(&generator) }
            // The writers merge everything too; otherwise their saves would only conflict.
            for writer in writers { try writer.performAndWait { try $0.refreshAllObjects() } }
            if let foreign {
                try await ManagedObjectContext.mergeChanges(fromRemoteContextSave: foreign, into: writers)
            }

            var notices: [ContextDidSave?] = inbox.take()
            if foreign != nil { notices.append(nil) }
            for notice in notices.shuffled(using: &generator) {
                if let notice {
                    try main.performAndWait { try $0.mergeChanges(fromContextDidSave: notice) }
                } else if let foreign {
                    try await ManagedObjectContext.mergeChanges(fromRemoteContextSave: foreign, into: [main])
                }
            }
            try Self.check(main, "round \(round)", request)
            if generator.chance(50) {
                try Self.pend(main, &generator)
                try Self.check(main, "own changes of round \(round)", request)
            }
        }
        for observation in observations { observation.cancel() }
    }

    private static func observe(_ context: ManagedObjectContext, _ chosen: RandomRequest) throws {
        let request = try chosen.fetchRequest
        try context.performAndWait { context in
            let controller = FetchedResultsController(
                fetchRequest: request,
                managedObjectContext: context,
                sectionNameKeyPath: chosen.section
            )
            try controller.performFetch()
            let replay = ListReplay(controller)
            controller.delegate = replay
            context.userInfo = ["controller": controller, "replay": replay]
        }
    }

    private static func check(
        _ context: ManagedObjectContext,
        _ place: @autoclosure () -> String,
        _ request: RandomRequest
    ) throws {
        let difference = try context.performAndWait { context -> String? in
            // Notify observers now, as at the end of a piece of work.
            try context.processPendingChanges()
            guard let controller = context.userInfo["controller"] as? FetchedResultsController,
                let replay = context.userInfo["replay"] as? ListReplay
            else { return "the controller is gone" }
            if let error = controller.updateError { return "the controller failed: \(error)" }
            let fresh = try context.fetch(controller.fetchRequest)
            if controller.fetchedObjects != fresh {
                let held = controller.fetchedObjects?.map { $0.objectID.uriRepresentation() } ?? []
                return "it contains \(held), a fetch finds \(fresh.map { $0.objectID.uriRepresentation() })"
            }
            let isReplayed = replay.sections == ListReplay.sections(of: controller)
            return isReplayed ? nil : "replaying the delegate's changes gives another list"
        }
        if let difference { throw Failure(description: "\(place()): \(difference); \(request)") }
    }

    private static func work(
        _ context: ManagedObjectContext,
        count: Int,
        _ generator: inout SeededGenerator
    ) throws {
        let seed = generator.next()
        try context.performAndWait { context in
            var generator = SeededGenerator(seed: seed)
            try RandomChanges.change(context, count: count, &generator)
            try context.save()
        }
    }

    /// Changes objects without saving, or saves or rolls back earlier changes.
    private static func pend(_ context: ManagedObjectContext, _ generator: inout SeededGenerator) throws {
        let seed = generator.next()
        try context.performAndWait { context in
            var generator = SeededGenerator(seed: seed)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0..<3: try RandomChanges.change(context, count: 1, &generator)
            case 3: try context.save()
            default: try context.rollback()
            }
        }
    }
}
