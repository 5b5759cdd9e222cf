import StoreFormat

extension StoreShape {
    /// Adds the table of each many-to-many relationship, named for one of its two sides.
    ///
    /// Core Data's choice of side is not derivable. Ours is the side with the smaller entity number, and between two
    /// relationships of one entity the ordered one, then the first by name.
    mutating func addJoinTables() throws(StoreError) {
        for entity in numbering.names {
            for relationship in (model.entitiesByName[entity]?.relationships ?? []).inByteOrder {
                guard let inverse = inverse(of: relationship), relationship.isToMany, inverse.isToMany,
                    !relationship.isTransient
                else { continue }
                let other = declaringEntity(of: inverse.name, from: relationship.destination)
                guard isNamingSide((entity, relationship), (other, inverse)) else { continue }
                addJoinTable((entity, relationship), (other, inverse))
            }
        }
    }

    /// The second column of the table of a symmetric relationship.
    static var reflexiveColumn: String { "REFLEXIVE" }

    private typealias Side = (entity: String, relationship: RelationshipDescription)

    private func isNamingSide(_ side: Side, _ other: Side) -> Bool {
        func owns(_ side: Side) -> Bool {
            joinTableOwners.contains(JoinTableOwner(entity: side.entity, relationship: side.relationship.name))
        }
        if owns(side) != owns(other) { return owns(side) }
        let (left, right) = (number(of: side.entity), number(of: other.entity))
        if left != right { return left < right }
        if side.relationship.isOrdered != other.relationship.isOrdered { return side.relationship.isOrdered }
        return !other.relationship.name.utf8.lexicographicallyPrecedes(side.relationship.name.utf8)
    }

    /// The name of a column, with the next digit if another join table has a column of this name.
    private mutating func joinColumn(_ name: String) -> String {
        let count = joinColumnUses[name, default: 0]
        joinColumnUses[name] = count + 1
        return "Z_" + name + (count > 0 ? String(count) : "")
    }

    /// Each column is named by the entity whose keys it contains and the relationship that refers to it.
    private mutating func addJoinTable(_ side: Side, _ other: Side) {
        let forward = side.relationship.name.uppercased()
        let backward = other.relationship.name.uppercased()
        let isReflexive = side.entity == other.entity && forward == backward
        let owner = joinColumn("\(number(of: side.entity))\(backward)")
        let destination = isReflexive ? Self.reflexiveColumn : joinColumn("\(number(of: other.entity))\(forward)")
        let order =
            side.relationship.isOrdered
            ? "Z_FOK_" + (isReflexive ? "\(number(of: other.entity))\(forward)" : String(destination.dropFirst(2)))
            : nil
        let inverseOrder = other.relationship.isOrdered && !isReflexive ? "Z_FOK_" + owner.dropFirst(2) : nil
        let table = "Z_\(number(of: side.entity))\(forward)"
        let columns = [owner, destination] + [inverseOrder, order].compactMap { $0 }
        tables.append(
            Table(
                name: table,
                columns: columns.map { Column(name: $0, type: "INTEGER") },
                joinKey: [owner, destination]
            )
        )
    }
}
