package import StoreFormat

/// What helps unique values to change places within one save.
extension RowWriter {
    /// Empties an attribute until the save gives it a value again, and returns what it held.
    package func park(_ name: String, of key: ObjectKey) throws -> SQLValue {
        let (entity, column) = try place(of: name, in: key)
        let present = try connection.value(
            "SELECT \(column) FROM \(SQLName.quoted(entity.table)) WHERE Z_PK = ?",
            [.integer(key.primaryKey)]
        )
        try update(key, ["\(column) = NULL"], [], changing: [])
        return present ?? .null
    }

    /// Gives an attribute that was emptied what it held.
    package func unpark(_ name: String, of key: ObjectKey, _ value: SQLValue) throws {
        let (_, column) = try place(of: name, in: key)
        try update(key, ["\(column) = ?"], [value], changing: [])
    }

    private func place(of name: String, in key: ObjectKey) throws -> (StoreLayout.Entity, column: String) {
        let plan = try plan(of: key.entity)
        return (plan.entity, SQLName.quoted(try settable(name, in: plan).column))
    }

    /// Returns an object of an entity's root that has all these values; nil when none has.
    package func holder(of values: [String: SQLValue], in entity: String) throws -> ObjectKey? {
        let plan = try plan(of: entity)
        let names = values.keys.sorted()
        let conditions = try names.map { "\(SQLName.quoted(try settable($0, in: plan).column)) = ?" }
        return try keys(
            inTable: plan.entity.table,
            "SELECT Z_PK, Z_ENT FROM \(SQLName.quoted(plan.entity.table)) "
                + "WHERE \(conditions.joined(separator: " AND ")) LIMIT 1",
            names.compactMap { values[$0] }
        )
        .first
    }

    /// Leads to `heir` what leads to `loser`, and gives it the members of the loser's to-many relationships.
    ///
    /// What the heir has itself stays: a one-to-one that leads somewhere, and the to-ones that only the loser tells of. An heir
    /// that was announced and is yet to be inserted takes what its row has no other value for.
    package func handOver(relationshipsOf loser: ObjectKey, to heir: ObjectKey) throws {
        let own = try plan(of: heir.entity).relationships
        for relationship in try entity(loser.entity).relationships {
            let name = relationship.description.name
            guard let same = own[name], same.declaredBy == relationship.declaredBy else { continue }
            let members = try destinations(of: loser, relationship).filter { $0 != heir && $0 != loser }
            switch relationship.storage {
            case .toOne:
                guard let inverse = relationship.description.inverse, let member = members.first,
                    case .toOne = try self.relationship(inverse, of: member).storage,
                    try destinations(of: heir, same).isEmpty
                else { continue }
                if isNew(heir), !changes.hasInserted(heir) {
                    try disconnect(loser, relationship, member)
                    promise(heir, name, member)
                } else {
                    try connect(heir, name, to: member)
                }
            case .oneToMany, .manyToMany:
                for member in members {
                    try disconnect(loser, name, from: member)
                    try connect(heir, name, to: member)
                }
            }
        }
        for way in try plan(of: loser.entity).waysWithoutReturn
        where try plan(of: heir.entity).kinds.contains(way.destination) {
            let owners = try keys(
                inTable: way.table,
                "SELECT Z_PK, Z_ENT FROM \(SQLName.quoted(way.table)) WHERE \(SQLName.quoted(way.column)) = ?",
                [.integer(loser.primaryKey)]
            )
            for owner in owners where try plan(of: owner.entity).kinds.contains(way.declaredBy) {
                try set(owner, way.relationship, to: heir)
            }
        }
    }
}
