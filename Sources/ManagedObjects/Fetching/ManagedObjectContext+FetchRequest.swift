extension ManagedObjectContext {
    /// Fetches objects, by default with this context's unsaved changes.
    ///
    /// An object that is already in the context keeps its values, even if the store has newer ones.
    public func fetch(_ request: FetchRequest) throws -> [ManagedObject] {
        try graph.fetch(resolved(request))
    }

    /// Fetches objects that are read on access, in batches of ``FetchRequest/fetchBatchSize``.
    ///
    /// The list of objects is fixed at once; their values are read batch by batch. If unsaved changes may affect the
    /// result, all rows are read once to evaluate the request.
    public func fetchInBatches(_ request: FetchRequest) throws -> BatchedObjects {
        try BatchedObjects(graph.objectIDs(resolved(request)), request, in: graph)
    }

    /// Fetches the IDs of objects without their values.
    public func fetchObjectIDs(_ request: FetchRequest) throws -> [ManagedObjectID] {
        try graph.objectIDs(resolved(request))
    }

    /// Counts the objects that match a request.
    public func count(for request: FetchRequest) throws -> Int {
        try graph.count(resolved(request))
    }

    /// Fetches values as dictionaries, as stored.
    public func fetchDictionaries(_ request: FetchRequest) throws -> [[String: PredicateConstant]] {
        var request = request
        request.returnsDictionaries = true
        return try graph.source.dictionaries(resolved(request).renaming(graph.permanentIDs))
    }

    private func resolved(_ request: FetchRequest) throws -> ResolvedFetch {
        try request.resolved(in: graph.source.shape().model)
    }
}
