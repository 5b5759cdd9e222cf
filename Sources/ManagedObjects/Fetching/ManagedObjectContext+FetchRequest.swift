extension ManagedObjectContext {
    /// The objects that a request asks for, changes of this context included unless the request says otherwise.
    ///
    /// An object that the context has already keeps the values it has there, even if the store has newer ones.
    public func fetch(_ request: FetchRequest) throws -> [ManagedObject] {
        try graph.fetch(resolved(request))
    }

    /// The objects that a request asks for, read in batches of ``FetchRequest/fetchBatchSize`` as they are looked at.
    ///
    /// Which objects there are is settled at once; what is in them is read batch by batch. Where the context has changes
    /// that may bear on the result, all rows are read once to find out.
    public func fetchInBatches(_ request: FetchRequest) throws -> BatchedObjects {
        try BatchedObjects(graph.objectIDs(resolved(request)), request, in: graph)
    }

    /// The ids of the objects that a request asks for; nothing else is read of them.
    public func fetchObjectIDs(_ request: FetchRequest) throws -> [ManagedObjectID] {
        try graph.objectIDs(resolved(request))
    }

    /// How many objects a request asks for.
    public func count(for request: FetchRequest) throws -> Int {
        try graph.count(resolved(request))
    }

    /// The values that a request asks for, as the store has them.
    public func fetchDictionaries(_ request: FetchRequest) throws -> [[String: PredicateConstant]] {
        var request = request
        request.returnsDictionaries = true
        return try graph.source.dictionaries(resolved(request).renaming(graph.permanentIDs))
    }

    private func resolved(_ request: FetchRequest) throws -> ResolvedFetch {
        try request.resolved(in: graph.source.shape().model)
    }
}
