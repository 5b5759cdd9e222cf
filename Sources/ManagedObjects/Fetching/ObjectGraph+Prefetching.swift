internal import StoreFormat

extension ObjectGraph {
    /// Reads the destinations of a path of relationships along with the objects, with as few statements as possible.
    ///
    /// The owner of a destination holds it, as long as it is no fault itself.
    func prefetch(_ path: [String], of objects: [ManagedObject]) throws {
        // An object is held once: circles would keep each other alive.
        var seen = Set(objects)
        var owners = objects
        for name in path {
            var next: [ManagedObject] = []
            for (owner, ids) in try destinations(name, of: owners) {
                for id in ids {
                    let destination = try object(id)
                    guard seen.insert(destination).inserted else { continue }
                    owner.prefetched.append(destination)
                    next.append(destination)
                }
            }
            try holdRows(of: next.filter(\.isFault))
            owners = next
        }
    }

    private func destinations(
        _ name: String,
        of owners: [ManagedObject]
    ) throws -> [(ManagedObject, [ManagedObjectID])] {
        var result: [(ManagedObject, [ManagedObjectID])] = []
        var unread: [ManagedObject] = []
        for owner in owners {
            switch owner.shape.property(name) {
            case .toOne(let index):
                try fire(owner)
                if owner.toOnes.indices.contains(index), let id = owner.toOnes[index] { result.append((owner, [id])) }
            case .toMany(let index):
                if owner.toManys[index]?.base == nil, !owner.isInserted { unread.append(owner) }
            case .attribute:
                throw FetchError(
                    entity: owner.shape.name,
                    keyPath: name,
                    message: "an attribute is never prefetched"
                )
            case nil:
                throw FetchError(entity: owner.shape.name, keyPath: name, message: "there is no such property")
            }
        }
        let read = try source.destinations(of: unread.map(\.objectID), name)
        for owner in unread {
            guard case .toMany(let index) = owner.shape.property(name) else { continue }
            owner.toManys[index, default: ToManyValue()].base = read[owner.objectID] ?? []
        }
        for owner in owners {
            guard case .toMany(let index) = owner.shape.property(name) else { continue }
            result.append((owner, try members(of: owner, index)))
        }
        return result
    }
}
