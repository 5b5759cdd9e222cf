public import StoreFormat
public import StoreStrategies
internal import Synchronization

/// A coordinator with the stores that descriptions name, and a context to show them.
public final class PersistentContainer: Sendable {
    public let name: String
    public let persistentStoreDescriptions: [PersistentStoreDescription]
    public let persistentStoreCoordinator: PersistentStoreCoordinator
    /// The context for what is shown.
    public let viewContext: ManagedObjectContext
    /// Those who merge what others save, by the names of consumers.
    let mergers = Mutex<[String: RemoteChangeMerger]>([:])

    /// Nothing is opened before ``loadPersistentStores()``.
    public init(
        name: String,
        managedObjectModel model: ManagedObjectModel? = nil,
        descriptions: [PersistentStoreDescription],
        viewContextOn concurrencyType: ManagedObjectContext.ConcurrencyType = .mainQueue
    ) {
        self.name = name
        persistentStoreDescriptions = descriptions
        persistentStoreCoordinator = PersistentStoreCoordinator(managedObjectModel: model)
        viewContext = ManagedObjectContext(
            concurrencyType,
            coordinator: persistentStoreCoordinator,
            name: "viewContext"
        )
    }

    /// Opens every store; the first that cannot be opened ends it, and those opened before stay open.
    @discardableResult
    public func loadPersistentStores() throws -> [PersistentStore] {
        try persistentStoreDescriptions.map { try persistentStoreCoordinator.addPersistentStore(with: $0) }
    }

    /// Makes a context of its own queue beside the view context.
    public func newBackgroundContext(name: String? = nil) -> ManagedObjectContext {
        ManagedObjectContext(.privateQueue, coordinator: persistentStoreCoordinator, name: name)
    }

    /// Runs work in a background context of its own.
    public func performBackgroundTask<R: Sendable>(
        _ work: @Sendable (isolated ManagedObjectContext) throws -> R
    ) async rethrows -> R {
        try await newBackgroundContext().perform(work)
    }
}
