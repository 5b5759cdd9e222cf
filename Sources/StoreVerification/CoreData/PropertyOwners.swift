import StoreFormat

/// The properties of a layout, each once, with the numbers of the entities whose objects have it.
struct PropertyOwners {
    private(set) var attributes: [CoreDataStore.Attribute] = []
    private(set) var toOnes: [CoreDataStore.ToOne] = []
    private(set) var joins: [CoreDataStore.Join] = []
    private(set) var constraints: [CoreDataStore.Constraint] = []
    private(set) var historyColumnLengths: [Int64: Int] = [:]
    private let layout: StoreLayout
    private let numbers: EntityNumbers

    init(_ layout: StoreLayout, _ numbers: EntityNumbers) {
        self.layout = layout
        self.numbers = numbers
        for entity in layout.entities.values.sorted(by: { $0.number < $1.number }) {
            let entities = numbers.subtree(of: entity.number)
            for attribute in entity.attributes where attribute.declaredBy == entity.name {
                attributes.append(
                    .init(
                        entity: entity.name,
                        entities: entities,
                        table: entity.table,
                        column: attribute.column,
                        attribute: attribute.description
                    )
                )
            }
            for relationship in entity.relationships where relationship.declaredBy == entity.name {
                add(relationship, of: entity, entities)
            }
            for names in layout.model.entitiesByName[entity.name]?.uniquenessConstraints ?? [] {
                add(names, of: entity, entities)
            }
            historyColumnLengths[entity.number] = entity.historySlots.byteCount
        }
        for table in layout.joinTables {
            let sides = [table.first, table.second].compactMap(side)
            if sides.count == 2 { joins.append(.init(table: table.name, sides: sides)) }
        }
    }

    private mutating func add(
        _ relationship: StoreLayout.Relationship,
        of entity: StoreLayout.Entity,
        _ entities: [Int64]
    ) {
        guard let destination = layout.entities[relationship.description.destination] else { return }
        let destinationEntities = numbers.subtree(of: destination.number)
        switch relationship.storage {
        case .toOne(let key):
            let inverse = relationship.description.inverse.flatMap(destination.relationship)
            var inverseColumn: String?
            if case .toOne(let key)? = inverse?.storage { inverseColumn = key.column }
            toOnes.append(
                .init(
                    entity: entity.name,
                    entities: entities,
                    table: entity.table,
                    name: relationship.description.name,
                    column: key.column,
                    entityColumn: key.entityColumn,
                    orderColumn: key.orderColumn,
                    destinationTable: destination.table,
                    destinationEntities: destinationEntities,
                    inverseColumn: inverseColumn
                )
            )
        case .oneToMany(let table, let key) where relationship.description.inverse == nil:
            // The rows of the destination have a key column that no relationship of their entity names.
            toOnes.append(
                .init(
                    entity: entity.name,
                    entities: destinationEntities,
                    table: table,
                    name: relationship.description.name,
                    column: key.column,
                    entityColumn: key.entityColumn,
                    orderColumn: key.orderColumn,
                    destinationTable: entity.table,
                    destinationEntities: entities,
                    inverseColumn: nil
                )
            )
        case .oneToMany, .manyToMany: break
        }
    }

    private mutating func add(_ names: [String], of entity: StoreLayout.Entity, _ entities: [Int64]) {
        var columns: [String] = []
        for name in names {
            if let attribute = entity.attribute(name) {
                columns.append(attribute.column)
            } else if case .toOne(let key)? = entity.relationship(name)?.storage {
                columns.append(key.column)
            }
        }
        guard !names.isEmpty, columns.count == names.count else { return }
        constraints.append(
            .init(entity: entity.name, entities: entities, table: entity.table, names: names, columns: columns)
        )
    }

    private func side(_ side: StoreLayout.JoinTable.Side) -> CoreDataStore.Join.Side? {
        guard let entity = layout.entities[side.entity] else { return nil }
        return .init(
            column: side.column,
            entity: entity.name,
            entities: numbers.subtree(of: entity.number),
            table: entity.table,
            orderColumn: side.orderColumn
        )
    }
}
