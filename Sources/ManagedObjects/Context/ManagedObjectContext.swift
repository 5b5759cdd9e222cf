public import ChangeMerging
internal import Dispatch

/// A scratch pad of objects: what is read, changed and inserted in it is its own until it is saved.
///
/// It is confined to a queue. ``perform(_:)`` and ``performAndWait(_:)`` are the doors; inside, everything is synchronous.
/// Objects stay inside: only what is `Sendable`, such as ids and values, comes out.
/// There are no query generations: a fetch, and a fault that is filled from the store, see what was committed last.
public actor ManagedObjectContext {
    /// Which queue a context runs on.
    public enum ConcurrencyType: Sendable {
        /// One of its own.
        case privateQueue
        /// The program's main queue.
        case mainQueue
    }

    public nonisolated let concurrencyType: ConcurrencyType
    /// The coordinator at the bottom, whether or not parents stand between.
    public nonisolated let persistentStoreCoordinator: PersistentStoreCoordinator
    /// The context that this one reads from and saves to; nil for one that stands on the coordinator itself.
    public nonisolated let parent: ManagedObjectContext?
    nonisolated let executor: QueueExecutor
    nonisolated let saves = ChangeHub<ContextDidSave>()
    /// The saves of children to this context, which are no saves of its own.
    nonisolated let childSaves = ChangeHub<ContextDidSave>()

    let graph: ObjectGraph
    /// The name that history records.
    public var name: String?
    /// Who history says did it.
    public var transactionAuthor: String?
    /// How conflicts with what others saved are settled.
    public var mergePolicy = MergePolicy.error
    /// A place for what belongs to the context and cannot leave it, such as a ``FetchedResultsController``.
    public var userInfo: [String: Any] = [:]
    /// True to take in what others save through the same parent or coordinator.
    public var automaticallyMergesChangesFromParent = false {
        didSet { automaticMerging = automaticallyMergesChangesFromParent ? mergingObservations() : [] }
    }
    private var automaticMerging: [ChangeObservation] = []

    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Makes a context that stands on a coordinator.
    public init(_ concurrencyType: ConcurrencyType, coordinator: PersistentStoreCoordinator, name: String? = nil) {
        self.init(concurrencyType, coordinator: coordinator, parent: nil, name: name)
    }

    /// Makes a child of a context: it reads from its parent, and saves to it and no further.
    public init(_ concurrencyType: ConcurrencyType, parent: ManagedObjectContext, name: String? = nil) {
        self.init(concurrencyType, coordinator: parent.persistentStoreCoordinator, parent: parent, name: name)
    }

    private init(
        _ concurrencyType: ConcurrencyType,
        coordinator: PersistentStoreCoordinator,
        parent: ManagedObjectContext?,
        name: String?
    ) {
        self.concurrencyType = concurrencyType
        persistentStoreCoordinator = coordinator
        self.parent = parent
        self.name = name
        executor = QueueExecutor(concurrencyType == .mainQueue ? .main : DispatchQueue(label: "ManagedObjectContext"))
        graph = ObjectGraph(parent ?? coordinator)
        graph.context = self
    }

    // MARK: Doors

    /// Runs work inside the context, and tells its observers of the changes at the end.
    ///
    /// Where delete rules cannot be followed then, they are followed the next time; a save that cannot either throws the reason.
    public func perform<R: Sendable>(_ work: @Sendable (isolated ManagedObjectContext) throws -> R) rethrows -> R {
        let result = try work(self)
        try? graph.processPendingChanges()
        return result
    }

    /// Runs work inside the context while the caller waits; inside the context already, at once.
    public nonisolated func performAndWait<R: Sendable>(
        _ work: @Sendable (isolated ManagedObjectContext) throws -> R
    ) rethrows -> R {
        try executor.wait { try assumeIsolated(work) }
    }

    // MARK: Objects

    /// The objects that were made and not yet saved.
    public var insertedObjects: Set<ManagedObject> { graph.inserted }
    /// The objects that were changed and not yet saved; one that is new counts until pending changes are processed.
    public var updatedObjects: Set<ManagedObject> { graph.updated.union(graph.touched) }
    /// The objects of the store that were deleted and not yet saved.
    public var deletedObjects: Set<ManagedObject> { graph.deleted }
    /// All objects of the context; one without changes is there as long as somebody holds it.
    public var registeredObjects: Set<ManagedObject> { graph.registeredObjects }
    public var hasChanges: Bool {
        !graph.inserted.isEmpty || !graph.updated.isEmpty || !graph.deleted.isEmpty || !graph.touched.isEmpty
    }

    /// How old a cached row may be, in seconds, when a fault is filled from it; 0 reads anew.
    ///
    /// Negative is any age, and so is what is no number or longer than thirty years.
    public var stalenessInterval: Double {
        get { graph.stalenessInterval }
        set { graph.stalenessInterval = newValue }
    }

    /// True to hold every registered object, with or without changes.
    public var retainsRegisteredObjects: Bool {
        get { graph.retainsRegisteredObjects }
        set { graph.retainsRegisteredObjects = newValue }
    }

    /// True to show an object whose row is gone as deleted and without values, false to throw.
    public var shouldDeleteInaccessibleFaults: Bool {
        get { graph.shouldDeleteInaccessibleFaults }
        set { graph.shouldDeleteInaccessibleFaults = newValue }
    }

    /// The object of an id, without reading: it may turn out that there is none.
    public func object(with id: ManagedObjectID) throws -> ManagedObject { try graph.object(id) }

    /// The object of an id, if there is one; it is read unless it is there already.
    public func existingObject(with id: ManagedObjectID) throws -> ManagedObject {
        let object = try graph.object(id)
        try graph.fire(object)
        guard !object.status.contains(.gone), !object.isDeleted || graph.deleted.contains(object) else {
            throw ManagedObjectError(
                .objectIsGone,
                "there is no \(id.entityName) with this id any more",
                objectIDs: [id]
            )
        }
        return object
    }

    /// The object of an id if the context has it; nothing is read.
    public func registeredObject(for id: ManagedObjectID) -> ManagedObject? { graph.registered(id) }

    /// Makes a new object.
    public func insertNewObject(forEntityName name: String) throws -> ManagedObject {
        try graph.insert(graph.source.shape().entity(name))
    }

    /// Makes a new object of a registered class.
    public func insertNewObject<T: ManagedObject>(_ type: T.Type, forEntityName name: String) throws -> T {
        let object = try insertNewObject(forEntityName: name)
        guard let typed = object as? T else {
            graph.delete(object)
            throw ManagedObjectError(
                .wrongType,
                "\(T.self) is not the class of \(name); register it with the coordinator"
            )
        }
        return typed
    }

    /// Deletes an object at the next save; delete rules are followed when pending changes are processed.
    public func delete(_ object: ManagedObject) throws {
        guard object.graph === graph else {
            throw ManagedObjectError(
                .foreignObject,
                "the object belongs to another context",
                objectIDs: [object.objectID]
            )
        }
        graph.delete(object)
    }

    /// Settles what was changed and tells the observers.
    public func processPendingChanges() throws { try graph.processPendingChanges() }

    // MARK: Observing

    /// Tells `body`, inside the context, what changed in it; until the number is given to ``removeObserver(_:)``.
    public func addObserver(_ body: @escaping (ObjectsDidChange) -> Void) -> Int { graph.addObserver(body) }

    public func removeObserver(_ number: Int) { graph.removeObserver(number) }

    /// Tells `body` of every save of this context, on its queue, before ``save()`` returns.
    public nonisolated func onDidSave(_ body: @escaping @Sendable (ContextDidSave) -> Void) -> ChangeObservation {
        saves.observe(body)
    }

    /// The saves of this context from here on.
    public nonisolated var didSaveNotices: AsyncStream<ContextDidSave> { saves.notices }

    private func mergingObservations() -> [ChangeObservation] {
        // A child takes in what its parent saves and what its siblings save to it.
        let sources = parent.map { [$0.saves, $0.childSaves] } ?? [persistentStoreCoordinator.saves]
        return sources.map { source in
            source.observe { [weak self] notice in
                guard let self, notice.context != ObjectIdentifier(self) else { return }
                self.executor.queue.async { self.assumeIsolated { $0.mergeAutomatically(notice) } }
            }
        }
    }

    /// Nobody waits for the result: an error is kept for the next save.
    private func mergeAutomatically(_ notice: ContextDidSave) {
        do { try mergeChanges(fromContextDidSave: notice) } catch { graph.keepFailure(error) }
    }
}
