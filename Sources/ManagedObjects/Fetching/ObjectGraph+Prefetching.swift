internal import StoreFormat

extension ObjectGraph {
    /// Reads the destinations along a path of relationships, in as few statements as possible.
    ///
    /// An owner retains its destinations until it becomes a fault.
    func prefetch(_ path: [String], of objects: [ManagedObject]) throws {
        var seen = Set(objects)
        var owners = objects
        for name in path {
            var next: [ManagedObject] = []
            for (owner, ids) in try destinations(name, of: owners) {
                let destinations = try ids.map(object)
                owner.prefetched[name] = destinations.filter { hold($0, by: owner) }
                next += destinations.filter { seen.insert($0).inserted }
            }
            try holdRows(of: next.filter(\.isFault))
            owners = next
        }
    }

    /// True when an owner may retain a destination.
    ///
    /// A retained destination has a greater depth, which prevents retain cycles.
    private func hold(_ destination: ManagedObject, by owner: ManagedObject) -> Bool {
        if destination.depth > owner.depth { return true }
        guard destination !== owner, destination.prefetched.isEmpty, owner.depth < .max else { return false }
        destination.depth = owner.depth + 1
        return true
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
                    message: "an attribute cannot be prefetched"
                )
            case nil:
                throw FetchError(entity: owner.shape.name, keyPath: name, message: "there is no such property")
            }
        }
        let read = try source.destinations(of: unread.map(\.objectID), name)
        if !unread.isEmpty { mayHaveDestinations = true }
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
