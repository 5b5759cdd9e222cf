package import StoreAccess
package import StoreFormat

/// The tables, columns and indexes that Core Data creates for a model.
///
/// It is derived from the model alone, so it describes new stores. A genuine store may differ, because migration
/// appends columns and the side that names a join table is not derivable (COREDATA §1.5). ``StoreLayout`` describes the
/// actual tables of an existing store.
package struct StoreShape: Sendable {
    /// A column with its declared type.
    package struct Column: Hashable, Sendable {
        package let name: String
        package let type: String
    }

    /// A table of entities or of a many-to-many relationship.
    package struct Table: Hashable, Sendable {
        package let name: String
        package var columns: [Column]
        /// The columns of the primary key of a join table; nil for an entity table, whose key is `Z_PK`.
        package let joinKey: [String]?

        /// The same table under another name, with further columns.
        package func named(_ other: String, adding more: [StoreSchema.Column] = []) -> Table {
            Table(
                name: other,
                columns: columns + more.map { Column(name: $0.name, type: $0.declaredType) },
                joinKey: joinKey
            )
        }
    }

    /// An index, with the statement that creates it.
    package struct Index: Hashable, Sendable {
        package let name: String
        package let sql: String
    }

    package let model: ManagedObjectModel
    package let numbering: EntityNumbering
    package internal(set) var tables: [Table] = []
    package internal(set) var indexes: [Index] = []
    /// The triggers that maintain derived attributes.
    package internal(set) var triggers: [Trigger] = []
    /// The derived attributes, as `Entity.attribute`, that no trigger maintains: they stay without a value.
    package internal(set) var unmaintained: [String] = []
    /// The name of each column of an entity table, by purpose.
    var columnNames: [ColumnPurpose: String] = [:]
    /// The uses of each column name in join tables so far.
    var joinColumnUses: [String: Int] = [:]
    /// The relationships that name the join tables of an existing store.
    let joinTableOwners: Set<JoinTableOwner>
    /// The to-many relationships without an inverse, by their destination, in the order of their owners.
    let relationshipsWithoutInverse: [String: [(owner: String, relationship: RelationshipDescription)]]

    /// The relationship that names a join table.
    package struct JoinTableOwner: Hashable, Sendable {
        package let entity: String
        package let relationship: String

        package init(entity: String, relationship: String) {
            (self.entity, self.relationship) = (entity, relationship)
        }
    }

    /// Throws ``StoreError`` with the code `incompatible` if the model does not permit a store.
    ///
    /// A relationship in `joinTableOwners` names its join table, as in an existing store.
    package init(_ model: ManagedObjectModel, joinTableOwners: Set<JoinTableOwner> = []) throws(StoreError) {
        self.model = model
        self.joinTableOwners = joinTableOwners
        numbering = try EntityNumbering(model)
        let withoutInverse = numbering.names.flatMap { owner in
            (model.entitiesByName[owner]?.relationships ?? []).inByteOrder
                .filter { $0.isToMany && $0.inverse == nil && !$0.isTransient }
                .map { (owner: owner, relationship: $0) }
        }
        relationshipsWithoutInverse = Dictionary(grouping: withoutInverse, by: \.relationship.destination)
        try checkRelationships()
        for root in numbering.rootNames { try addTable(of: root) }
        try addJoinTables()
        try checkNames()
        addIndexes()
        addTriggers()
    }

    func number(of entity: String) -> Int64 { numbering.number(of: entity) ?? 0 }

    /// The relationship's inverse, if the model has one.
    func inverse(of relationship: RelationshipDescription) -> RelationshipDescription? {
        guard let name = relationship.inverse else { return nil }
        return model.lineage(of: relationship.destination).lazy.flatMap(\.relationships).first { $0.name == name }
    }

    /// The name of the entity on which the relationship `name` of `entity` is declared.
    func declaringEntity(of name: String, from entity: String) -> String {
        let declaring = model.lineage(of: entity).first { $0.relationships.contains { $0.name == name } }
        return declaring?.name ?? entity
    }
}

extension StoreShape {
    private func checkRelationships() throws(StoreError) {
        for entity in model.entitiesByName.values {
            for relationship in entity.relationships {
                let name = "\(entity.name).\(relationship.name)"
                guard model.entitiesByName[relationship.destination] != nil else {
                    throw StoreError(
                        .incompatible,
                        path: "",
                        "\(name) refers to an unknown entity \(relationship.destination)"
                    )
                }
                guard relationship.inverse == nil || inverse(of: relationship) != nil else {
                    throw StoreError(
                        .incompatible,
                        path: "",
                        "\(name) names an inverse that \(relationship.destination) does not have"
                    )
                }
            }
        }
    }

    /// SQLite treats names that differ only in case as one table or column.
    private func checkNames() throws(StoreError) {
        var seen: Set<String> = []
        for table in tables where !seen.insert(table.name.uppercased()).inserted {
            throw StoreError(.incompatible, path: "", "two entities or relationships need the table \(table.name)")
        }
    }
}

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
