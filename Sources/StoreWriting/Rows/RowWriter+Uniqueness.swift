package import StoreAccess
import StoreFormat

/// Lets objects exchange unique values within one save.
extension RowWriter {
    /// Empties an attribute until the save sets it again, and returns its former value.
    package func setAside(_ name: String, of key: ObjectKey) throws -> SQLValue {
        let (entity, column) = try place(of: name, in: key)
        let present = try connection.value(
            "SELECT \(column) FROM \(SQLName.quoted(entity.table)) WHERE Z_PK = ?",
            [.integer(key.primaryKey)]
        )
        try update(key, ["\(column) = NULL"], [], changing: [])
        return present ?? .null
    }

    /// Restores the value of an emptied attribute.
    package func putBack(_ name: String, of key: ObjectKey, _ value: SQLValue) throws {
        let (_, column) = try place(of: name, in: key)
        try update(key, ["\(column) = ?"], [value], changing: [])
    }

    private func place(of name: String, in key: ObjectKey) throws -> (StoreLayout.Entity, column: String) {
        let plan = try plan(of: key.entity)
        return (plan.entity, SQLName.quoted(try settable(name, in: plan).column))
    }

    /// Returns an object of an entity's root that has all these values; nil if none has.
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

    /// Makes references to `loser` refer to `heir`, and adds the loser's to-many members to it.
    ///
    /// A one-to-one of the heir that has a destination stays, and the loser's other to-ones are not transferred. An
    /// announced heir gets its one-to-ones when it is inserted.
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
