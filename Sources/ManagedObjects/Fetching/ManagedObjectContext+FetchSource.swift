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
