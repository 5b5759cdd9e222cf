internal import StoreFormat

extension ObjectGraph {
    /// The objects that a fetch asks for, in its order.
    func fetch(_ fetch: ResolvedFetch) throws -> [ManagedObject] {
        let result = try fetched(fetch.renaming(permanentIDs))
        try complete(result, for: fetch.request)
        return result
    }

    /// Refreshes, reads along, and fills what was fetched, as far as the request asks for it.
    func complete(_ result: [ManagedObject], for request: FetchRequest) throws {
        if request.shouldRefreshRefetchedObjects {
            for object in result where !object.isFault && !object.hasChanges { try fireAnew(object) }
        }
        for keyPath in request.relationshipKeyPathsForPrefetching {
            try prefetch(keyPath.split(separator: ".").map(String.init), of: result)
        }
        if !request.returnsObjectsAsFaults { for object in result { try fire(object) } }
    }

    /// The ids of the objects that a fetch asks for, in its order.
    func objectIDs(_ fetch: ResolvedFetch) throws -> [ManagedObjectID] {
        let fetch = fetch.renaming(permanentIDs)
        guard try isForSource(fetch) else { return try fetched(fetch).map(\.objectID) }
        return try source.objectIDs(fetch)
    }

    /// The number of objects that a fetch asks for.
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

    /// True for a fetch whose result the source knows: nothing that was changed here bears on it.
    private func isForSource(_ fetch: ResolvedFetch) throws -> Bool {
        try source.ordersFetches(of: fetch.request.entityName) && pendingChanges(for: fetch).isEmpty
    }

    /// The objects that match, in no order: what the store says, corrected by what was changed here.
    private func candidates(_ fetch: ResolvedFetch, _ pending: Set<ManagedObject>) throws -> [ManagedObject] {
        let evaluator = fetch.predicate.map(PredicateEvaluator.init)
        func isWanted(_ object: ManagedObject) throws -> Bool {
            try fetch.includes(object) && object.status.isDisjoint(with: [.deleted, .gone])
                && (evaluator?.matches(object) ?? true)
        }
        // A change of another object can change what the predicate says of this one: then all are asked.
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

    /// The changed objects that may change what a fetch returns.
    private func pendingChanges(for fetch: ResolvedFetch) throws -> Set<ManagedObject> {
        guard fetch.request.includesPendingChanges else { return [] }
        try processPendingChanges()
        let entities = fetch.dependencies.union([fetch.request.entityName])
        return inserted.union(updated).union(touched).union(deleted)
            .filter { !$0.shape.lineage.isDisjoint(with: entities) }
    }

    /// Gives an object that has no changes the values that were just read.
    private func fireAnew(_ object: ManagedObject) throws {
        guard let row = try source.row(of: object.objectID, maximumAge: nil) else { return }
        fill(object, from: row)
    }
}

extension ResolvedFetch {
    /// True for an object of an entity that is asked for.
    func includes(_ object: ManagedObject) -> Bool {
        request.includesSubentities
            ? object.shape.lineage.contains(request.entityName) : object.shape.name == request.entityName
    }
}
