import FoundationEssentials
import ManagedObjects
import StoreAccess
import StoreFormat
import StoreStrategies
import TestSupport
import Testing

/// The stack of the fetched-results investigation: a main context to display, and a background context to write.
struct SiblingStack {
    static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "TestDummy",
            attributes: [
                AttributeDescription(name: "id", type: .integer64),
                AttributeDescription(name: "name", type: .string),
                AttributeDescription(name: "isEven", type: .boolean),
            ]
        )
    ])

    let scratch: ScratchFolder
    let container: PersistentContainer
    let main: ManagedObjectContext
    let background: ManagedObjectContext

    init(_ model: ManagedObjectModel = Self.model, tracksHistory: Bool = false) throws {
        scratch = try ScratchFolder()
        var description = PersistentStoreDescription(url: scratch.location("TestDummy.sqlite").url)
        description.isHistoryTrackingEnabled = tracksHistory
        container = PersistentContainer(
            name: "TestDummy",
            managedObjectModel: model,
            descriptions: [description],
            viewContextOn: .privateQueue
        )
        try container.loadPersistentStoresAndWait()
        main = container.viewContext
        background = container.newBackgroundContext()
    }

    var location: StoreLocation { scratch.location("TestDummy.sqlite") }

    /// Merges every save of the background context into the main one.
    func mergeIntoMain() -> ChangeObservation {
        background.onDidSave { [main] notice in
            main.performAndWait { main in
                main.retainsRegisteredObjects = true
                _ = try? main.mergeChanges(fromContextDidSave: notice)
            }
        }
    }

    /// Saves a change in the background context and returns its notice.
    func saveInBackground(
        _ change: @Sendable (isolated ManagedObjectContext) throws -> Void
    ) throws -> ContextDidSave {
        let notices = Notices()
        let observation = background.onDidSave { notices.append($0) }
        defer { observation.cancel() }
        try background.performAndWait { context in
            try change(context)
            try context.save()
        }
        return try #require(notices.all.first)
    }
}

extension ManagedObjectContext {
    /// Inserts the investigation's dummies, numbered from 0.
    @discardableResult
    func insertDummies(_ count: Int) throws -> [ManagedObject] {
        try (0..<count)
            .map { number in
                let dummy = try insertNewObject(forEntityName: "TestDummy")
                try dummy.setValue(number, forKey: "id")
                try dummy.setValue("dummy \(number)", forKey: "name")
                return dummy
            }
    }

    /// Every stored object of an entity, in the order of the keys.
    func all(_ entity: String) throws -> [ManagedObject] {
        var request = FetchRequest(entityName: entity)
        request.includesPendingChanges = false
        return try fetch(request)
    }
}
