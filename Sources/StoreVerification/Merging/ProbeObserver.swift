import ManagedObjects
import StoreFormat
import StoreStrategies

/// The reading side of a probe: an app with two screens, that hears of what another wrote.
///
/// One screen holds every object of every entity. The other holds what bears a mark, which is nothing at first: an object
/// that is marked elsewhere is then one that its context has never seen.
final class ProbeObserver {
    /// What both screens show.
    struct Pictures: Sendable, Equatable {
        let everything: ProbePicture
        let marked: ProbePicture
    }

    let store: PersistentStore
    private let container: PersistentContainer
    private let everything: [String: FetchRequest]
    private let marked: [String: FetchRequest]
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
        var (everything, marked): ([String: FetchRequest], [String: FetchRequest]) = ([:], [:])
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

    /// Merges what arrived since the last time into both screens; with `repeating`, what was merged then once more.
    func receive(repeating: Bool = false) throws -> ProbeDelivery {
        try receiver.receive(into: [screens.everything, screens.marked], repeating: repeating)
    }

    /// What the screens show now.
    func pictures() throws -> Pictures {
        Pictures(
            everything: try screens.everything.performAndWait { try ProbeLists.picture(in: $0) },
            marked: try screens.marked.performAndWait { try ProbeLists.picture(in: $0) }
        )
    }

    /// What a program that has just been started sees.
    struct Fresh: Sendable {
        let pictures: Pictures
        /// Where the relationships of the objects that were asked for lead; one that is not there is left out.
        let destinations: [String: [String: [String]]]
    }

    /// What the screens would show if the program had just been started, and where the relationships of `uris` lead.
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
