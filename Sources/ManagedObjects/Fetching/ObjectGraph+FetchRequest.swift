internal import StoreFormat

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
        for object in pending where !seen.contains(object) {
            if try isWanted(object) { result.append(object) }
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
