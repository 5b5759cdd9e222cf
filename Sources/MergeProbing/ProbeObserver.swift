import ManagedObjects
import StoreFormat
import StoreStrategies

/// The reading side of a probe: an app with two screens that receives the changes of another process.
///
/// One screen shows every object of every entity. The other shows the objects with a mark, none at first: an object that
/// the other side marks is then new to its context.
final class ProbeObserver {
    /// The content of both screens.
    struct Pictures: Sendable, Equatable {
        let everything: ProbePicture
        let marked: ProbePicture
    }

    let store: PersistentStore
    private let container: PersistentContainer
    private let everything: [String: FetchRequest<ManagedObject>]
    private let marked: [String: FetchRequest<ManagedObject>]
    private let screens: (everything: ManagedObjectContext, marked: ManagedObjectContext)
    private var receiver: any ProbeReceiver
    private let description: PersistentStoreDescription

    init(
        _ description: PersistentStoreDescription,
        model: ManagedObjectModel?,
        entities: [ProbeEntity],
        mark: Int,
        behaviour: FetchedResultsController.Behaviour,
        receiver: (PersistentStoreCoordinator, PersistentStore) throws -> any ProbeReceiver
    ) throws {
        self.description = description
        container = PersistentContainer(
            name: "reader",
            managedObjectModel: model,
            descriptions: [description],
            viewContextOn: .privateQueue
        )
        store = try container.persistentStoreCoordinator.addPersistentStore(with: description)
        self.receiver = try receiver(container.persistentStoreCoordinator, store)
        var (everything, marked): ([String: FetchRequest<ManagedObject>], [String: FetchRequest<ManagedObject>]) = (
            [:], [:]
        )
        for entity in entities {
            everything[entity.name] = entity.everything
            marked[entity.name] = try entity.marked(mark)
        }
        (self.everything, self.marked) = (everything, marked)
        screens = (container.viewContext, container.newBackgroundContext(name: "marked"))
        try screens.everything.performAndWait { [everything] in
            try ProbeLists.follow(everything, behaviour: behaviour, in: $0)
        }
        try screens.marked.performAndWait { [marked] in try ProbeLists.follow(marked, behaviour: behaviour, in: $0) }
    }

    /// Merges the changes since the last call into both screens; with `repeating`, the changes of the last call again.
    func receive(repeating: Bool = false) throws -> ProbeDelivery {
        try receiver.receive(into: [screens.everything, screens.marked], repeating: repeating)
    }

    /// The current content of the screens.
    func pictures() throws -> Pictures {
        Pictures(
            everything: try screens.everything.performAndWait { try ProbeLists.picture(in: $0) },
            marked: try screens.marked.performAndWait { try ProbeLists.picture(in: $0) }
        )
    }

    /// The data that a restarted program sees.
    struct Fresh: Sendable {
        let pictures: Pictures
        /// The destinations of the requested objects, without missing objects.
        let destinations: [String: [String: [String]]]
    }

    /// The content of the screens in a restarted program, and the destinations of the objects `uris`.
    func fresh(_ uris: [String]) throws -> Fresh {
        let fresh = PersistentContainer(
            name: "fresh",
            managedObjectModel: container.persistentStoreCoordinator.managedObjectModel,
            descriptions: [description],
            viewContextOn: .privateQueue
        )
        let coordinator = fresh.persistentStoreCoordinator
        let store = try coordinator.addPersistentStore(with: description)
        defer { coordinator.remove(store) }
        let (everything, marked) = (everything, marked)
        return try fresh.viewContext.performAndWait { context in
            var destinations: [String: [String: [String]]] = [:]
            for uri in uris {
                guard let id = coordinator.managedObjectID(forURIRepresentation: uri),
                    let object = try? context.existingObject(with: id)
                else { continue }
                destinations[uri] = try ProbeEditor.destinations(of: object)
            }
            return Fresh(
                pictures: Pictures(
                    everything: try ProbeLists.freshPicture(everything, in: context),
                    marked: try ProbeLists.freshPicture(marked, in: context)
                ),
                destinations: destinations
            )
        }
    }

    func close() { container.persistentStoreCoordinator.remove(store) }
}
