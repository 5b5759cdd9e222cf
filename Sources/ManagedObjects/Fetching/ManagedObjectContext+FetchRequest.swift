extension ManagedObjectContext {
    /// The objects that a request asks for, changes of this context included unless the request says otherwise.
    ///
    /// An object that the context has already keeps the values it has there, even if the store has newer ones.
    public func fetch(_ request: FetchRequest) throws -> [ManagedObject] {
        try graph.fetch(resolved(request))
    }

    /// The ids of the objects that a request asks for.
    public func fetchObjectIDs(_ request: FetchRequest) throws -> [ManagedObjectID] {
        try graph.fetch(resolved(request)).map(\.objectID)
    }

    /// How many objects a request asks for.
    public func count(for request: FetchRequest) throws -> Int {
        try graph.count(resolved(request))
    }

    /// The values that a request of ``FetchRequest/ResultType/dictionaries`` asks for, as the store has them.
    public func fetchDictionaries(_ request: FetchRequest) throws -> [[String: PredicateConstant]] {
        var request = request
        request.resultType = .dictionaries
        return try graph.source.dictionaries(resolved(request).renaming(graph.permanentIDs))
    }

    private func resolved(_ request: FetchRequest) throws -> ResolvedFetch {
        try request.resolved(in: graph.source.shape().model)
    }
}
