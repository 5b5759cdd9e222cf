import Foundation
import ManagedObjects
import StoreFormat
import StoreStrategies

/// A store with two contexts, each with a fetched results controller: `main` shows, `background` writes.
final class Laboratory: Sendable {
    /// How saves of the background context reach the main context.
    enum Arrangement: String, CaseIterable, Sendable {
        case nothing = "none"
        case automatic
        case merge
        case refresh
        case refreshMerging = "refresh-merging"
        case refreshMatching = "refresh-matching"
        case accessMatching = "access-matching"
        case fetch
        case fetchReloading = "fetch-reloading"
        case child

        /// The way that the main context observes and takes in saves; nil if it does not.
        var processing: SaveProcessing? {
            switch self {
            case .nothing, .automatic, .child: nil
            case .merge: .merge
            case .refresh: .refreshUpdated(mergeChanges: false)
            case .refreshMerging: .refreshUpdated(mergeChanges: true)
            case .refreshMatching: .refreshMatching
            case .accessMatching: .accessMatching
            case .fetch: .fetchAgain(reloadingDelegates: false)
            case .fetchReloading: .fetchAgain(reloadingDelegates: true)
            }
        }
    }

    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "TestDummy",
            attributes: [
                AttributeDescription(name: "id", type: .integer64),
                AttributeDescription(name: "name", type: .string),
                AttributeDescription(name: "isEven", type: .boolean),
            ]
        ),
        EntityDescription(name: "SpecialDummy", superentity: "TestDummy"),
    ])

    let main: ManagedObjectContext
    let background: ManagedObjectContext
    private let container: PersistentContainer
    private let folder: URL
    private let observation: ChangeObservation?

    init(_ arrangement: Arrangement) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "fetched-results-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        container = PersistentContainer(
            name: "TestDummy",
            managedObjectModel: Self.model,
            descriptions: [PersistentStoreDescription(url: folder.appending(path: "TestDummy.sqlite"))],
            viewContextOn: .privateQueue
        )
        try container.loadPersistentStoresAndWait()
        container.persistentStoreCoordinator.register(TestDummy.self, forEntityName: "TestDummy")
        main = container.viewContext
        background =
            arrangement == .child
            ? ManagedObjectContext(.privateQueue, parent: main) : container.newBackgroundContext()
        if arrangement == .automatic { main.performAndWait { $0.automaticallyMergesChangesFromParent = true } }
        observation = arrangement.processing.map { [main, background] in
            main.observeSaves(of: background, processing: $0)
        }
    }

    deinit {
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { coordinator.remove(store) }
        try? FileManager.default.removeItem(at: folder)
    }

    var rowsRead: Int { container.persistentStoreCoordinator.rowsRead }

    /// Creates a context's controller, which replaces a former one.
    func show(
        in context: ManagedObjectContext,
        onlyEven: Bool,
        _ behaviour: FetchedResultsController.Behaviour,
        hasDelegate: Bool = true
    ) throws {
        try context.performAndWait { context in
            let controller = FetchedResultsController(
                fetchRequest: FetchRequest<TestDummy>(
                    predicate: onlyEven ? \.isEven == true : nil,
                    sortDescriptors: [.init(\.id)]
                ),
                managedObjectContext: context,
                behaviour: behaviour
            )
            let recorder = EventRecorder()
            if hasDelegate { controller.delegate = recorder }
            try controller.performFetch()
            context.userInfo["controller"] = (controller, recorder)
        }
    }
}

/// Records the events of a controller, and the reports of its context.
final class EventRecorder: FetchedResultsControllerDelegate {
    var events: [String] = []
    var counts: [FetchedResultsController.ChangeType: Int] = [:]
    /// How often the delegate was called for the beginning of a change.
    var rounds = 0

    func controllerWillChangeContent(_ controller: FetchedResultsController) { rounds += 1 }

    func controller(
        _ controller: FetchedResultsController,
        didChange object: ManagedObject,
        at indexPath: FetchedResultsController.IndexPath?,
        for type: FetchedResultsController.ChangeType,
        newIndexPath: FetchedResultsController.IndexPath?
    ) {
        counts[type, default: 0] += 1
        let rows = [indexPath, newIndexPath].compactMap { $0.map { "row \($0.item)" } }
        let id = (object as? TestDummy)?.id.map { "\($0)" } ?? "?"
        events.append("\(type) \(id) \(rows.joined(separator: " to "))")
    }
}

extension ManagedObjectContext {
    /// The controller of the context and its delegate.
    var shown: (controller: FetchedResultsController, recorder: EventRecorder)? {
        userInfo["controller"] as? (FetchedResultsController, EventRecorder)
    }

    func insertDummies(_ numbers: Range<Int>, entity: String = "TestDummy", isEven: (Int) -> Bool) throws {
        for number in numbers {
            let dummy = try insertNewObject(TestDummy.self, forEntityName: entity)
            dummy.id = Int64(number)
            dummy.name = "dummy \(number)"
            dummy.isEven = isEven(number)
        }
    }

    /// The dummies with these numbers, in their order.
    func dummies(_ numbers: [Int]) throws -> [TestDummy] {
        let predicate = (\TestDummy.id).in(numbers.map { Int64($0) })
        return try fetch(FetchRequest(predicate: predicate, sortDescriptors: [.init(\.id)]))
    }

    /// Updates two properties of dummies: the name, and whether it is even.
    func updateDummies(_ numbers: [Int], isEven: Bool = true) throws {
        for dummy in try dummies(numbers) {
            dummy.name = "updated"
            dummy.isEven = isEven
        }
    }
}
