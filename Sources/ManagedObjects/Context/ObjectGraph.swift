internal import StoreFormat

/// The objects of one context and what was done to them: all of a context but its door.
final class ObjectGraph {
    let source: any ObjectSource
    weak var context: ManagedObjectContext?

    /// How old a cached row may be when a fault is filled from it; negative is any age.
    var stalenessInterval: Double = -1
    var shouldDeleteInaccessibleFaults = true
    var retainsRegisteredObjects = false {
        didSet { retained = retainsRegisteredObjects ? registeredObjects : [] }
    }

    /// The versions of the stores when everything was last refreshed for what other processes saved.
    var externalVersions: [String: ExternalVersion]?

    var inserted: Set<ManagedObject> = []
    var updated: Set<ManagedObject> = []
    var deleted: Set<ManagedObject> = []
    /// What was changed since observers were last told.
    var touched: Set<ManagedObject> = []
    var news = ObjectsDidChange()
    /// Deleted objects whose delete rules have yet to be followed.
    var undone: [ManagedObject] = []
    /// What objects were before changes that may have to be undone; nil while none may.
    var memories: [ManagedObject: ObjectMemory]?
    /// What went wrong where nobody could be told: the next save is.
    private var failure: (any Error)?
    private var registry: [ManagedObjectID: ObjectReference] = [:]
    private var retained: Set<ManagedObject> = []
    /// The permanent ids of objects whose temporary ids somebody still uses: a child, a request, a notice.
    let permanentIDs = PermanentIDs()
    /// The permanent ids that new objects got ahead of being saved, by their temporary ones.
    private(set) var reservedIDs: [ManagedObjectID: ManagedObjectID] = [:]
    private var lastOrder = 0
    private var observers: [Int: (ObjectsDidChange) -> Void] = [:]
    private var lastObserver = 0

    init(_ source: any ObjectSource) {
        self.source = source
    }

    deinit {
        // Objects that live on have no graph any more to tell of their end.
        for object in registeredObjects where object.status.contains(.holdsRow) { source.release(object.objectID) }
    }

    // MARK: Registry

    var registeredObjects: Set<ManagedObject> {
        var result = Set<ManagedObject>(minimumCapacity: registry.count)
        for reference in registry.values { if let object = reference.object { result.insert(object) } }
        return result
    }

    /// How many objects are registered, or were until just now.
    var registeredCount: Int { registry.count }

    func registered(_ id: ManagedObjectID) -> ManagedObject? {
        if let object = registry[id]?.object { return object }
        guard id.isTemporaryID, let id = permanentIDs[id] else { return nil }
        return registry[id]?.object
    }

    /// Makes room for that many objects more.
    func reserve(_ count: Int) { registry.reserveCapacity(registry.count + count) }

    /// The object of an id: the one that is there, else a new fault; nothing is read.
    func object(_ id: ManagedObjectID) throws -> ManagedObject {
        if let object = registered(id) { return object }
        guard !id.isTemporaryID || permanentIDs[id] != nil || source is ManagedObjectContext else {
            throw ManagedObjectError(
                .foreignObject,
                "the id is a temporary one of another context: save that context first",
                objectIDs: [id]
            )
        }
        let id = permanentIDs[id] ?? id
        return make(id, try source.shape().entity(id.entityName), .fault)
    }

    /// What the objects of one entity are made by.
    struct Maker {
        let shape: ObjectShape
        let type: ManagedObject.Type
    }

    func make(_ id: ManagedObjectID, _ shape: ObjectShape, _ status: ManagedObject.Status) -> ManagedObject {
        make(id, Maker(shape: shape, type: source.type(of: shape)), status)
    }

    func make(_ id: ManagedObjectID, _ maker: Maker, _ status: ManagedObject.Status) -> ManagedObject {
        let registration = ManagedObject.Registration(id: id, shape: maker.shape, graph: self, status: status)
        let object = maker.type.init(registration)
        registry[id] = ObjectReference(object)
        if retainsRegisteredObjects { retained.insert(object) }
        return object
    }

    /// The last act of an object.
    func unregister(_ object: ObjectIdentifier, _ id: ManagedObjectID, _ status: ManagedObject.Status) {
        strike(object, id)
        if status.contains(.holdsRow) { source.release(id) }
    }

    /// Takes an object out of the register, unless another one stands there under its id.
    private func strike(_ object: ObjectIdentifier, _ id: ManagedObjectID) {
        guard let index = registry.index(forKey: id), registry.values[index].leads(to: object) else { return }
        registry.remove(at: index)
    }

    /// Takes objects out of the register that are to come under other ids.
    ///
    /// When they are most of it, the rest is put into a new one: taking them out one by one would move the others about.
    func strike(_ objects: [ManagedObject]) {
        guard objects.count > registry.count / 2 else {
            for object in objects { strike(ObjectIdentifier(object), object.objectID) }
            return
        }
        for object in objects { object.status.insert(.gone) }
        registry = registry.filter { !($0.value.object?.status.contains(.gone) ?? false) }
        for object in objects { object.status.remove(.gone) }
    }

    /// Puts an object that was struck back under another id.
    func register(_ object: ManagedObject, as id: ManagedObjectID) {
        object.objectID = id
        registry[id] = ObjectReference(object)
    }

    /// Takes an object out of the context; it keeps the values it has.
    func dismiss(_ object: ManagedObject) {
        inserted.remove(object)
        updated.remove(object)
        deleted.remove(object)
        touched.remove(object)
        retained.remove(object)
        strike(ObjectIdentifier(object), object.objectID)
        if object.status.contains(.holdsRow) { source.release(object.objectID) }
        object.status = .gone
        object.graph = nil
        object.prefetched = [:]
    }

    /// Takes an object back that was taken out.
    func register(_ object: ManagedObject) {
        object.graph = self
        registry[object.objectID] = ObjectReference(object)
        if retainsRegisteredObjects { retained.insert(object) }
    }

    /// Gives an object its permanent id.
    func rename(_ object: ManagedObject, to id: ManagedObjectID) {
        strike(ObjectIdentifier(object), object.objectID)
        object.objectID = id
        registry[id] = ObjectReference(object)
    }

    /// Notes ids that new objects got ahead of being saved.
    func reserve(_ ids: [ManagedObjectID: ManagedObjectID]) { reservedIDs.merge(ids) { $1 } }

    /// Returns the ids that objects got ahead of this save, and forgets them.
    func takeReservedIDs() -> [ManagedObjectID: ManagedObjectID] {
        defer { reservedIDs = [:] }
        return reservedIDs
    }

    /// True for the id of an object that was never saved and is not here any more.
    func isNowhere(_ id: ManagedObjectID) -> Bool {
        guard id.isTemporaryID || !reservedIDs.isEmpty && reservedIDs.values.contains(id) else { return false }
        return registered(id) == nil
    }

    // MARK: Faults

    /// Nil for any age; no row gets as old as an interval that a duration cannot hold.
    var maximumAge: Duration? { (0..<1e9).contains(stalenessInterval) ? .seconds(stalenessInterval) : nil }

    /// Reads the values of a fault; one whose row is gone becomes a deleted object without values.
    func fire(_ object: ManagedObject) throws {
        guard object.status.contains(.fault) else { return }
        guard let row = try source.row(of: object.objectID, maximumAge: maximumAge) else {
            guard shouldDeleteInaccessibleFaults else {
                throw ManagedObjectError(
                    .objectIsGone,
                    "there is no \(object.shape.name) with this id any more",
                    objectIDs: [object.objectID]
                )
            }
            object.status.remove(.fault)
            object.status.insert(.deleted)
            object.attributes = object.shape.attributes.map { _ in .null }
            object.toOnes = object.shape.toOnes.map { _ in nil }
            return
        }
        fill(object, from: row)
        object.awakeFromFetch()
    }

    /// Gives an object the values of a row, and lays the changes made to it on top.
    func fill(_ object: ManagedObject, from row: RowSnapshot) {
        takeEntity(of: row, for: object)
        if !object.status.contains(.holdsRow) {
            source.retain([row])
            object.status.insert(.holdsRow)
        }
        let changed = object.status.contains(.fault) ? [] : object.changed
        let (attributes, toOnes) = changed.isEmpty ? ([], []) : (object.attributes, object.toOnes)
        object.status.remove(.fault)
        object.base = row
        object.attributes = row.attributes
        object.toOnes = row.toOnes
        if !object.toManys.isEmpty { for index in object.toManys.keys { object.toManys[index]?.base = nil } }
        for property in changed {
            switch property {
            case .attribute(let index): object.attributes[index] = attributes[index]
            case .toOne(let index): object.toOnes[index] = toOnes[index]
            case .toMany: break
            }
        }
    }

    /// Lets an object be of the entity that its row says: an id may have named a parent of it.
    func takeEntity(of row: RowSnapshot, for object: ManagedObject) {
        guard row.id.entityName != object.shape.name, let shape = try? source.shape().entity(row.id.entityName) else {
            return
        }
        if !shape.lineage.contains(object.shape.name) {
            // What was noted by the numbers of an entity that it never was means nothing.
            object.toManys = [:]
            object.changed = []
        }
        object.shape = shape
        object.objectID = row.id
    }

    /// Makes an object a fault again; what was changed in it is forgotten.
    func turnIntoFault(_ object: ManagedObject) {
        guard !object.status.contains(.inserted) else { return }
        object.status.insert(.fault)
        object.status.remove(.updated)
        updated.remove(object)
        touched.remove(object)
        object.base = nil
        object.attributes = []
        object.toOnes = []
        object.toManys = [:]
        object.changed = []
        object.prefetched = [:]
    }

    /// The destinations of a to-many relationship as they are now.
    func members(of object: ManagedObject, _ index: Int) throws -> [ManagedObjectID] {
        let value = object.toManys[index] ?? ToManyValue()
        if let base = value.base { return value.members(of: base) }
        var stored: [ManagedObjectID] = []
        if !object.status.contains(.inserted) {
            let name = object.shape.toManys[index].name
            stored = try source.destinations(of: [object.objectID], name)[object.objectID] ?? []
        }
        object.toManys[index, default: ToManyValue()].base = stored
        return value.members(of: stored)
    }

    // MARK: Bookkeeping

    /// Makes a new object with the defaults of its entity.
    func insert(_ shape: ObjectShape) throws -> ManagedObject {
        guard !shape.entity.isAbstract else {
            throw ManagedObjectError(.unknownProperty, "\(shape.name) is abstract and has no objects of its own")
        }
        let object = make(ManagedObjectID(temporaryIn: shape.temporaryFamily), shape, .inserted)
        object.attributes = shape.attributes.map(\.initialValue)
        object.toOnes = shape.toOnes.map { _ in nil }
        note(object)
        object.awakeFromInsert()
        return object
    }

    /// Takes a new object, or one that a child context made, among the inserted ones.
    func note(_ object: ManagedObject) {
        object.order = nextOrder()
        inserted.insert(object)
        news.inserted.insert(object)
    }

    func nextOrder() -> Int {
        lastOrder += 1
        return lastOrder
    }

    /// Notes that an object is about to change, after reading its values.
    func willChange(_ object: ManagedObject) throws {
        try fire(object)
        try markChanged(object)
    }

    /// Notes that an object changes; its values may stay unread, for only a to-many relationship does.
    func markChanged(_ object: ManagedObject) throws {
        guard object.status.isDisjoint(with: [.deleted, .gone]) else {
            throw ManagedObjectError(
                .objectIsGone,
                "a deleted \(object.shape.name) cannot be changed",
                objectIDs: [object.objectID]
            )
        }
        remember(object)
        if object.order == 0 { object.order = nextOrder() }
        if !object.status.contains(.inserted) { object.status.insert(.updated) }
        touched.insert(object)
    }

    func forgetInsertion(_ object: ManagedObject) { inserted.remove(object) }

    /// After a save: these are no longer inserted, updated or deleted.
    func forgetChanges(of objects: Set<ManagedObject>) {
        inserted.subtract(objects)
        updated.subtract(objects)
        deleted.subtract(objects)
        touched.subtract(objects)
    }

    /// After a roll back: nothing is inserted, updated or deleted.
    func clearChanges() {
        inserted = []
        updated = []
        deleted = []
        touched = []
        undone = []
    }

    /// Keeps an error for the next save to throw, unless one is kept already.
    func keepFailure(_ error: any Error) { failure = failure ?? error }

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

    /// Tells the observers what is new.
    func postNews() {
        guard !news.isEmpty else { return }
        let news = self.news
        self.news = ObjectsDidChange()
        for number in observers.keys.sorted() { observers[number]?(news) }
    }
}
