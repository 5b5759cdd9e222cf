internal import StoreFormat

/// The result of a fetch whose objects are read and retained one batch at a time.
///
/// It contains the IDs of all objects. Accessing an object reads its batch and releases the previous one; an object
/// without another owner is a new instance on its next access. An object that could not be read is a fault, and
/// accessing its values throws.
public struct BatchedObjects<Object: ManagedObject>: RandomAccessCollection {
    /// The state that copies of a result share.
    private final class Batch {
        var range = 0..<0
        var objects: [Object] = []
    }

    /// The IDs of the objects, in the order of the request.
    public let objectIDs: [ManagedObjectID]
    private let request: FetchRequest<ManagedObject>
    private let graph: ObjectGraph
    private let entity: ObjectShape
    private let entities: [String: ObjectShape]
    private let batch = Batch()

    init(_ objectIDs: [ManagedObjectID], _ request: FetchRequest<ManagedObject>, in graph: ObjectGraph) throws {
        self.objectIDs = objectIDs
        self.request = request
        self.graph = graph
        let model = try graph.source.shape()
        entity = try model.entity(request.entityName)
        entities = try Dictionary(
            uniqueKeysWithValues: Set(objectIDs.map(\.entityName)).map { ($0, try model.entity($0)) }
        )
        // Report a wrong class or an invalid prefetching path now: the subscript cannot throw.
        for shape in entities.values {
            try ObjectGraph.require(Object.self, graph.source.type(of: shape), of: shape.name)
        }
        // An object that is in the context already may be older than the registration of its class.
        for id in objectIDs where Object.self != ManagedObject.self {
            guard let object = graph.registered(id) else { continue }
            try ObjectGraph.require(Object.self, type(of: object), of: id.entityName)
        }
        for keyPath in request.relationshipKeyPathsForPrefetching {
            try entity.requireRelationships(keyPath, in: model)
        }
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { objectIDs.count }

    public subscript(position: Int) -> Object {
        if !batch.range.contains(position) { read(around: position) }
        return batch.objects[position - batch.range.lowerBound]
    }

    private func read(around position: Int) {
        let size = request.fetchBatchSize > 0 ? request.fetchBatchSize : Swift.max(1, objectIDs.count)
        let start = position - position % size
        let range = start..<start + Swift.min(size, objectIDs.count - start)
        let objects = objectIDs[range]
            .map { id in
                graph.registered(id) ?? graph.make(id, entities[id.entityName] ?? entity, .fault)
            }
        // An object that cannot be read stays a fault and throws on access.
        try? graph.read(objects, for: request)
        batch.range = range
        batch.objects = objects.map { object in
            guard let object = object as? Object else {
                preconditionFailure("another class was registered for \(request.entityName) after the fetch")
            }
            return object
        }
    }
}

extension ObjectShape {
    /// Throws unless all components of a key path are relationships.
    fileprivate func requireRelationships(_ keyPath: String, in model: ModelShape) throws {
        var shape = self
        for name in keyPath.split(separator: ".").map(String.init) {
            guard let relationship = shape.property(name).flatMap(shape.relationship) else {
                throw FetchError(
                    entity: shape.name,
                    keyPath: name,
                    message: "there is no such relationship to prefetch"
                )
            }
            shape = try model.entity(relationship.destination)
        }
    }
}

extension ObjectGraph {
    /// Reads one batch and its prefetched relationships.
    fileprivate func read(_ objects: [ManagedObject], for request: FetchRequest<ManagedObject>) throws {
        if request.includesPropertyValues || !request.returnsObjectsAsFaults {
            try holdRows(of: objects.filter(\.isFault))
        }
        try complete(objects, for: request)
    }
}
