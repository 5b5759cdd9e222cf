import StoreFormat

extension RowWriter {
    /// The destinations of a relationship, in the order of an ordered one, else by their keys.
    func destinations(of owner: ObjectKey, _ relationship: StoreLayout.Relationship) throws -> [ObjectKey] {
        let name = relationship.description.name
        switch relationship.storage {
        case .toOne:
            return try destination(of: owner, toOne(name, of: owner)).map { [$0] } ?? []
        case .oneToMany(let table, let key):
            let order = (key.orderColumn.map { SQLName.quoted($0) + ", " } ?? "") + "Z_PK"
            return try keys(
                inTable: table,
                "SELECT Z_PK, Z_ENT FROM \(SQLName.quoted(table)) WHERE \(SQLName.quoted(key.column)) = ? ORDER BY \(order)",
                [.integer(owner.primaryKey)]
            )
        case .manyToMany(let table, let side, let other):
            let destination = try entity(relationship.description.destination).table
            let pairs = StoreLayout.JoinTable.pairs(table, side, other) { "\($0) = ?1" }
            return try keys(
                inTable: destination,
                "SELECT d.Z_PK, d.Z_ENT FROM (\(pairs)) p JOIN \(SQLName.quoted(destination)) d ON d.Z_PK = p.member "
                    + "GROUP BY d.Z_PK ORDER BY min(p.place), d.Z_PK",
                [.integer(owner.primaryKey)]
            )
        }
    }

    /// The destination of a to-one; nil also if the key dangles.
    func destination(of owner: ObjectKey, _ place: ToOne) throws -> ObjectKey? {
        let table = try entity(owner.entity).table
        let destination = try entity(place.description.destination)
        return try keys(
            inTable: destination.table,
            "SELECT Z_PK, Z_ENT FROM \(SQLName.quoted(destination.table)) WHERE Z_PK = "
                + "(SELECT \(SQLName.quoted(place.key.column)) FROM \(SQLName.quoted(table)) WHERE Z_PK = ?)",
            [.integer(owner.primaryKey)]
        )
        .first
    }

    /// The objects of a table that a query with the columns `Z_PK` and `Z_ENT` finds.
    ///
    /// Rows with an entity number that the table does not have are skipped.
    func keys(inTable table: String, _ sql: String, _ arguments: [SQLValue]) throws -> [ObjectKey] {
        var found: [ObjectKey] = []
        try connection.forEachRow(sql, arguments) { row in
            if let entity = layout.entity(ofRowNumbered: row.integer(1), inTable: table) {
                found.append(ObjectKey(entity: entity.name, primaryKey: row.integer(0)))
            }
        }
        return found
    }

    func relationship(_ name: String, of owner: ObjectKey) throws(StoreError) -> StoreLayout.Relationship {
        guard let found = try plan(of: owner.entity).relationships[name] else {
            throw unfit("\(owner.entity) has no relationship \(name)")
        }
        return found
    }

    func toOne(_ name: String, of owner: ObjectKey) throws(StoreError) -> ToOne {
        let relationship = try self.relationship(name, of: owner)
        guard case .toOne(let key) = relationship.storage else {
            throw unfit("\(owner.entity).\(name) is a to-many relationship")
        }
        return ToOne(description: relationship.description, key: key)
    }

    /// Throws if a relationship cannot refer to an object of the destination's entity.
    func requireFit(
        _ destination: ObjectKey,
        _ relationship: RelationshipDescription,
        of owner: ObjectKey
    ) throws(StoreError) {
        guard try plan(of: destination.entity).kinds.contains(relationship.destination) else {
            throw unfit(
                "\(owner.entity).\(relationship.name) refers to \(relationship.destination), not \(destination.entity)"
            )
        }
    }
}
