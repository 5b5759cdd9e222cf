public import ChangeMerging
internal import Dispatch
internal import FoundationEssentials

/// A scratch pad of objects: fetched, changed and inserted objects stay private to it until it saves.
///
/// It is confined to a queue. Enter it with ``perform(_:)`` or ``performAndWait(_:)``; inside, everything is
/// synchronous. Only `Sendable` values such as IDs leave it. There are no query generations: a fetch, and a fault that
/// is filled from the store, read the last commit.
public actor ManagedObjectContext {
    /// The queue that a context runs on.
    public enum ConcurrencyType: Sendable {
        /// A queue of its own.
        case privateQueue
        /// The program's main queue.
        case mainQueue
    }

    public nonisolated let concurrencyType: ConcurrencyType
    /// The coordinator at the root of the chain of parents.
    public nonisolated let persistentStoreCoordinator: PersistentStoreCoordinator
    /// The context that this one reads from and saves to; nil for one directly on the coordinator.
    public nonisolated let parent: ManagedObjectContext?
    nonisolated let executor: QueueExecutor
    nonisolated let saves = ChangeHub<ContextDidSave>()
    /// The saves of children to this context, which are not saves of its own.
    nonisolated let childSaves = ChangeHub<ContextDidSave>()

    let graph: ObjectGraph
    /// The context name that history records.
    public var name: String?
    /// The author that history records.
    public var transactionAuthor: String?
    /// The policy for conflicts with other saves.
    public var mergePolicy = MergePolicy.error
    /// Storage for objects that belong to the context and cannot leave it, such as a ``FetchedResultsController``.
    public var userInfo: [String: Any] = [:]
    /// True to merge saves that other contexts make through the same parent or coordinator.
    public var automaticallyMergesChangesFromParent = false {
        didSet { automaticMerging = automaticallyMergesChangesFromParent ? mergingObservations() : [] }
    }
    private var automaticMerging: [ChangeObservation] = []

    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Creates a context directly on a coordinator.
    public init(_ concurrencyType: ConcurrencyType, coordinator: PersistentStoreCoordinator, name: String? = nil) {
        self.init(concurrencyType, coordinator: coordinator, parent: nil, name: name)
    }

    /// Creates a child of a context: it reads from its parent, and saves to its parent only.
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
        executor = concurrencyType == .mainQueue ? .main : QueueExecutor(DispatchQueue(label: "ManagedObjectContext"))
        graph = ObjectGraph(parent ?? coordinator)
        graph.context = self
    }

    // MARK: Doors

    /// Runs work inside the context, then notifies observers of the changes.
    ///
    /// Delete rules that fail then are retried later; a save that fails at them throws the reason.
    public func perform<R: Sendable>(_ work: @Sendable (isolated ManagedObjectContext) throws -> R) rethrows -> R {
        let result = try work(self)
        try? graph.processPendingChanges()
        return result
    }

    /// Runs work inside the context while the caller waits; runs it directly when already inside.
    public nonisolated func performAndWait<R: Sendable>(
        _ work: @Sendable (isolated ManagedObjectContext) throws -> R
    ) rethrows -> R {
        try executor.wait { try assumeIsolated(work) }
    }

    // MARK: Objects

    /// The inserted objects that are not saved yet.
    public var insertedObjects: Set<ManagedObject> { graph.inserted }
    /// The updated objects that are not saved yet; includes changed new objects until pending changes are processed.
    public var updatedObjects: Set<ManagedObject> { graph.updated.union(graph.touched) }
    /// The deleted objects of the store whose deletion is not saved yet; while observers are notified of a merge, also those
    /// that the other context deleted.
    public var deletedObjects: Set<ManagedObject> { graph.deleted.union(graph.deletedElsewhere) }
    /// All objects of the context; an object without changes is registered only while something retains it.
    public var registeredObjects: Set<ManagedObject> { graph.registeredObjects }
    public var hasChanges: Bool {
        !graph.inserted.isEmpty || !graph.updated.isEmpty || !graph.deleted.isEmpty || !graph.touched.isEmpty
    }

    /// The maximum age in seconds of a cached row that fills a fault; 0 always reads the store.
    ///
    /// Negative values, values over thirty years and NaN allow any age.
    public var stalenessInterval: Double {
        get { graph.stalenessInterval }
        set { graph.stalenessInterval = newValue }
    }

    /// True to retain every registered object, with or without changes.
    public var retainsRegisteredObjects: Bool {
        get { graph.retainsRegisteredObjects }
        set { graph.retainsRegisteredObjects = newValue }
    }

    /// True to show an object whose row is gone as deleted and without values, false to throw.
    public var shouldDeleteInaccessibleFaults: Bool {
        get { graph.shouldDeleteInaccessibleFaults }
        set { graph.shouldDeleteInaccessibleFaults = newValue }
    }

    /// Returns the object with an ID without reading; its row may not exist.
    public func object(with id: ManagedObjectID) throws -> ManagedObject { try graph.object(id) }

    /// Returns the object with an ID and reads it if needed; throws if its row does not exist.
    public func existingObject(with id: ManagedObjectID) throws -> ManagedObject {
        let object = try graph.object(id)
        try graph.fire(object)
        guard !object.status.contains(.gone), !object.isDeleted || graph.deleted.contains(object) else {
            throw ManagedObjectError(
                .objectIsGone,
                "the \(id.entityName) with this ID no longer exists",
                objectIDs: [id]
            )
        }
        return object
    }

    /// Returns the object with an ID if it is registered; reads nothing.
    public func registeredObject(for id: ManagedObjectID) -> ManagedObject? { graph.registered(id) }

    /// Inserts a new object.
    public func insertNewObject(forEntityName name: String) throws -> ManagedObject {
        try graph.insert(graph.source.shape().entity(name))
    }

    /// Inserts a new object of a registered class.
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

    /// Deletes an object at the next save; its delete rules run when pending changes are processed.
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

    /// Runs delete rules, classifies changed objects and notifies observers.
    public func processPendingChanges() throws { try graph.processPendingChanges() }

    // MARK: Observing

    /// Calls `body` inside the context after each change, until its number is passed to ``removeObserver(_:)``.
    public func addObserver(_ body: @escaping (ObjectsDidChange) -> Void) -> Int { graph.addObserver(body) }

    public func removeObserver(_ number: Int) { graph.removeObserver(number) }

    /// Calls `body` for every save of this context, on its queue, before ``save()`` returns.
    public nonisolated func onDidSave(_ body: @escaping @Sendable (ContextDidSave) -> Void) -> ChangeObservation {
        saves.observe(body)
    }

    /// The saves of this context from now on.
    public nonisolated var didSaveNotices: AsyncStream<ContextDidSave> { saves.notices }

    private func mergingObservations() -> [ChangeObservation] {
        // A child merges its parent's saves, and its siblings' saves to that parent.
        let sources = parent.map { [$0.saves, $0.childSaves] } ?? [persistentStoreCoordinator.saves]
        return sources.map { source in
            source.observe { [weak self] notice in
                guard let self, notice.context != ObjectIdentifier(self) else { return }
                self.executor.queue.async { self.assumeIsolated { $0.mergeAutomatically(notice) } }
            }
        }
    }

    /// Merges in the background: the next save throws an error that occurs here.
    private func mergeAutomatically(_ notice: ContextDidSave) {
        do { try mergeChanges(fromContextDidSave: notice) } catch { graph.keepFailure(error) }
    }
}

/// The parent as its children's source: its objects with their current values, including unsaved changes.
extension ManagedObjectContext: ObjectSource {
    nonisolated func row(of id: ManagedObjectID, maximumAge: Duration?) throws -> RowSnapshot? {
        try performAndWait { context in try context.graph.snapshot(of: id) }
    }

    nonisolated func rows(of ids: [ManagedObjectID], maximumAge: Duration?) throws -> [RowSnapshot?] {
        try performAndWait { context in try ids.map { try context.graph.snapshot(of: $0) } }
    }

    nonisolated func sharedRow(of id: ManagedObjectID) -> RowSnapshot? { nil }

    nonisolated func rows(of ids: [ManagedObjectID]) throws -> [RowSnapshot] {
        try performAndWait { context in try ids.compactMap { try context.graph.snapshot(of: $0) } }
    }

    nonisolated func destinations(
        of owners: [ManagedObjectID],
        _ relationship: String
    ) throws -> [ManagedObjectID: [ManagedObjectID]] {
        try performAndWait { context in
            var result: [ManagedObjectID: [ManagedObjectID]] = [:]
            for owner in owners {
                result[owner] = try context.graph.object(owner).objectIDs(forRelationshipNamed: relationship)
            }
            return result
        }
    }

    nonisolated func externalData(_ name: String, of id: ManagedObjectID) throws -> Data {
        try persistentStoreCoordinator.externalData(name, of: id)
    }

    nonisolated func retain(_ rows: [RowSnapshot]) {}
    nonisolated func release(_ id: ManagedObjectID) {}
    nonisolated func forget(_ ids: [ManagedObjectID], olderThan age: Duration?) {
        persistentStoreCoordinator.forget(ids, olderThan: age)
    }
    nonisolated func canRead(_ id: ManagedObjectID) -> Bool {
        id.isTemporaryID || persistentStoreCoordinator.canRead(id)
    }
    nonisolated func shape() throws -> ModelShape { try persistentStoreCoordinator.shape() }
    nonisolated func type(of shape: ObjectShape) -> ManagedObject.Type { persistentStoreCoordinator.type(of: shape) }
}

extension ObjectGraph {
    /// An object's current values; nil when the object does not exist or is deleted in this context.
    func snapshot(of id: ManagedObjectID) throws -> RowSnapshot? {
        let object = try object(id)
        try fire(object)
        guard object.status.isDisjoint(with: [.deleted, .gone]) else { return nil }
        // The row of an object that was saved to this context has its temporary ID.
        if case .row(let row) = object.content, row.id == object.objectID { return row.read(at: .now) }
        return RowSnapshot(
            id: object.objectID,
            version: object.base?.version ?? 0,
            attributes: object.attributes,
            toOnes: object.toOnes,
            time: .now
        )
    }
}

extension ManagedObjectContext {
    /// Merges changes made outside this context, synchronously and into this context only.
    package func mergeChanges(fromRemoteContextSave changes: ObjectIDChanges) throws {
        persistentStoreCoordinator.forget(changes)
        try graph.forgetDestinations(changedIn: changes)
        try graph.merge(changes)
    }
}

/// Runs the jobs of a context on a queue, so that both `await` and a blocking wait can enter it.
final class QueueExecutor: SerialExecutor {
    /// The executor of all contexts on the main queue, because a queue remembers one executor only.
    static let main = QueueExecutor(.main)

    /// The executors that a thread on a queue is in: that of the queue, and those whose blocking wait led there.
    private static let entered = DispatchSpecificKey<[ObjectIdentifier]>()

    let queue: DispatchQueue

    init(_ queue: DispatchQueue) {
        self.queue = queue
        queue.setSpecific(key: Self.entered, value: [ObjectIdentifier(self)])
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func checkIsolated() {
        if !isCurrent { dispatchPrecondition(condition: .onQueue(queue)) }
    }

    /// True on the queue, and on a queue that a blocking wait has entered from it.
    private var isCurrent: Bool {
        DispatchQueue.getSpecific(key: Self.entered)?.contains(ObjectIdentifier(self)) ?? false
    }

    /// Runs work on the queue and waits for it; runs it directly when already inside.
    func wait<R: Sendable>(_ work: () throws -> R) rethrows -> R {
        guard !isCurrent else { return try work() }
        guard let outer = DispatchQueue.getSpecific(key: Self.entered) else { return try queue.sync(execute: work) }
        return try queue.sync {
            // The queue is this call's alone until it returns.
            queue.setSpecific(key: Self.entered, value: outer + [ObjectIdentifier(self)])
            defer { queue.setSpecific(key: Self.entered, value: [ObjectIdentifier(self)]) }
            return try work()
        }
    }
}
