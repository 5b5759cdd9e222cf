internal import StoreFormat

/// The objects that a fetch found, of which those of one batch at a time are read and held.
///
/// It holds the ids of all. Whoever looks at an object gets its batch read, and the batch before let go: an object that
/// nobody else holds is a new one the next time. An object that could not be read is a fault, and looking into it throws.
public struct BatchedObjects: RandomAccessCollection {
    /// What all copies of one result share.
    private final class Batch {
        var range = 0..<0
        var objects: [ManagedObject] = []
    }

    /// The ids of the objects, in the order of the request.
    public let objectIDs: [ManagedObjectID]
    private let request: FetchRequest
    private let graph: ObjectGraph
    private let entity: ObjectShape
    private let entities: [String: ObjectShape]
    private let batch = Batch()

    init(_ objectIDs: [ManagedObjectID], _ request: FetchRequest, in graph: ObjectGraph) throws {
        self.objectIDs = objectIDs
        self.request = request
        self.graph = graph
        let model = try graph.source.shape()
        entity = try model.entity(request.entityName)
        entities = try Dictionary(
            uniqueKeysWithValues: Set(objectIDs.map(\.entityName)).map { ($0, try model.entity($0)) }
        )
        // What cannot be prefetched is told now: later there is nobody to tell.
        for keyPath in request.relationshipKeyPathsForPrefetching {
            try entity.requireRelationships(keyPath, in: model)
        }
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { objectIDs.count }

    public subscript(position: Int) -> ManagedObject {
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
        // What cannot be read stays a fault, and says so when it is looked into.
        try? graph.read(objects, for: request)
        batch.range = range
        batch.objects = objects
    }
}

extension ObjectShape {
    /// Throws unless a key path leads through relationships and nothing else.
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
    /// Reads one batch with what is to be read along.
    fileprivate func read(_ objects: [ManagedObject], for request: FetchRequest) throws {
        if request.includesPropertyValues || !request.returnsObjectsAsFaults {
            try holdRows(of: objects.filter(\.isFault))
        }
        try complete(objects, for: request)
    }
}
