public import FoundationEssentials
internal import ModelMigration
public import StoreAccess
public import StoreFormat
public import StoreStrategies
internal import StoreWriting
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

extension PersistentStoreCoordinator {
    /// The current metadata of a store, with unsaved changes; empty for a store that is not open.
    ///
    /// Excludes the history's consumers, which belong to ``HistoryPruner``.
    public func metadata(for store: PersistentStore) -> [String: PropertyListValue] {
        guard let store = self.store(uuid: store.identifier) else { return [:] }
        var values = store.savedMetadata()
        values[HistoryConsumers.metadataKey] = nil
        for (key, value) in store.pendingMetadata.withLock({ $0 }) { values[key] = value }
        return values
    }

    /// Sets an application's keys in the metadata of a store, removes keys without a value, and leaves all others
    /// unchanged.
    ///
    /// The next save writes them in its transaction. Throws for a key reserved for Core Data, unless its value is
    /// unchanged, so that metadata can be read, changed and set again. Throws for the key of the history's consumers
    /// too.
    public func setMetadata(_ changes: [String: PropertyListValue?], for store: PersistentStore) throws {
        guard let store = self.store(uuid: store.identifier) else {
            throw ManagedObjectError(.foreignObject, "the store is not open in this coordinator")
        }
        guard changes[HistoryConsumers.metadataKey] == nil else {
            throw ManagedObjectError(
                .wrongType,
                "the metadata key \(HistoryConsumers.metadataKey) is reserved for history consumers; use HistoryPruner"
            )
        }
        let saved = store.savedMetadata()
        let reserved = changes.filter { MetadataWriter.isReserved($0.key) }
        if let changed = reserved.keys.sorted().first(where: { reserved[$0] != .some(saved[$0]) }) {
            throw ManagedObjectError(
                .wrongType,
                "the metadata key \(changed) is reserved for Core Data; choose another name: \(store.location.path)"
            )
        }
        store.pendingMetadata.withLock { $0.merge(changes.filter { reserved[$0.key] == nil }) { $1 } }
    }
}

extension AttachedStore {
    /// The stored metadata; if it cannot be read now, the metadata as of the opening.
    fileprivate func savedMetadata() -> [String: PropertyListValue] {
        let now = try? read { _, connection in try StoreMetadata(reading: connection)?.values }
        return now.flatMap { $0 } ?? contents.metadata.values
    }

    /// Writes unsaved metadata and returns it.
    func writeMetadata(through connection: StoreConnection) throws -> [String: PropertyListValue?] {
        let changes = pendingMetadata.withLock { $0 }
        if !changes.isEmpty { try MetadataWriter.update(changes, in: connection) }
        return changes
    }

    /// Removes saved metadata from the pending changes; values set since then wait for the next save.
    func forgetPendingMetadata(_ written: [String: PropertyListValue?]) {
        pendingMetadata.withLock { pending in
            for (key, value) in written where pending[key] == .some(value) { pending[key] = nil }
        }
    }
}

extension PersistentStoreCoordinator {
    /// Saves each store's part in its own transaction, and commits none before all parts are written.
    ///
    /// Throws ``PartlySaved`` when a commit fails after another store's commit: SQLite cannot commit several databases
    /// atomically here.
    func save(_ request: SaveRequest) throws -> SaveOutcome {
        try save(divided(request)[...], model: shape())
    }

    /// Locks the stores in the same order in every save, which prevents deadlocks.
    private func save(_ parts: ArraySlice<(AttachedStore, SaveRequest)>, model: ModelShape) throws -> SaveOutcome {
        guard let (store, part) = parts.first else { return SaveOutcome() }
        var committed: SaveOutcome?
        do {
            var outcome = try store.save(part, model: model) {
                guard parts.count > 1 else { return }
                committed = try save(parts.dropFirst(), model: model)
            }
            if let committed { outcome.add(committed) }
            return outcome
        } catch {
            guard let committed else { throw error }
            throw PartlySaved(outcome: committed, stores: Set(parts.dropFirst().map(\.0.uuid)), error: error)
        }
    }

    private func divided(_ request: SaveRequest) throws -> [(AttachedStore, SaveRequest)] {
        guard !request.isEmpty else { return [] }
        // With one store that contains all the objects, nothing needs to be divided.
        if stores.count == 1, let store = stores.first, try isWhole(request, for: store) { return [(store, request)] }
        var places: [String: AttachedStore] = [:]
        func uuid(_ id: ManagedObjectID) throws -> String {
            if let uuid = id.storeUUID { return uuid }
            if let store = places[id.entityName] { return store.uuid }
            let store = try storeForNewObjects(of: id.entityName)
            places[id.entityName] = store
            return store.uuid
        }
        var parts: [String: SaveRequest] = [:]
        func part(_ id: ManagedObjectID, _ body: (inout SaveRequest) -> Void) throws {
            let uuid = try uuid(id)
            if parts[uuid] == nil {
                var empty = SaveRequest()
                empty.policy = request.policy
                empty.author = request.author
                empty.contextName = request.contextName
                parts[uuid] = empty
            }
            if parts[uuid] != nil { body(&parts[uuid, default: SaveRequest()]) }
        }
        for insertion in request.insertions { try part(insertion.id) { $0.insertions.append(insertion) } }
        for update in request.updates { try part(update.id) { $0.updates.append(update) } }
        for link in request.links { try part(link.owner) { $0.links.append(link) } }
        for deletion in request.deletions { try part(deletion.id) { $0.deletions.append(deletion) } }
        return try parts.sorted { $0.key < $1.key }
            .map { uuid, part in
                guard let store = store(uuid: uuid) else {
                    throw ManagedObjectError(.foreignObject, "an object belongs to a store that is not open here")
                }
                return (store, part)
            }
    }

    /// True when all objects of a request belong to one store or are new.
    private func isWhole(_ request: SaveRequest, for store: AttachedStore) throws -> Bool {
        var entity: String?
        func isOfStore(_ id: ManagedObjectID) throws -> Bool {
            if let uuid = id.storeUUID { return uuid == store.uuid }
            if entity != id.entityName {
                entity = id.entityName
                _ = try storeForNewObjects(of: id.entityName)
            }
            return true
        }
        return try request.insertions.allSatisfy { try isOfStore($0.id) }
            && request.updates.allSatisfy { try isOfStore($0.id) }
            && request.links.allSatisfy { try isOfStore($0.owner) }
            && request.deletions.allSatisfy { try isOfStore($0.id) }
    }
}
