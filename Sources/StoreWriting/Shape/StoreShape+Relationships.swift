import StoreFormat

extension StoreShape {
    /// Adds the table of each many-to-many relationship, named for one of its two sides.
    ///
    /// Core Data's choice of side is not derivable; ours is the side with the smaller entity number, and between two
    /// relationships of one entity the ordered one, then the first by name.
    mutating func addJoinTables() throws(StoreError) {
        for entity in numbering.names {
            for relationship in (model.entities[entity]?.relationships ?? []).inByteOrder {
                guard let inverse = inverse(of: relationship), relationship.isToMany, inverse.isToMany,
                    !relationship.isTransient
                else { continue }
                let other = declaringEntity(of: inverse.name, from: relationship.destination)
                guard isNamingSide((entity, relationship), (other, inverse)) else { continue }
                addJoinTable((entity, relationship), (other, inverse))
            }
        }
    }

    /// The second column of the table of a relationship that is its own inverse.
    static var reflexiveColumn: String { "REFLEXIVE" }

    private typealias Side = (entity: String, relationship: RelationshipDescription)

    private func isNamingSide(_ side: Side, _ other: Side) -> Bool {
        let (left, right) = (number(of: side.entity), number(of: other.entity))
        if left != right { return left < right }
        if side.relationship.isOrdered != other.relationship.isOrdered { return side.relationship.isOrdered }
        return !other.relationship.name.utf8.lexicographicallyPrecedes(side.relationship.name.utf8)
    }

    /// Each column is named by the entity whose keys it holds and the relationship that leads there.
    private mutating func addJoinTable(_ side: Side, _ other: Side) {
        let forward = side.relationship.name.uppercased()
        let backward = other.relationship.name.uppercased()
        let isReflexive = side.entity == other.entity && forward == backward
        let owner = "Z_\(number(of: side.entity))\(backward)"
        let destination = isReflexive ? Self.reflexiveColumn : "Z_\(number(of: other.entity))\(forward)"
        let order = side.relationship.isOrdered ? "Z_FOK_\(number(of: other.entity))\(forward)" : nil
        let inverseOrder =
            other.relationship.isOrdered && !isReflexive ? "Z_FOK_\(number(of: side.entity))\(backward)" : nil
        let table = "Z_\(number(of: side.entity))\(forward)"
        let columns = [owner, destination] + [inverseOrder, order].compactMap { $0 }
        tables.append(
            Table(
                name: table,
                columns: columns.map { Column(name: $0, type: "INTEGER") },
                joinKey: [owner, destination]
            )
        )
        joins[[side.entity, side.relationship.name]] = .manyToMany(
            table: table,
            ownerColumn: owner,
            destinationColumn: destination,
            orderColumn: order,
            inverseOrderColumn: inverseOrder
        )
        if !isReflexive {
            joins[[other.entity, other.relationship.name]] = .manyToMany(
                table: table,
                ownerColumn: destination,
                destinationColumn: owner,
                orderColumn: inverseOrder,
                inverseOrderColumn: order
            )
        }
    }

    /// Tells each entity where its properties are, and in which order history numbers them.
    mutating func completeEntities() {
        for name in numbering.names {
            guard var entity = entities[name] else { continue }
            let lineage = model.lineage(of: name)
            for ancestor in lineage {
                for attribute in ancestor.attributes {
                    let purpose = ColumnPurpose.attribute(entity: ancestor.name, name: attribute.name)
                    if let column = columnNames[purpose] { entity.attributes[attribute.name] = (column, attribute) }
                }
                for relationship in ancestor.relationships {
                    if let storage = storage(of: relationship, declaredBy: ancestor.name) {
                        entity.relationships[relationship.name] = (storage, relationship)
                    }
                }
            }
            entity.historySlots = historySlots(lineage, entity)
            entity.tombstoneAttributes = tombstoneAttributes(lineage)
            entities[name] = entity
        }
    }

    private func storage(of relationship: RelationshipDescription, declaredBy entity: String) -> RelationshipStorage? {
        let name = relationship.name
        if !relationship.isToMany {
            guard let column = columnNames[.key(entity: entity, name: name)] else { return nil }
            return .toOne(
                column: column,
                entityColumn: columnNames[.concreteEntity(entity: entity, name: name)],
                orderColumn: columnNames[.order(entity: entity, name: name)]
            )
        }
        if let join = joins[[entity, name]] { return join }
        let destinationTable = numbering.root(of: relationship.destination).map { "Z" + $0.uppercased() } ?? ""
        guard let inverse = inverse(of: relationship) else {
            guard let column = columnNames[.keyOfMissingInverse(entity: entity, name: name)] else { return nil }
            return .oneToMany(
                destinationTable: destinationTable,
                column: column,
                entityColumn: nil,
                orderColumn: columnNames[.orderOfMissingInverse(entity: entity, name: name)]
            )
        }
        let declaring = declaringEntity(of: inverse.name, from: relationship.destination)
        guard let column = columnNames[.key(entity: declaring, name: inverse.name)] else { return nil }
        return .oneToMany(
            destinationTable: destinationTable,
            column: column,
            entityColumn: columnNames[.concreteEntity(entity: declaring, name: inverse.name)],
            orderColumn: columnNames[.order(entity: declaring, name: inverse.name)]
        )
    }

    /// The order of COREDATA §1.8: in each group inherited properties first, then by the bytes of the name.
    private func historySlots(_ lineage: [EntityDescription], _ entity: Entity) -> [HistorySlot] {
        let relationships = lineage.flatMap { $0.relationships.inByteOrder.map(\.name) }
        let attributes = lineage.flatMap { $0.attributes.inByteOrder.map(\.name) }
        var groups: [[HistorySlot]] = Array(repeating: [], count: 5)
        for name in relationships {
            switch entity.relationships[name]?.storage {
            case .toOne(_, let entityColumn, let orderColumn):
                groups[0].append(.toOneKey(name))
                if entityColumn != nil { groups[1].append(.toOneEntity(name)) }
                if orderColumn != nil { groups[2].append(.toOneOrder(name)) }
            case .oneToMany: groups[3].append(.oneToMany(name))
            case .manyToMany: groups[4].append(.manyToMany(name))
            case nil: break
            }
        }
        let columns = attributes.filter { entity.attributes[$0] != nil }.map { HistorySlot.attribute($0) }
        return groups[0] + groups[1] + groups[2] + columns + groups[3] + groups[4]
    }

    private func tombstoneAttributes(_ lineage: [EntityDescription]) -> [String] {
        lineage.flatMap(\.attributes).filter { $0.preservesValueInHistoryOnDeletion && !$0.isTransient }.map(\.name)
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
