/// The tables and columns of a store's model, matched with the actual tables.
///
/// Names are predicted by Core Data's rules and then searched; missing ones are listed as unresolved, never guessed.
/// The order of columns has no meaning.
package struct StoreLayout: Hashable, Sendable {
    /// A part of the model that the tables lack.
    package struct Unresolved: Hashable, Sendable {
        package let entity: String
        /// The property; nil for the entity itself.
        package let property: String?
        /// A lower-case fragment.
        package let reason: String
    }

    package let model: ManagedObjectModel
    /// The entities by name, without those that have no number or table.
    package private(set) var entities: [String: Entity]
    package let joinTables: [JoinTable]
    /// The missing parts, in the order of the entities' numbers.
    package let unresolved: [Unresolved]
    /// True if columns outside the model count as attributes.
    package private(set) var hasUnknownColumns = false
    private let names: [Int64: String]
    /// The names of the entities that each table can store, by the table's name in lower case, in the order of their
    /// numbers.
    private let residents: [String: [String]]
    /// The entity of each table that stores only one.
    private let soleEntities: [String: String]

    package init(model: ManagedObjectModel, schema: StoreSchema, entityNumbers: EntityNumbers) {
        var resolver = LayoutResolver(model: model, schema: schema, entityNumbers: entityNumbers.named(by: model))
        resolver.resolve()
        self.model = model
        entities = resolver.entities
        joinTables = resolver.joinTables
        unresolved = resolver.unresolved
        names = Dictionary(
            resolver.entities.values.map { ($0.number, $0.name) },
            uniquingKeysWith: { first, _ in first }
        )
        residents = Dictionary(grouping: resolver.entities.values) { $0.table.lowercased() }
            .mapValues { $0.sorted { $0.number < $1.number }.map(\.name) }
        soleEntities = Dictionary(grouping: resolver.entities.values, by: \.table)
            .compactMapValues { $0.count == 1 ? $0[0].name : nil }
    }

    /// The same layout, with each column outside the model as an attribute of its entities.
    ///
    /// Its value is the column's value. Generated columns are omitted, because SQLite computes them.
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

    /// The only entity with objects in a table; nil if several share it.
    package func soleEntity(inTable table: String) -> Entity? { soleEntities[table].flatMap { entities[$0] } }

    /// The entity of a row in a table, by the row's entity number; nil if the table does not store that entity.
    ///
    /// If a table stores one entity only, its rows belong to that entity: in genuine stores, some rows have another
    /// number.
    package func entity(ofRowNumbered number: Int64, inTable table: String) -> Entity? {
        if let sole = soleEntity(inTable: table) { return sole }
        return entity(numbered: number).flatMap { $0.table == table ? $0 : nil }
    }

    /// The entity with a number; nil if the model has no such number.
    package func entity(numbered number: Int64) -> Entity? {
        names[number].flatMap { entities[$0] }
    }

    /// The concrete and abstract entities that a table can store, in the order of their numbers.
    package func entities(inTable table: String) -> [Entity] {
        (residents[table.lowercased()] ?? []).compactMap { entities[$0] }
    }
}

extension StoreLayout {
    /// Queries whose column `name` has the names of the external files that rows refer to, one query an attribute.
    ///
    /// A reference is the byte 2, the file's name and a zero.
    package var externalFileQueries: [String] {
        entities.values.flatMap { entity in
            entity.attributes
                .filter { $0.declaredBy == entity.name && $0.description.allowsExternalBinaryDataStorage }
                .map { attribute in
                    let column = SQLName.quoted(attribute.column)
                    return "SELECT CAST(substr(\(column), 2, 36) AS TEXT) AS name FROM \(SQLName.quoted(entity.table)) "
                        + "WHERE length(\(column)) = 38 AND typeof(\(column)) = 'blob' AND substr(\(column), 1, 1) = x'02'"
                }
        }
    }
}
