import Foundation
import ManagedObjects
import Synchronization

/// The cost of one remedy after one save of a fifth of the objects, half of which the controller has.
struct RemedyRun {
    let updatesTold: Int
    let faultsFired: Int
    let rowsRead: Int
    /// From the end of the save until the controller shows it.
    let time: Duration
    /// True when the controller equals a fresh fetch afterwards.
    let isRight: Bool

    /// A thing that counts its fired faults.
    final class CountedThing: ManagedObject {
        static let fired = Mutex(0)
        override func awakeFromFetch() { Self.fired.withLock { $0 += 1 } }
    }

    /// Counts the notifications of the controller.
    final class Counter: FetchedResultsControllerDelegate {
        var count = 0

        func controller(
            _ controller: FetchedResultsController,
            didChange object: ManagedObject,
            at indexPath: FetchedResultsController.IndexPath?,
            for type: FetchedResultsController.ChangeType,
            newIndexPath: FetchedResultsController.IndexPath?
        ) { count += 1 }
    }

    init(_ remedy: Remedy, objects: Int) throws {
        let store = try ObjectStore(things: objects)
        defer { store.remove() }
        let coordinator = store.container.persistentStoreCoordinator
        coordinator.register(CountedThing.self, forEntityName: "Thing")
        let main = store.container.viewContext
        let background =
            remedy == .child
            ? ManagedObjectContext(.privateQueue, parent: main) : store.container.newBackgroundContext()
        try main.performAndWait { try Self.observe($0, remedy) }
        try background.performAndWait { try Self.change($0) }
        let failure = Mutex<(any Error)?>(nil)
        let observation = background.onDidSave { notice in
            do {
                try main.performAndWait { try remedy.take(notice, into: $0) }
            } catch {
                failure.withLock { $0 = error }
            }
        }
        defer { observation.cancel() }

        let rows = coordinator.rowsRead
        CountedThing.fired.withLock { $0 = 0 }
        time = try ContinuousClock()
            .measure {
                try background.performAndWait { try $0.save() }
                if remedy == .child { try main.performAndWait { try $0.save() } }
            }
        if let error = failure.withLock({ $0 }) { throw error }
        faultsFired = CountedThing.fired.withLock { $0 }
        rowsRead = coordinator.rowsRead - rows
        (updatesTold, isRight) = try main.performAndWait { context in
            let controller = context.userInfo["controller"] as? FetchedResultsController
            let fresh = try context.fetch(controller?.fetchRequest ?? FetchRequest(entityName: "Thing"))
            let told = (context.userInfo["counter"] as? Counter)?.count ?? 0
            context.userInfo = [:]
            return (told, controller?.fetchedObjects == fresh)
        }
    }

    private static func observe(_ context: isolated ManagedObjectContext, _ remedy: Remedy) throws {
        let controller = FetchedResultsController(
            fetchRequest: FetchRequest(
                entityName: "Thing",
                predicate: try FetchPredicate(format: "isEven == YES"),
                sortDescriptors: [.init(keyPath: "number")]
            ),
            managedObjectContext: context,
            behaviour: remedy.behaviour
        )
        let counter = Counter()
        controller.delegate = counter
        context.userInfo = ["controller": controller, "counter": counter]
        try controller.performFetch()
    }

    /// Changes every fifth thing: those that match get another name, and the others begin to match.
    private static func change(_ context: isolated ManagedObjectContext) throws {
        var request = FetchRequest(entityName: "Thing")
        request.returnsObjectsAsFaults = false
        for thing in try context.fetch(request) {
            guard let number = try thing.value(Int64.self, forKey: "number"), number % 5 == 0 else { continue }
            if number % 2 == 0 {
                try thing.setValue("renamed \(number)", forKey: "name")
            } else {
                try thing.setValue(true, forKey: "isEven")
            }
        }
    }
}
