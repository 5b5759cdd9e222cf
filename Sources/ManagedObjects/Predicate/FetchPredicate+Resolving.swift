package import StoreFormat

extension FetchPredicate {
    /// Resolves the predicate's names in a model for objects of an entity; throws for names that do not fit.
    package func resolved(
        for entity: String,
        in model: ManagedObjectModel
    ) throws(FetchError) -> ResolvedPredicate {
        guard model.entitiesByName[entity] != nil else { throw FetchError(unknown: entity, in: model) }
        let resolver = PredicateResolver(model: model, entity: entity)
        return ResolvedPredicate(entity: entity, node: try resolver.node(node))
    }
}
