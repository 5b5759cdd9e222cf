public import FoundationEssentials
internal import SafeFiles
public import StoreFormat
public import StoreStrategies
internal import Synchronization

/// A coordinator with the stores of some descriptions, and a view context.
public final class PersistentContainer: Sendable {
    public let name: String
    public let persistentStoreDescriptions: [PersistentStoreDescription]
    public let persistentStoreCoordinator: PersistentStoreCoordinator
    /// The context for the user interface.
    public let viewContext: ManagedObjectContext
    /// The mergers of other processes' saves, by consumer name.
    let mergers = Mutex<[String: RemoteChangeMerger]>([:])

    /// Creates a container; ``loadPersistentStores()`` opens the stores.
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

    /// The model; nil for a container without a given model until it has loaded its first store.
    public var managedObjectModel: ManagedObjectModel? { persistentStoreCoordinator.managedObjectModel }

    /// Opens every store; with a model, creates those that are missing.
    ///
    /// Stops at the first that cannot be opened; those opened before stay open.
    @discardableResult
    public func loadPersistentStores() async throws -> [PersistentStore] {
        try await BlockingCall.run { () throws(any Error) in try loadPersistentStoresAndWait() }
    }

    /// Opens every store, while the caller waits.
    @discardableResult
    public func loadPersistentStoresAndWait() throws -> [PersistentStore] {
        try persistentStoreDescriptions.map { try persistentStoreCoordinator.addPersistentStore(with: $0) }
    }

    /// Creates a context with its own queue.
    public func newBackgroundContext(name: String? = nil) -> ManagedObjectContext {
        ManagedObjectContext(.privateQueue, coordinator: persistentStoreCoordinator, name: name)
    }

    /// Runs work in a new background context.
    public func performBackgroundTask<R: Sendable>(
        _ work: @Sendable (isolated ManagedObjectContext) throws -> R
    ) async rethrows -> R {
        try await newBackgroundContext().perform(work)
    }
}

/// The actual state of an open store: options are read back, never repeated from the description.
public struct PersistentStore: Sendable, Identifiable {
    /// The store's UUID, as in the URIs of its objects.
    public let identifier: String
    public let url: URL
    /// The requested options.
    public let description: PersistentStoreDescription
    public let isReadOnly: Bool
    /// Why the store is read-only; nil when it is not.
    public let readOnlyReason: String?
    /// The effective journal mode, in lower case as SQLite names it.
    public let journalMode: String
    /// True when saves are recorded in the persistent history.
    public let isHistoryTrackingEnabled: Bool
    /// The requested pragmas with their effective values.
    public let sqlitePragmas: [String: String]
    /// The maximum wait for a lock, in seconds.
    public let timeout: Double
    /// True when the WAL stays on disk after the last connection is closed.
    public let usesPersistentWriteAheadLog: Bool
    /// The permission bits of the main file; nil when they could not be read.
    public let posixMode: UInt32?
    /// The group ID of the main file; nil when it could not be read.
    public let posixGroup: UInt32?
    /// The requested options that are not in effect: those without an equivalent on Linux, and modes and groups of
    /// existing files.
    public let optionsNotApplied: [DescriptionOption]

    public var id: String { identifier }
}
