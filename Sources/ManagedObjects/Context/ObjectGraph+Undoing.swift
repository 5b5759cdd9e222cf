internal import StoreFormat

/// What an object was before a change that may have to be undone.
struct ObjectMemory {
    private let status: ManagedObject.Status
    private let objectID: ManagedObjectID
    private let shape: ObjectShape
    private let base: RowSnapshot?
    private let attributes: [AttributeValue]
    private let toOnes: [ManagedObjectID?]
    private let toManys: [Int: ToManyValue]
    private let changed: Set<ObjectShape.Property>
    private let order: Int

    init(_ object: ManagedObject) {
        status = object.status
        objectID = object.objectID
        shape = object.shape
        base = object.base
        attributes = object.attributes
        toOnes = object.toOnes
        toManys = object.toManys
        changed = object.changed
        order = object.order
    }

    func restore(_ object: ManagedObject, in graph: ObjectGraph) {
        // A row that was read meanwhile stays counted.
        object.status = status.union(object.status.intersection(.holdsRow))
        object.objectID = objectID
        object.shape = shape
        object.base = base
        object.attributes = attributes
        object.toOnes = toOnes
        object.toManys = toManys
        object.changed = changed
        object.order = order
        if object.graph == nil { graph.register(object) }
    }
}

extension ObjectGraph {
    /// Calls `body`, which changes objects; when it throws, they are as they were.
    func undoingOnFailure<R>(_ body: () throws -> R) throws -> R {
        let before = (inserted, updated, deleted, touched, undone, news)
        memories = [:]
        defer { memories = nil }
        do {
            return try body()
        } catch {
            let new = inserted.subtracting(before.0)
            for (object, memory) in memories ?? [:] where !new.contains(object) { memory.restore(object, in: self) }
            for object in new { dismiss(object) }
            (inserted, updated, deleted, touched, undone, news) = before
            throw error
        }
    }

    /// Remembers what an object is, if somebody may want it back, before it changes for the first time.
    func remember(_ object: ManagedObject) {
        if memories != nil, memories?[object] == nil { memories?[object] = ObjectMemory(object) }
    }
}
