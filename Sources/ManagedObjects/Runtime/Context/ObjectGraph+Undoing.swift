/// The state of an object before a change that may be undone.
struct ObjectMemory {
    private let status: ManagedObject.Status
    private let objectID: ManagedObjectID
    private let shape: ObjectShape
    private let content: ObjectContent

    init(_ object: ManagedObject) {
        status = object.status
        objectID = object.objectID
        shape = object.shape
        content = object.content.copied()
    }

    func restore(_ object: ManagedObject, in graph: ObjectGraph) {
        // Keep the retain of a row that was read since.
        object.status = status.union(object.status.intersection(.holdsRow))
        object.objectID = objectID
        object.shape = shape
        let prefetched = object.prefetched
        object.content = content
        if !prefetched.isEmpty { object.ownValues().prefetched = prefetched }
        if object.graph == nil { graph.register(object) }
    }
}

extension ObjectGraph {
    /// Calls `body`, which changes objects; restores them when it throws.
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

    /// Records an object's state before its first change, while undoing is possible.
    func remember(_ object: ManagedObject) {
        if memories != nil, memories?[object] == nil { memories?[object] = ObjectMemory(object) }
    }
}
