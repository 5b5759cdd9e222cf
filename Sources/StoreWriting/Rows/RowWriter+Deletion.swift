import CSQLite
import StoreAccess
import StoreFormat

extension RowWriter {
    /// Deletes an object and applies the delete rule of each of its relationships.
    ///
    /// A non-empty relationship with the rule deny refuses the deletion. With a version, throws ``VersionConflict`` if
    /// the object has another version, apart from this save's own changes.
    package func delete(_ key: ObjectKey, expecting version: Int64? = nil) throws {
        if let version, let conflict = try conflict(over: key, expecting: version) { throw conflict }
        try delete([key])
    }

    /// Deletes objects together: relationships between them do not block the deletion.
    ///
    /// Objects that this save deleted already are skipped.
    package func delete(_ keys: [ObjectKey]) throws {
        let doomed = try followingCascades(from: keys)
        let isDoomed = Set(doomed)
        for key in doomed {
            try release(key, goingWith: isDoomed)
            try emptyWaysTo(key, goingWith: isDoomed)
        }
        for key in doomed { try removeRow(of: key) }
    }

    /// The objects and their cascades; throws if a relationship with the rule deny refers to a surviving object.
    private func followingCascades(from keys: [ObjectKey]) throws -> [ObjectKey] {
        var doomed: [ObjectKey] = []
        var seen: Set<ObjectKey> = []
        var pending = Array(keys.reversed())
        var denying: [(owner: ObjectKey, name: String, destinations: [ObjectKey])] = []
        while let key = pending.popLast() {
            guard !changes.hasDeleted(key), seen.insert(key).inserted else { continue }
            doomed.append(key)
            for relationship in try entity(key.entity).relationships {
                switch relationship.description.deleteRule {
                case .cascade: pending += try destinations(of: key, relationship).reversed()
                case .deny:
                    denying.append((key, relationship.description.name, try destinations(of: key, relationship)))
                case .noAction, .nullify: break
                }
            }
        }
        for denial in denying where !seen.isSuperset(of: denial.destinations) {
            throw unfit(
                "\(denial.owner.entity).\(denial.name) denies the deletion of its owner"
            )
        }
        return doomed
    }

    /// Removes a doomed object from its relationships to surviving objects.
    private func release(_ owner: ObjectKey, goingWith doomed: Set<ObjectKey>) throws {
        for relationship in try entity(owner.entity).relationships {
            let destinations = try self.destinations(of: owner, relationship).filter { !doomed.contains($0) }
            switch relationship.storage {
            case .toOne:
                guard relationship.description.deleteRule != .noAction else { continue }
                for destination in destinations { try unfollow(owner, relationship.description, destination) }
            case .oneToMany:
                // With the rule noAction the keys stay and dangle, as the model specifies.
                guard relationship.description.deleteRule != .noAction else { continue }
                for destination in destinations { try disconnect(owner, relationship, destination) }
            case .manyToMany(let table, let side, let other):
                // A row of a join table is deleted with either of its objects, under every rule.
                for destination in destinations { try touch(destination, [.manyToMany]) }
                var condition = "\(SQLName.quoted(side.column)) = ?1"
                if StoreLayout.JoinTable.isReflexive(side, other) {
                    condition += " OR \(SQLName.quoted(other.column)) = ?1"
                }
                try connection.run(
                    "DELETE FROM \(SQLName.quoted(table)) WHERE \(condition)",
                    [.integer(owner.primaryKey)]
                )
            }
        }
    }

    /// Empties the to-one relationships without an inverse that refer to an object.
    ///
    /// Core Data leaves their keys and reads a dangling key as nil; here the keys are removed.
    private func emptyWaysTo(_ key: ObjectKey, goingWith doomed: Set<ObjectKey>) throws {
        for way in try plan(of: key.entity).waysWithoutReturn {
            let owners = try keys(
                inTable: way.table,
                "SELECT Z_PK, Z_ENT FROM \(SQLName.quoted(way.table)) WHERE \(SQLName.quoted(way.column)) = ?",
                [.integer(key.primaryKey)]
            )
            for owner in owners where !doomed.contains(owner) {
                // A migration may leave values in rows of entities that lack the relationship.
                guard try plan(of: owner.entity).kinds.contains(way.declaredBy) else { continue }
                try clear(owner, toOne(way.relationship, of: owner))
            }
        }
    }

    private func removeRow(of key: ObjectKey) throws {
        let plan = try plan(of: key.entity)
        let entity = plan.entity
        for attribute in entity.attributes where attribute.description.allowsExternalBinaryDataStorage {
            try abandonFile(of: key, entity, attribute)
        }
        let tombstone = try history == nil ? [] : tombstone(of: key, entity)
        try willWrite?(entity.table, key.primaryKey, true)
        try connection.run(
            "DELETE FROM \(SQLName.quoted(entity.table)) WHERE \(plan.rowCondition)",
            [.integer(key.primaryKey)]
        )
        guard connection.withHandle({ sqlite3_changes64($0) }) == 1 else {
            throw VersionConflict(object: key, expected: nil, found: nil)
        }
        changes.delete(key, tombstone: tombstone)
    }

    /// The values that history keeps of an object: its marked attributes, in the order of the tombstone columns.
    private func tombstone(of key: ObjectKey, _ entity: StoreLayout.Entity) throws -> [SQLValue] {
        try entity.tombstoneAttributes.map { name in
            guard let column = entity.attribute(name)?.column else { return .null }
            let value = try connection.value(
                "SELECT \(SQLName.quoted(column)) FROM \(SQLName.quoted(entity.table)) WHERE Z_PK = ?",
                [.integer(key.primaryKey)]
            )
            return value ?? .null
        }
    }
}
