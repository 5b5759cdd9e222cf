/// Where a store keeps what its model describes: the model, matched with the tables as they are.
///
/// Names are predicted by Core Data's rules and then looked up; what is not there is listed as unresolved, never guessed.
/// The order of columns means nothing.
package struct StoreLayout: Hashable, Sendable {
    /// Something that the model describes and the tables do not show.
    package struct Unresolved: Hashable, Sendable {
        package let entity: String
        /// The property; nil when it is the entity itself.
        package let property: String?
        /// A lower-case fragment.
        package let reason: String
    }

    package let model: ManagedObjectModel
    /// The entities by name; one without a number or a table is not among them.
    package let entities: [String: Entity]
    package let joinTables: [JoinTable]
    /// What was not found, in the order of the entities' numbers.
    package let unresolved: [Unresolved]
    private let names: [Int64: String]

    package init(model: ManagedObjectModel, schema: StoreSchema, entityNumbers: EntityNumbers) {
        var resolver = LayoutResolver(model: model, schema: schema, entityNumbers: entityNumbers)
        resolver.resolve()
        self.model = model
        entities = resolver.entities
        joinTables = resolver.joinTables
        unresolved = resolver.unresolved
        names = Dictionary(
            resolver.entities.values.map { ($0.number, $0.name) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// The entity of a number; nil when the number is none of the model's.
    package func entity(numbered number: Int64) -> Entity? {
        names[number].flatMap { entities[$0] }
    }

    /// The concrete and abstract entities whose objects may lie in a table, in the order of their numbers.
    package func entities(inTable table: String) -> [Entity] {
        entities.values.filter { $0.table.lowercased() == table.lowercased() }.sorted { $0.number < $1.number }
    }
}
