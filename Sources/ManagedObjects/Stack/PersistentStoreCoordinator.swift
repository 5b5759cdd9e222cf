public import FoundationEssentials
internal import ModelMigration
public import StoreFormat
public import StoreStrategies
internal import Synchronization

/// Owns the open stores of one model and serves any number of contexts.
///
/// It is thread-safe. It opens a store as its description says. A store of another version of the model is migrated in place
/// if the description asks for that and a mapping can be inferred; otherwise it is rejected.
public final class PersistentStoreCoordinator: BlockingCalls {
    private struct State {
        var model: ModelShape?
        var stores: [AttachedStore] = []
        var classes: [String: ManagedObject.Type] = [:]
        /// The typed classes whose models' classes are registered.
        var adopted: Set<ObjectIdentifier> = []
    }

    /// The version hashes of the model, if known; `VersionInfo.plist` of a compiled model contains them.
    private let versionHashes: [String: [UInt8]]?
    private let isModelGiven: Bool
    private let state: Mutex<State>
    /// Every save of a context directly on this coordinator.
    let saves = ChangeHub<ContextDidSave>()
    let suspension = StoreSuspension()

    /// Creates a coordinator; without a model it uses the first store's own.
    public init(
        managedObjectModel model: ManagedObjectModel? = nil,
        versionHashes: [String: [UInt8]]? = nil
    ) {
        self.versionHashes = versionHashes
        isModelGiven = model != nil
        state = Mutex(State(model: model.map(ModelShape.init)))
    }

    /// The model; nil for a coordinator without a given model until its first store is added.
    public var managedObjectModel: ManagedObjectModel? { state.withLock { $0.model?.model } }

    /// The stores in the order in which they were added.
    public var persistentStores: [PersistentStore] { stores.map(\.summary) }

    /// The number of rows read from the open stores; rows from the cache do not count.
    public var rowsRead: Int { stores.map { $0.reading.withLock(\.rowsRead) }.reduce(0, +) }

    /// Opens a store as its description says; with a model, creates a missing store.
    ///
    /// A store without a cached model, opened without a model, is read-only, because tables contain neither delete
    /// rules nor every inverse. `writesInferredModel` makes it writable all the same.
    @discardableResult
    public func addPersistentStore(
        with description: PersistentStoreDescription,
        writesInferredModel: Bool = false
    ) throws -> PersistentStore {
        try suspension.requireResumed(StoreLocation(url: description.url))
        var (model, hashes) = (state.withLock { $0.model?.model }, isModelGiven ? versionHashes : nil)
        var target = model.map { MigrationTarget($0, entityVersionHashes: hashes ?? [:]) }
        if model == nil, let path = description.modelFile {
            let file = try ModelFile(path: path)
            (model, hashes) = (file.model, file.entityVersionHashes.isEmpty ? nil : file.entityVersionHashes)
            target = MigrationTarget(file, path: path)
        }
        try AttachedStore.check(description)
        if let model { try AttachedStore.createIfMissing(description, model: model, versionHashes: hashes ?? [:]) }
        try AttachedStore.requireStore(description)
        func attach() throws -> AttachedStore {
            try AttachedStore(
                description,
                model: model,
                hashes: hashes,
                suspension: suspension,
                writesInferredModel: writesInferredModel
            )
        }
        var store: AttachedStore
        do {
            store = try attach()
        } catch let error as ManagedObjectError where error.code == .incompatibleModel {
            try AttachedStore.migrate(description, to: target, insteadOf: error)
            store = try attach()
        }
        if try store.switchHistoryOn() { store = try attach() }
        try store.applyOptions()
        let version = try store.externalVersion()
        store.openingVersion.withLock { $0 = version }
        let stand = try? store.commitState()
        store.openingState.withLock { $0 = stand }
        try state.withLock { state in
            guard !state.stores.contains(where: { $0.uuid == store.uuid }) else {
                throw ManagedObjectError(
                    .open,
                    "a store with the same UUID is already open; object IDs would be ambiguous: \(store.location.path)"
                )
            }
            if state.model == nil { state.model = store.contents.model }
            state.stores.append(store)
        }
        return store.summary
    }

    /// Closes a store; its objects can no longer be read.
    public func remove(_ store: PersistentStore) {
        let removed = state.withLock { state -> AttachedStore? in
            guard let index = state.stores.firstIndex(where: { $0.uuid == store.identifier }) else { return nil }
            return state.stores.remove(at: index)
        }
        removed?.close()
    }

    /// Closes a store and opens the current file at its path, as its description says.
    ///
    /// Use it after a save failed with `StoreError.Code.replaced`, because another store's content has replaced the
    /// opened one. Reset the contexts, since their objects belong to the former store. If the new file cannot be
    /// opened, the store stays closed.
    @discardableResult
    public func reopen(_ store: PersistentStore, writesInferredModel: Bool = false) throws -> PersistentStore {
        remove(store)
        return try addPersistentStore(with: store.description, writesInferredModel: writesInferredModel)
    }

    /// The ID for a URI, without reading; nil when no open store has its UUID or the model lacks the entity.
    public func managedObjectID(forURIRepresentation uri: String) -> ManagedObjectID? {
        guard let uri = try? ObjectURI(uri), store(uuid: uri.storeUUID) != nil,
            let shape = try? shape().entity(uri.entity)
        else { return nil }
        return ManagedObjectID(
            entity: shape.name,
            root: shape.root,
            storeUUID: uri.storeUUID,
            primaryKey: uri.primaryKey
        )
    }

    /// The ID for a URI.
    public func managedObjectID(forURIRepresentation url: URL) -> ManagedObjectID? {
        managedObjectID(forURIRepresentation: url.absoluteString)
    }

    /// Registers a class for the objects of an entity and of its subentities without a class of their own.
    public func register(_ type: ManagedObject.Type, forEntityName name: String) {
        state.withLock { $0.classes[name] = type }
    }

    // MARK: For contexts

    /// Registers the classes of a typed object's model for the entities that have no class yet.
    func adopt(_ type: ManagedObject.Type) {
        guard type != ManagedObject.self, let type = type as? any TypedObject.Type else { return }
        state.withLock { state in
            guard state.adopted.insert(ObjectIdentifier(type)).inserted else { return }
            for member in type.modelClasses where state.classes[member.entityName] == nil {
                state.classes[member.entityName] = member
            }
        }
    }

    func type(of shape: ObjectShape) -> ManagedObject.Type {
        state.withLock { state in
            guard !state.classes.isEmpty else { return ManagedObject.self }
            var next: String? = shape.name
            while let name = next {
                if let type = state.classes[name] { return type }
                next = state.model?.entities[name]?.entity.superentity
            }
            return ManagedObject.self
        }
    }

    var stores: [AttachedStore] { state.withLock { $0.stores } }

    func store(uuid: String) -> AttachedStore? {
        state.withLock { $0.stores.first { $0.uuid == uuid } }
    }

    /// The store of a permanent ID.
    func store(of id: ManagedObjectID) throws -> AttachedStore {
        guard let uuid = id.storeUUID, let store = store(uuid: uuid) else {
            throw ManagedObjectError(
                .foreignObject,
                "the object belongs to no store of this coordinator",
                objectIDs: [id]
            )
        }
        return store
    }

    /// The store for new objects of an entity: the first writable one that contains the entity.
    func storeForNewObjects(of entity: String) throws -> AttachedStore {
        let able = stores.filter { $0.contents.layout.entities[entity] != nil }
        if let store = able.first(where: { $0.readOnlyReason == nil }) { return store }
        guard let store = able.first else {
            throw ManagedObjectError(.unknownProperty, "no open store has the entity \(entity)")
        }
        throw store.readOnlyError
    }

    func shape() throws -> ModelShape {
        guard let model = state.withLock({ $0.model }) else {
            throw ManagedObjectError(.open, "no store is open, and no model was given")
        }
        return model
    }
}
