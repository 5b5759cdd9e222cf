internal import StoreFormat

/// The objects of one context and their changes: everything of a context except its queue.
final class ObjectGraph {
    let source: any ObjectSource
    weak var context: ManagedObjectContext?
    /// The weak reference that its objects share.
    private let reference = GraphReference()

    /// The maximum age of a cached row that fills a fault; negative for any age.
    var stalenessInterval: Double = -1
    var shouldDeleteInaccessibleFaults = true
    var retainsRegisteredObjects = false {
        didSet { retained = retainsRegisteredObjects ? registeredObjects : [] }
    }

    /// The stores' versions at the last refresh after saves of other processes.
    var externalVersions: [String: ExternalVersion]?

    var inserted: Set<ManagedObject> = []
    var updated: Set<ManagedObject> = []
    var deleted: Set<ManagedObject> = []
    /// Objects changed since observers were last notified.
    var touched: Set<ManagedObject> = []
    var news = ObjectsDidChange()
    /// Deleted objects whose delete rules have not run yet.
    var undone: [ManagedObject] = []
    /// The states of objects before changes that may be undone; nil when undoing is not possible.
    var memories: [ManagedObject: ObjectMemory]?
    /// An error without a caller that could catch it; the next save throws it.
    private var failure: (any Error)?
    /// The properties by object whose destinations could not be read.
    private var unreadable: [ManagedObjectID: Set<String>] = [:]
    private var registry: Set<ObjectReference> = []
    private var retained: Set<ManagedObject> = []
    /// False if no registered object has read destinations of a to-many relationship.
    var mayHaveDestinations = false
    /// The permanent IDs of objects whose temporary IDs are still in use, by a child, a request or a notice.
    let permanentIDs = PermanentIDs()
    /// The permanent IDs that new objects got before their save, by their temporary IDs.
    private(set) var reservedIDs: [ManagedObjectID: ManagedObjectID] = [:]
    private var lastOrder = 0
    private var observers: [Int: (ObjectsDidChange) -> Void] = [:]
    private var lastObserver = 0
    /// The fetched results controllers that follow the context, by their observers' numbers; the runtime does not know their
    /// type.
    var controllers: [Int: () -> AnyObject?] = [:]
    /// The objects of which a merge reports to the observers that another context deleted them.
    var deletedElsewhere: Set<ManagedObject> = []

    init(_ source: any ObjectSource) {
        self.source = source
        reference.graph = self
    }

    deinit {
        // Objects that outlive the graph cannot release their rows.
        for object in registeredObjects where object.status.contains(.holdsRow) { source.release(object.objectID) }
    }

    // MARK: Registry

    var registeredObjects: Set<ManagedObject> {
        var result = Set<ManagedObject>(minimumCapacity: registry.count)
        for reference in registry { if let object = reference.object { result.insert(object) } }
        return result
    }

    /// The number of registered objects, including some released just now.
    var registeredCount: Int { registry.count }

    func registered(_ id: ManagedObjectID) -> ManagedObject? {
        if let object = known(id) { return object }
        guard id.isTemporaryID, let id = permanentIDs[id] else { return nil }
        return known(id)
    }

    private func known(_ id: ManagedObjectID) -> ManagedObject? {
        registry.firstIndex(of: ObjectReference(to: id)).flatMap { registry[$0].object }
    }

    /// Reserves capacity for `count` more objects.
    func reserve(_ count: Int) { registry.reserveCapacity(registry.count + count) }

    /// Returns the registered object of an ID, or a new fault; reads nothing.
    func object(_ id: ManagedObjectID) throws -> ManagedObject {
        if let object = registered(id) { return object }
        guard !id.isTemporaryID || permanentIDs[id] != nil || source is ManagedObjectContext else {
            throw ManagedObjectError(
                .foreignObject,
                "the ID is a temporary ID of another context: save that context first",
                objectIDs: [id]
            )
        }
        let id = permanentIDs[id] ?? id
        return make(id, try source.shape().entity(id.entityName), .fault)
    }

    /// The shape and class of an entity's objects.
    struct Maker {
        let shape: ObjectShape
        let type: ManagedObject.Type
    }

    func make(_ id: ManagedObjectID, _ shape: ObjectShape, _ status: ManagedObject.Status) -> ManagedObject {
        make(id, Maker(shape: shape, type: source.type(of: shape)), status)
    }

    func make(_ id: ManagedObjectID, _ maker: Maker, _ status: ManagedObject.Status) -> ManagedObject {
        let registration = ManagedObject.Registration(
            id: id,
            shape: maker.shape,
            graphReference: reference,
            status: status
        )
        let object = maker.type.init(registration)
        registry.update(with: ObjectReference(object))
        if retainsRegisteredObjects { retained.insert(object) }
        return object
    }

    /// Called from an object's deinit.
    func unregister(_ object: ObjectIdentifier, _ id: ManagedObjectID, _ status: ManagedObject.Status) {
        strike(object, id)
        if status.contains(.holdsRow) { source.release(id) }
    }

    /// Removes an object from the registry, unless another object has taken its ID.
    private func strike(_ object: ObjectIdentifier, _ id: ManagedObjectID) {
        guard let index = registry.firstIndex(of: ObjectReference(to: id)), registry[index].leads(to: object) else {
            return
        }
        registry.remove(at: index)
    }

    /// Removes objects from the registry before they are registered under other IDs.
    ///
    /// If they are the majority, filters the registry once: removing them one by one would rehash the others
    /// repeatedly.
    func strike(_ objects: [ManagedObject]) {
        guard objects.count > registry.count / 2 else {
            for object in objects { strike(ObjectIdentifier(object), object.objectID) }
            return
        }
        for object in objects { object.status.insert(.gone) }
        registry = registry.filter { !($0.object?.status.contains(.gone) ?? false) }
        for object in objects { object.status.remove(.gone) }
    }

    /// Registers a removed object under another ID.
    func register(_ object: ManagedObject, as id: ManagedObjectID) {
        object.objectID = id
        registry.update(with: ObjectReference(object))
    }

    /// Removes an object from the context; it keeps its values.
    func dismiss(_ object: ManagedObject) {
        inserted.remove(object)
        updated.remove(object)
        deleted.remove(object)
        touched.remove(object)
        retained.remove(object)
        strike(ObjectIdentifier(object), object.objectID)
        if object.status.contains(.holdsRow) { source.release(object.objectID) }
        object.status = .gone
        object.graphReference = nil
        if !object.prefetched.isEmpty { object.ownValues().prefetched = [:] }
    }

    /// Registers a removed object again.
    func register(_ object: ManagedObject) {
        object.graphReference = reference
        registry.update(with: ObjectReference(object))
        if retainsRegisteredObjects { retained.insert(object) }
    }

    /// Gives an object its permanent ID.
    func rename(_ object: ManagedObject, to id: ManagedObjectID) {
        strike(ObjectIdentifier(object), object.objectID)
        object.objectID = id
        registry.update(with: ObjectReference(object))
    }

    /// Records IDs that new objects got before their save.
    func reserve(_ ids: [ManagedObjectID: ManagedObjectID]) { reservedIDs.merge(ids) { $1 } }

    /// Returns the IDs that objects got before this save, and clears the record.
    func takeReservedIDs() -> [ManagedObjectID: ManagedObjectID] {
        defer { reservedIDs = [:] }
        return reservedIDs
    }

    /// True for the ID of an object that was never saved and is no longer registered.
    func isNowhere(_ id: ManagedObjectID) -> Bool {
        guard id.isTemporaryID || !reservedIDs.isEmpty && reservedIDs.values.contains(id) else { return false }
        return registered(id) == nil
    }

    // MARK: Faults

    /// Nil for any age, also for an interval that a duration cannot represent.
    var maximumAge: Duration? { (0..<1e9).contains(stalenessInterval) ? .seconds(stalenessInterval) : nil }

    /// Reads the values of a fault; a fault without a row becomes a deleted object without values.
    func fire(_ object: ManagedObject) throws {
        guard object.status.contains(.fault) else { return }
        guard let row = try source.row(of: object.objectID, maximumAge: maximumAge) else {
            guard shouldDeleteInaccessibleFaults else {
                throw ManagedObjectError(
                    .objectIsGone,
                    "the \(object.shape.name) with this ID no longer exists",
                    objectIDs: [object.objectID]
                )
            }
            object.status.remove(.fault)
            object.status.insert(.deleted)
            object.takeValues { _ in .null }
            return
        }
        fill(object, from: row)
        object.awakeFromFetch()
    }

    /// Sets an object's values from a row, and reapplies its unsaved changes.
    func fill(_ object: ManagedObject, from row: RowSnapshot) {
        takeEntity(of: row, for: object)
        if !object.status.contains(.holdsRow) {
            source.retain([row])
            object.status.insert(.holdsRow)
        }
        object.take(row)
    }

    /// Changes an object's entity to its row's: an ID may name a parent entity.
    func takeEntity(of row: RowSnapshot, for object: ManagedObject) {
        guard row.id.entityName != object.shape.name, let shape = try? source.shape().entity(row.id.entityName) else {
            return
        }
        if !shape.lineage.contains(object.shape.name) {
            // Changes recorded by property index of an unrelated entity are meaningless.
            if case .values(let values) = object.content { (values.toManys, values.changed) = ([:], []) }
        }
        object.shape = shape
        object.objectID = row.id
    }

    /// Turns an object into a fault and discards its unsaved changes.
    func turnIntoFault(_ object: ManagedObject) {
        guard !object.status.contains(.inserted) else { return }
        object.status.insert(.fault)
        object.status.remove(.updated)
        updated.remove(object)
        touched.remove(object)
        object.dropValues()
    }

    /// The current destinations of a to-many relationship.
    func members(of object: ManagedObject, _ index: Int) throws -> [ManagedObjectID] {
        let value = object.toManys[index] ?? ToManyValue()
        if let base = value.base { return value.members(of: base) }
        var stored: [ManagedObjectID] = []
        if !object.status.contains(.inserted) {
            let name = object.shape.toManys[index].name
            stored = try source.destinations(of: [object.objectID], name)[object.objectID] ?? []
        }
        object.ownValues().toManys[index, default: ToManyValue()].base = stored
        mayHaveDestinations = true
        return value.members(of: stored)
    }

    /// Drops read destinations of changed entities: a notice of another program need not name the owners.
    func forgetDestinations(changedIn changes: ObjectIDChanges) throws {
        guard mayHaveDestinations else { return }
        let entities = try source.shape().entities
        let changed = [changes.inserted, changes.updated, changes.deleted, changes.refreshed, changes.invalidated]
        let roots = Set(changed.flatMap { Set($0.map(\.entityName)) }.compactMap { entities[$0]?.root })
        mayHaveDestinations = false
        for object in registry.compactMap(\.object) {
            for index in object.toManys.keys where object.toManys[index]?.base != nil {
                let destination = entities[object.shape.toManys[index].destination]
                if destination.map({ roots.contains($0.root) }) ?? true {
                    object.ownValues().toManys[index]?.base = nil
                } else {
                    mayHaveDestinations = true
                }
            }
        }
    }

    // MARK: Bookkeeping

    /// Inserts a new object with the default values of its entity.
    func insert(_ shape: ObjectShape) throws -> ManagedObject {
        guard !shape.entity.isAbstract else {
            throw ManagedObjectError(.unknownProperty, "\(shape.name) is abstract and cannot have objects")
        }
        let object = make(ManagedObjectID(temporaryIn: shape.temporaryFamily), shape, .inserted)
        object.takeValues(\.initialValue)
        note(object)
        object.awakeFromInsert()
        return object
    }

    /// Adds a new object, or one inserted by a child context, to the inserted objects.
    func note(_ object: ManagedObject) {
        object.ownValues().order = nextOrder()
        inserted.insert(object)
        news.inserted.insert(object)
    }

    func nextOrder() -> Int {
        lastOrder += 1
        return lastOrder
    }

    /// Records that an object is about to change, after reading its values.
    func willChange(_ object: ManagedObject) throws {
        try fire(object)
        try markChanged(object)
    }

    /// Records a change of an object without reading its values: only a to-many relationship changes.
    func markChanged(_ object: ManagedObject) throws {
        guard object.status.isDisjoint(with: [.deleted, .gone]) else {
            throw ManagedObjectError(
                .objectIsGone,
                "a deleted \(object.shape.name) cannot be changed",
                objectIDs: [object.objectID]
            )
        }
        remember(object)
        if object.order == 0 { object.ownValues().order = nextOrder() }
        if !object.status.contains(.inserted) { object.status.insert(.updated) }
        touched.insert(object)
    }

    func forgetInsertion(_ object: ManagedObject) { inserted.remove(object) }

    /// Called after a save: these objects are no longer inserted, updated or deleted.
    func forgetChanges(of objects: Set<ManagedObject>) {
        inserted.subtract(objects)
        updated.subtract(objects)
        deleted.subtract(objects)
        touched.subtract(objects)
    }

    /// Called after a rollback: no object is inserted, updated or deleted.
    func clearChanges() {
        inserted = []
        updated = []
        deleted = []
        touched = []
        undone = []
    }

    /// Keeps an error for the next save to throw; an earlier error takes precedence.
    func keepFailure(_ error: any Error) { failure = failure ?? error }

    /// Notes whether a property's destinations could be read.
    func note(isReadable: Bool, _ id: ManagedObjectID, _ key: String) {
        if !isReadable { unreadable[id, default: []].insert(key) }
        if isReadable, !unreadable.isEmpty { unreadable[id]?.remove(key) }
    }

    /// False if the last reading of the property failed.
    func isReadable(_ id: ManagedObjectID, _ key: String) -> Bool {
        unreadable.isEmpty || unreadable[id]?.contains(key) != true
    }

    func takeFailure() -> (any Error)? {
        defer { failure = nil }
        return failure
    }

    // MARK: Observers

    func addObserver(_ body: @escaping (ObjectsDidChange) -> Void) -> Int {
        lastObserver += 1
        observers[lastObserver] = body
        return lastObserver
    }

    func removeObserver(_ number: Int) { observers[number] = nil }

    /// Notifies the observers of the changes.
    func postNews() {
        guard !news.isEmpty else { return }
        let news = self.news
        self.news = ObjectsDidChange()
        for number in observers.keys.sorted() { observers[number]?(news) }
    }
}
