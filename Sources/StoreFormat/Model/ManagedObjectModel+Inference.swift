extension ManagedObjectModel {
    /// A model inferred from the tables alone, for stores that keep no copy of their model.
    ///
    /// Every property belongs to a root, because one table contains a whole tree; its name is the column's, in upper
    /// case. Types follow from the declared types. A to-one is recognised by its entity column, or by its index if the
    /// column has an entity's name; all other keys stay integers. Many-to-many relationships follow from their join
    /// tables.
    package static func inferred(from schema: StoreSchema, entityNumbers: EntityNumbers) -> ManagedObjectModel {
        let inference = ModelInference(schema: schema, numbers: entityNumbers)
        return ManagedObjectModel(entities: entityNumbers.modelEntries.map(inference.entity))
    }
}
