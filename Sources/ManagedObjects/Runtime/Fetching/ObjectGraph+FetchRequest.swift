package import StoreFormat

extension ObjectGraph {
    /// Fetches objects, in the order of the request.
    func fetch(_ fetch: ResolvedFetch) throws -> [ManagedObject] {
        let result = try fetched(fetch.renaming(permanentIDs))
        try complete(result, for: fetch.request)
        return result
    }

    /// Refreshes, prefetches and fills fetched objects as the request demands.
    func complete(_ result: [ManagedObject], for request: FetchRequest<ManagedObject>) throws {
        if request.shouldRefreshRefetchedObjects {
            for object in result where !object.isFault && !object.hasChanges { try fireAnew(object) }
        }
        for keyPath in request.relationshipKeyPathsForPrefetching {
            try prefetch(keyPath.split(separator: ".").map(String.init), of: result)
        }
        if !request.returnsObjectsAsFaults { for object in result { try fire(object) } }
    }

    /// Fetches the IDs of objects, in the order of the request.
    func objectIDs(_ fetch: ResolvedFetch) throws -> [ManagedObjectID] {
        let fetch = fetch.renaming(permanentIDs)
        guard try isForSource(fetch) else { return try fetched(fetch).map(\.objectID) }
        return try source.objectIDs(fetch)
    }

    /// Counts the objects of a fetch.
    func count(_ fetch: ResolvedFetch) throws -> Int {
        let fetch = fetch.renaming(permanentIDs)
        guard try pendingChanges(for: fetch).isEmpty, let count = try source.count(fetch) else {
            return try fetched(fetch).count
        }
        return count
    }

    private func fetched(_ fetch: ResolvedFetch) throws -> [ManagedObject] {
        let request = fetch.request
        guard try !isForSource(fetch) else {
            guard request.includesPropertyValues || !request.returnsObjectsAsFaults else {
                return try source.objectIDs(fetch).map(object)
            }
            return try objects(for: source.rows(fetch), isFilling: !request.returnsObjectsAsFaults)
        }
        let pending = try pendingChanges(for: fetch)
        let order = FetchOrder(fetch)
        let keys = try candidates(fetch, pending).map { (object: $0, key: try order.key(of: $0)) }
            .sorted { order.precedes($0.key, $1.key) }
        let rest = keys.dropFirst(max(0, fetch.request.fetchOffset))
        return (fetch.request.fetchLimit > 0 ? rest.prefix(fetch.request.fetchLimit) : rest).map(\.object)
    }

    /// True when the source alone can answer the fetch: no unsaved change affects its result.
    private func isForSource(_ fetch: ResolvedFetch) throws -> Bool {
        try source.ordersFetches(of: fetch.request.entityName) && pendingChanges(for: fetch).isEmpty
    }

    /// The matching objects, unordered: the source's result, corrected by unsaved changes.
    private func candidates(_ fetch: ResolvedFetch, _ pending: Set<ManagedObject>) throws -> [ManagedObject] {
        let evaluator = fetch.predicate.map(PredicateEvaluator.init)
        func isWanted(_ object: ManagedObject) throws -> Bool {
            try fetch.includes(object) && object.status.isDisjoint(with: [.deleted, .gone])
                && (evaluator?.matches(object) ?? true)
        }
        // A change of another object may change the predicate's value for this one: then evaluate all objects.
        let dependencies = fetch.dependencies
        let asksAll = pending.contains { !$0.shape.lineage.isDisjoint(with: dependencies) }
        var result: [ManagedObject] = []
        var seen: Set<ManagedObject> = []
        for object in try objects(for: source.rows(fetch.windowless(withPredicate: !asksAll))) {
            let isSettled = !asksAll && !pending.contains(object)
            if try isSettled || isWanted(object) { result.append(object) }
            seen.insert(object)
        }
        for object in pending where !seen.contains(object) && fetch.includes(object) {
            // A change of a to-many relationship does not read the object, whose row may be gone.
            if try fireIfPresent(object) && isWanted(object) { result.append(object) }
        }
        return result
    }

    /// The changed objects that may affect the result of a fetch.
    private func pendingChanges(for fetch: ResolvedFetch) throws -> Set<ManagedObject> {
        guard fetch.request.includesPendingChanges else { return [] }
        try processPendingChanges()
        let entities = fetch.dependencies.union([fetch.request.entityName])
        return inserted.union(updated).union(touched).union(deleted)
            .filter { !$0.shape.lineage.isDisjoint(with: entities) }
    }

    /// Gives an object without changes the values just read.
    private func fireAnew(_ object: ManagedObject) throws {
        guard let row = try source.row(of: object.objectID, maximumAge: nil) else { return }
        fill(object, from: row)
    }
}

extension ResolvedFetch {
    /// True for an object of a requested entity.
    func includes(_ object: ManagedObject) -> Bool {
        request.includesSubentities
            ? object.shape.lineage.contains(request.entityName) : object.shape.name == request.entityName
    }
}

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
                owner.ownValues().prefetched[name] = destinations.filter { hold($0, by: owner) }
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
                if let id = owner.toOne(index) { result.append((owner, [id])) }
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
            owner.ownValues().toManys[index, default: ToManyValue()].base = read[owner.objectID] ?? []
        }
        for owner in owners {
            guard case .toMany(let index) = owner.shape.property(name) else { continue }
            result.append((owner, try members(of: owner, index)))
        }
        return result
    }
}

/// A parent's results for fetches of its children: with its unsaved changes, order and limit applied.
extension ManagedObjectContext {
    nonisolated func rows(_ fetch: ResolvedFetch) throws -> [RowSnapshot] {
        try performAndWait { context in
            try context.graph.fetch(fetch).compactMap { try context.graph.snapshot(of: $0.objectID) }
        }
    }

    nonisolated func objectIDs(_ fetch: ResolvedFetch) throws -> [ManagedObjectID] {
        try performAndWait { context in try context.graph.objectIDs(fetch) }
    }

    nonisolated func ordersFetches(of entity: String) -> Bool { true }

    nonisolated func count(_ fetch: ResolvedFetch) throws -> Int? {
        try performAndWait { context in try context.graph.count(fetch) }
    }

    nonisolated func dictionaries(_ fetch: ResolvedFetch) throws -> [[String: PredicateConstant]] {
        try persistentStoreCoordinator.dictionaries(fetch)
    }
}

extension ManagedObject: PredicateSubject {
    package var predicateOrder: Int { order }

    package func predicateEntityName() throws -> String? {
        // Only the row determines the concrete entity, and whether the object exists.
        try graph?.fire(self)
        return base == nil && !isInserted ? nil : shape.name
    }

    package func predicateID(since temporary: ManagedObjectID) -> ManagedObjectID? { graph?.permanentIDs[temporary] }

    package func predicateValue(of attribute: String) throws -> AttributeValue { try rawValue(forKey: attribute) }

    package func predicateDestinationID(of relationship: String) throws -> ManagedObjectID? {
        try objectIDs(forRelationshipNamed: relationship).first
    }

    package func predicateDestination(of relationship: String) throws -> (any PredicateSubject)? {
        try object(forKey: relationship)
    }

    package func predicateDestinations(of relationship: String) throws -> [any PredicateSubject] {
        try objects(forKey: relationship)
    }
}
