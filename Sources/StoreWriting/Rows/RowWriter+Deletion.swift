import StoreFormat

extension RowWriter {
    /// Deletes an object and applies the delete rule of each of its relationships.
    ///
    /// A relationship with the rule deny that still leads somewhere refuses the deletion.
    package func delete(_ key: ObjectKey) throws {
        var pending = [key]
        var seen: Set<ObjectKey> = [key]
        while let next = pending.popLast() {
            let entity = try shape.entity(next.entity)
            for name in entity.relationships.keys.sorted() {
                for cascaded in try release(next, name) where seen.insert(cascaded).inserted {
                    pending.append(cascaded)
                }
            }
            try removeRow(of: next, entity)
        }
    }

    /// Takes an object out of one relationship; returns the destinations that go with it.
    private func release(_ owner: ObjectKey, _ name: String) throws -> [ObjectKey] {
        let (storage, relationship) = try relationship(name, of: owner)
        let destinations = try currentDestinations(of: owner, storage, relationship)
        switch relationship.deleteRule {
        case .deny where !destinations.isEmpty:
            throw StoreError(
                .incompatible,
                path: "",
                "\(owner.entity).\(name) denies the deletion of an object that it leads from"
            )
        case .noAction:
            // A row of a join table goes with either of its objects, whatever the rule.
            guard case .manyToMany = storage else { return [] }
        case .cascade, .nullify, .deny: break
        }
        for destination in destinations { try disconnect(owner, storage, relationship, destination) }
        return relationship.deleteRule == .cascade ? destinations : []
    }

    private func currentDestinations(
        of owner: ObjectKey,
        _ storage: StoreShape.RelationshipStorage,
        _ relationship: RelationshipDescription
    ) throws -> [ObjectKey] {
        switch storage {
        case .toOne(let column, _, _):
            return try destinations(of: owner, column, relationship)
        case .oneToMany(let table, let column, _, _):
            return try keys(
                "SELECT Z_PK, Z_ENT FROM \(SQLName.quoted(table)) WHERE \(SQLName.quoted(column)) = ?",
                owner
            )
        case .manyToMany(let table, let ownerColumn, let destinationColumn, _, _):
            let destination = try shape.entity(relationship.destination)
            let (left, right) = (SQLName.quoted(ownerColumn), SQLName.quoted(destinationColumn))
            var pairs = "SELECT \(right) FROM \(SQLName.quoted(table)) WHERE \(left) = ?1"
            // A relationship that is its own inverse keeps each pair one way or the other.
            if Self.isReflexive(storage) {
                pairs += " UNION SELECT \(left) FROM \(SQLName.quoted(table)) WHERE \(right) = ?1"
            }
            return try keys(
                "SELECT Z_PK, Z_ENT FROM \(SQLName.quoted(destination.table)) WHERE Z_PK IN (\(pairs))",
                owner
            )
        }
    }

    private func disconnect(
        _ owner: ObjectKey,
        _ storage: StoreShape.RelationshipStorage,
        _ relationship: RelationshipDescription,
        _ destination: ObjectKey
    ) throws {
        switch storage {
        case .toOne: try disconnectToOne(owner, relationship.name)
        case .oneToMany(let table, let column, let entityColumn, let orderColumn):
            if let inverse = relationship.inverse {
                try setToOne(destination, inverse, nil)
            } else {
                let columns = [column, entityColumn, orderColumn].compactMap { $0 }
                let assignments = columns.map { "\(SQLName.quoted($0)) = NULL" }.joined(separator: ", ")
                try connection.run(
                    "UPDATE \(SQLName.quoted(table)) SET \(assignments) WHERE Z_PK = ?",
                    [.integer(destination.primaryKey)]
                )
                try touch(destination, [])
            }
        case .manyToMany(let table, let ownerColumn, let destinationColumn, _, _):
            let (left, right) = (SQLName.quoted(ownerColumn), SQLName.quoted(destinationColumn))
            var condition = "(\(left) = ?1 AND \(right) = ?2)"
            if Self.isReflexive(storage) { condition += " OR (\(left) = ?2 AND \(right) = ?1)" }
            try connection.run(
                "DELETE FROM \(SQLName.quoted(table)) WHERE \(condition)",
                [.integer(owner.primaryKey), .integer(destination.primaryKey)]
            )
            try touchInverse(of: relationship, on: destination)
        }
    }

    private static func isReflexive(_ storage: StoreShape.RelationshipStorage) -> Bool {
        guard case .manyToMany(_, _, let destinationColumn, _, _) = storage else { return false }
        return destinationColumn == StoreShape.reflexiveColumn
    }

    private func removeRow(of key: ObjectKey, _ entity: StoreShape.Entity) throws {
        for (_, slot) in entity.attributes.sorted(by: { $0.key < $1.key })
        where slot.attribute.allowsExternalBinaryDataStorage {
            try abandonFile(of: key, entity, slot.column)
        }
        var tombstone: [SQLValue] = []
        for name in entity.tombstoneAttributes {
            guard let column = entity.attributes[name]?.column else { continue }
            let value = try connection.value(
                "SELECT \(SQLName.quoted(column)) FROM \(SQLName.quoted(entity.table)) WHERE Z_PK = ?",
                [.integer(key.primaryKey)]
            )
            tombstone.append(value ?? .null)
        }
        try connection.run(
            "DELETE FROM \(SQLName.quoted(entity.table)) WHERE Z_PK = ?",
            [.integer(key.primaryKey)]
        )
        changes.delete(key, tombstone: tombstone)
    }
}
