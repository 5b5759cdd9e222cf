import StoreFormat

extension MergePlanner {
    mutating func refuseUnrelatedStores() throws {
        let (old, shared) = (sides.old, sides.shared)
        guard let base = sides.base else {
            // Copies of one store whose common past is lost: the same key may or may not be the same object.
            if old.metadata.uuid == shared.metadata.uuid {
                let lacking = try old.layout.entities.values.filter { entity in
                    guard !entity.isAbstract, identities(of: entity.name).isEmpty else { return false }
                    return try [old, shared]
                        .allSatisfy {
                            try $0.connection.value(
                                "SELECT 1 FROM \(SQLName.quoted($0.layout.entities[entity.name]?.table ?? entity.table)) "
                                    + "WHERE Z_ENT = ? LIMIT 1",
                                [.integer($0.layout.entities[entity.name]?.number ?? 0)]
                            ) != nil
                        }
                }
                if !lacking.isEmpty { plan.refusals.append(.needsBase) }
            }
            return
        }
        guard base.metadata.uuid == old.metadata.uuid, base.metadata.uuid == shared.metadata.uuid else {
            plan.refusals.append(.unrelated)
            return
        }
        for side in [old, shared] where base.history != nil {
            if try side.greatestHistoryNumber(of: "TRANSACTION") < base.greatestHistoryNumber(of: "TRANSACTION") {
                plan.refusals.append(.baseIsNewer)
                return
            }
        }
    }

    mutating func refuseDifferentModels() throws {
        let all = [sides.base, sides.old, sides.shared].compactMap { $0 }
        let relations = sides.shared.relations
        let isAligned = all.allSatisfy { side in
            side.relations.count == relations.count && zip(side.relations, relations).allSatisfy { $0.isSame(as: $1) }
        }
        let changed = Set(old.inserted.values).union(old.kinds.values).union(old.deleted.values)
            .union(shared.kinds.values)
        for entity in changed.sorted(by: ManagedObjectModel.inByteOrder) {
            let hashes = Set(all.map { $0.metadata.entityVersionHashes[entity] })
            let isSame = hashes.count == 1 && all.allSatisfy { $0.layout.entities[entity] != nil }
            if !isSame || !isAligned { plan.refusals.append(.modelsDiffer(entity: entity)) }
        }
    }

    /// CloudKit's own tables are never merged: where both mirrors were at work, nobody knows what the cloud holds.
    mutating func refuseCloudMirrors() throws {
        let names = sides.old.schema.tables.filter { $0.name.hasPrefix("ANSCK") && $0.holdsRows }.map(\.name)
        for name in names {
            guard let table = sides.old.schema.table(named: name) else { continue }
            let former = sides.base.flatMap { base in base.schema.table(named: name).map { (base, $0) } }
            let isUnchanged: Bool
            if let (base, formerTable) = former {
                isUnchanged =
                    try StoreDigest.digest(of: table, in: sides.old.connection)
                    == StoreDigest.digest(of: formerTable, in: base.connection)
            } else {
                let quoted = "SELECT 1 FROM \(SQLName.quoted(name)) LIMIT 1"
                let isElsewhere = sides.shared.schema.table(named: name) != nil
                isUnchanged =
                    try sides.old.connection.value(quoted) == nil
                    || (sides.base == nil && (!isElsewhere || sides.shared.connection.value(quoted) == nil))
            }
            if !isUnchanged {
                plan.refusals.append(.cloudMirrorInBothPlaces)
                return
            }
        }
    }

    /// Keys of objects can be followed where the model knows of them, and nowhere else.
    mutating func refuseMovingKeys() throws {
        let moving = plan.remapping.targets
        guard !moving.isEmpty else { return }
        let own = Set(sides.shared.layout.entities.values.map { $0.table.lowercased() })
            .union(sides.shared.layout.joinTables.map { $0.name.lowercased() })
        let (schema, connection) = (sides.old.schema, sides.old.connection)
        for root in Set(moving.keys.map(\.root)).sorted(by: ManagedObjectModel.inByteOrder) {
            guard let table = sides.old.table(of: root) else { continue }
            let outside = schema.tables.filter { !own.contains($0.name.lowercased()) && $0.holdsRows }
            for other in outside where other.sql?.lowercased().contains("references") == true {
                let names = try connection.value(
                    "SELECT 1 FROM pragma_foreign_key_list(?) WHERE lower(\"table\") = lower(?) LIMIT 1",
                    [.text(other.name), .text(table)]
                )
                if names != nil { plan.refusals.append(.namedOutsideTheModel(table: table, by: other.name)) }
            }
            for view in schema.views where Self.names(table, in: view.sql) {
                plan.refusals.append(.namedOutsideTheModel(table: table, by: view.name))
            }
            for trigger in schema.triggers
            where !own.contains(trigger.table.lowercased()) && Self.names(table, in: trigger.sql) {
                plan.refusals.append(.namedOutsideTheModel(table: table, by: trigger.name))
            }
        }
        guard sides.old.schema.table(named: "ANSCKRECORDMETADATA") != nil else { return }
        for (row, target) in moving {
            guard let number = sides.old.layout.entities[target.entity]?.number else { continue }
            let known = try connection.value(
                "SELECT 1 FROM ANSCKRECORDMETADATA WHERE ZENTITYID = ? AND ZENTITYPK = ? LIMIT 1",
                [.integer(number), .integer(row.key)]
            )
            if known != nil {
                plan.refusals.append(.cloudRecordNeedsAnotherKey(entity: target.entity))
                return
            }
        }
    }

    /// True where a definition names a table as a word of its own.
    private static func names(_ table: String, in sql: String) -> Bool {
        sql.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "_") }.contains { $0 == table.lowercased() }
    }
}
