extension ManagedObjectContext {
    /// The objects that a query asks for, as the store has them.
    package func objects(_ query: RowQuery) throws -> [ManagedObject] { try graph.objects(query) }
}
