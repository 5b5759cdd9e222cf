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
    package private(set) var entities: [String: Entity]
    package let joinTables: [JoinTable]
    /// What was not found, in the order of the entities' numbers.
    package let unresolved: [Unresolved]
    /// True where columns that the model does not know count as attributes.
    package private(set) var hasUnknownColumns = false
    private let names: [Int64: String]
    /// The one entity of each table that holds one only.
    private let soleEntities: [String: String]

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
        soleEntities = Dictionary(grouping: resolver.entities.values, by: \.table)
            .compactMapValues { $0.count == 1 ? $0[0].name : nil }
    }

    /// The same with each column of an entity's table that the model does not know as an attribute of its entities.
    ///
    /// Its value is whatever the column holds. SQLite computes generated columns, which are left out.
    package func addingUnknownColumns(of schema: StoreSchema) -> StoreLayout {
        var result = self
        result.hasUnknownColumns = true
        for (table, entities) in Dictionary(grouping: entities.values, by: \.table) {
            var known: Set<String> = ["Z_PK", "Z_ENT", "Z_OPT"]
            for entity in self.entities.values {
                if entity.table == table { known.formUnion(entity.attributes.map { $0.column.uppercased() }) }
                for relationship in entity.relationships {
                    known.formUnion(relationship.columns(in: table, of: entity).map { $0.uppercased() })
                }
            }
            let columns = schema.table(named: table)?.columns ?? []
            let unknown = columns.filter { !$0.isGenerated && !known.contains($0.name.uppercased()) }
            for entity in entities where !unknown.isEmpty {
                result.entities[entity.name] = entity.adding(unknown.map { Attribute(unknown: $0, of: entity) })
            }
        }
        return result
    }

    /// The entity whose objects alone lie in a table; nil where several share it.
    package func soleEntity(inTable table: String) -> Entity? { soleEntities[table].flatMap { entities[$0] } }

    /// The entity of a row in a table, by the number that the row bears; nil when that is of no entity of the table.
    ///
    /// Where a table holds one entity only, its rows are of that one whatever they bear: in genuine stores, some bear another.
    package func entity(ofRowNumbered number: Int64, inTable table: String) -> Entity? {
        if let sole = soleEntity(inTable: table) { return sole }
        return entity(numbered: number).flatMap { $0.table == table ? $0 : nil }
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
