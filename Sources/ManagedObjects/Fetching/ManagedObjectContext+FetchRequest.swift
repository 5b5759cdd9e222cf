extension ManagedObjectContext {
    /// Fetches objects, by default with this context's unsaved changes.
    ///
    /// An object that is already in the context keeps its values, even if the store has newer ones.
    public func fetch<Object>(_ request: FetchRequest<Object>) throws -> [Object] {
        let request = try untyped(request)
        return try ObjectGraph.typed(graph.fetch(resolved(request)))
    }

    /// Fetches objects that are read on access, in batches of ``FetchRequest/fetchBatchSize``.
    ///
    /// The list of objects is fixed at once; their values are read batch by batch. If unsaved changes may affect the
    /// result, all rows are read once to evaluate the request.
    public func fetchInBatches<Object>(_ request: FetchRequest<Object>) throws -> BatchedObjects<Object> {
        let request = try untyped(request)
        return try BatchedObjects(graph.objectIDs(resolved(request)), request, in: graph)
    }

    /// Fetches the IDs of objects without their values.
    public func fetchObjectIDs<Object>(_ request: FetchRequest<Object>) throws -> [ManagedObjectID] {
        try graph.objectIDs(resolved(FetchRequest(request)))
    }

    /// Counts the objects that match a request.
    public func count<Object>(for request: FetchRequest<Object>) throws -> Int {
        try graph.count(resolved(FetchRequest(request)))
    }

    /// Fetches values as dictionaries, as stored.
    public func fetchDictionaries<Object>(
        _ request: FetchRequest<Object>
    ) throws -> [[String: PredicateConstant]] {
        var request = FetchRequest<ManagedObject>(request)
        request.returnsDictionaries = true
        return try graph.source.dictionaries(resolved(request).renaming(graph.permanentIDs))
    }

    /// The request for plain objects, after its class was registered.
    private func untyped<Object>(_ request: FetchRequest<Object>) throws -> FetchRequest<ManagedObject> {
        persistentStoreCoordinator.adopt(Object.self)
        return FetchRequest(request)
    }

    private func resolved(_ request: FetchRequest<ManagedObject>) throws -> ResolvedFetch {
        try request.resolved(in: graph.source.shape().model)
    }
}
