extension ManagedObjectModel {
    /// What the tables alone tell of a model, for stores that keep no copy of it.
    ///
    /// Every property belongs to a root, for one table holds a whole tree; its name is the column's, in upper case. Types follow
    /// from the declared types. A to-one is recognised by its entity column, or by its index where it bears an entity's
    /// name; all other keys stay integers. Many-to-many relationships follow from their join tables.
    package static func inferred(from schema: StoreSchema, entityNumbers: EntityNumbers) -> ManagedObjectModel {
        let inference = ModelInference(schema: schema, numbers: entityNumbers)
        return ManagedObjectModel(entities: entityNumbers.modelEntries.map(inference.entity))
    }
}
