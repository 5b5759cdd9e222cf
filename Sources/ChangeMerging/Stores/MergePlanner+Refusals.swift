import StoreAccess
import StoreFormat

extension MergePlanner {
    mutating func refuseUnrelatedStores() throws {
        let (old, shared) = (sides.old, sides.shared)
        guard let base = sides.base else {
            if let refusal = try rules.refusal(of: old, into: shared) {
                plan.refusals.append(refusal)
                return
            }
            for entity in try rules.insertedWhole(from: old, into: shared) {
                plan.notes.append(MergeNote(.unidentified, entity: entity, count: try old.objectCount(of: entity)))
            }
            return
        }
        guard base.metadata.uuid == old.metadata.uuid, base.metadata.uuid == shared.metadata.uuid else {
            plan.refusals.append(.unrelated)
            return
        }
        for (side, direction) in [(old, MergeDirection.old), (shared, .shared)] {
            if try isBehind(base, side) {
                plan.refusals.append(.baseIsNewer(direction))
            } else if try !sharesLastTransaction(base, side),
                // After a merge the base is the old store at that time, and the merge is numbered above both histories.
                try direction == .old || StoreMerger.epoch(of: side.connection) == nil
            {
                plan.refusals.append(.notTheBase(direction))
            }
        }
    }

    /// True if the side assigned fewer keys or transactions than the base.
    private func isBehind(_ base: MergeSide, _ side: MergeSide) throws -> Bool {
        if base.history != nil,
            try side.greatestHistoryNumber(of: "TRANSACTION") < base.greatestHistoryNumber(of: "TRANSACTION")
        {
            return true
        }
        return try base.roots.contains { root in
            guard side.layout.entities[root] != nil else { return false }
            return try side.recordedGreatestKey(of: root) < base.recordedGreatestKey(of: root)
        }
    }

    /// False if the side has another transaction under the number of the base's last one.
    private func sharesLastTransaction(_ base: MergeSide, _ side: MergeSide) throws -> Bool {
        guard base.history != nil, side.history != nil else { return true }
        let last = "SELECT Z_PK, ZTIMESTAMP FROM ATRANSACTION ORDER BY Z_PK DESC LIMIT 1"
        var isShared = true
        try base.connection.forEachRow(last) { transaction in
            let number = transaction.value(0)
            let there = try side.connection.value("SELECT ZTIMESTAMP FROM ATRANSACTION WHERE Z_PK = ?", [number])
            if let there, there != transaction.value(1) { isShared = false }
        }
        return isShared
    }

    /// Matches entities by name.
    ///
    /// A property that one side's model lacks is left unchanged; a property defined in two ways is refused.
    mutating func refuseDifferentModels() throws {
        let changed = Set(old.inserted.values).union(old.kinds.values).union(old.deleted.values)
            .union(shared.kinds.values)
        for entity in changed.sorted(by: ManagedObjectModel.inByteOrder) {
            let hashes = Set(sides.all.map { $0.metadata.entityVersionHashes[entity] })
            if hashes.count == 1, hashes != [nil], sides.all.allSatisfy({ $0.layout.entities[entity] != nil }) {
                leaveUnknownColumns(of: entity)
                continue
            }
            refuseDifferences(of: entity)
        }
    }

    private mutating func refuseDifferences(of name: String) {
        guard let present = sides.shared.layout.entities[name], let old = sides.old.layout.entities[name] else {
            plan.refusals.append(.modelsDiffer(entity: name, property: nil))
            return
        }
        let places = sides.all.compactMap { $0.layout.entities[name] }
        let properties = Set(places.flatMap { $0.attributes.map(\.description.name) })
        for property in properties.sorted(by: ManagedObjectModel.inByteOrder) {
            let forms = places.compactMap { $0.attribute(property)?.description }
            let isSame = forms.allSatisfy {
                $0.type == forms[0].type && $0.isDerived == forms[0].isDerived
                    && $0.allowsExternalBinaryDataStorage == forms[0].allowsExternalBinaryDataStorage
            }
            // The shared store requires a value that the old side does not have.
            let isMissing =
                present.attribute(property).map { !$0.description.isOptional && $0.description.defaultValue == nil }
                == true && old.attribute(property) == nil
            if !isSame || isMissing { plan.refusals.append(.modelsDiffer(entity: name, property: property)) }
            if present.attribute(property) == nil, old.attribute(property)?.description.isDerived == false {
                lacking[name, default: []].insert(property)
            }
        }
        if Set(places.map(\.root)).count > 1 { plan.refusals.append(.modelsDiffer(entity: name, property: nil)) }
        let relationships = Set(places.flatMap { $0.relationships.map(\.description.name) })
        for relationship in relationships.sorted(by: ManagedObjectModel.inByteOrder) {
            let forms = places.compactMap { $0.relationship(relationship)?.description }
            let isSame = forms.allSatisfy {
                ($0.destination, $0.inverse, $0.isToMany, $0.isOrdered)
                    == (forms[0].destination, forms[0].inverse, forms[0].isToMany, forms[0].isOrdered)
            }
            let isMissing =
                present.relationship(relationship).map { !$0.description.isOptional } == true
                && old.relationship(relationship) == nil
            if !isSame || isMissing { plan.refusals.append(.modelsDiffer(entity: name, property: relationship)) }
            if present.relationship(relationship) == nil, old.relationship(relationship) != nil {
                note(.propertyLacking, name, relationship)
            }
        }
    }

    /// Finds columns that neither the model nor the shared store has: their values are parked.
    private mutating func leaveUnknownColumns(of name: String) {
        guard let present = sides.shared.layout.entities[name], let old = sides.old.layout.entities[name] else {
            return
        }
        let names = old.attributes.filter(\.isUnknown).map(\.description.name)
        let missing = names.filter { present.attribute($0) == nil }
        if !missing.isEmpty { lacking[name, default: []].formUnion(missing) }
    }

    /// Parks rows that lose a value because the shared side's model lacks the property.
    mutating func parkLackingAttributes(_ names: inout Set<String>, of row: RowKey, _ entity: String) {
        guard let lacking = lacking[entity]?.intersection(names), !lacking.isEmpty else { return }
        names.subtract(lacking)
        for name in lacking.sorted(by: ManagedObjectModel.inByteOrder) { note(.propertyLacking, entity, name) }
        park(.old, row, entity, .propertyLacking)
    }

    /// CloudKit's own tables are never merged: if both mirrors were active, the cloud's content is unknown.
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

    /// References to objects can be translated only in the model's own relationships.
    mutating func refuseMovingKeys() throws {
        let moving = plan.remapping.rekeyed.filter { $0.target.own != $0.target.key }
        guard !moving.isEmpty else { return }
        let own = Set(sides.shared.layout.entities.values.map { $0.table.lowercased() })
            .union(sides.shared.layout.joinTables.map { $0.name.lowercased() })
        let (schema, connection) = (sides.old.schema, sides.old.connection)
        for root in Set(moving.map(\.source.root)).sorted(by: ManagedObjectModel.inByteOrder) {
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
        for (_, target) in moving {
            guard let number = sides.old.layout.entities[target.entity]?.number else { continue }
            let known = try connection.value(
                "SELECT 1 FROM ANSCKRECORDMETADATA WHERE ZENTITYID = ? AND ZENTITYPK = ? LIMIT 1",
                [.integer(number), .integer(target.own)]
            )
            if known != nil {
                plan.refusals.append(.cloudRecordNeedsAnotherKey(entity: target.entity))
                return
            }
        }
    }

    /// True if a definition contains a table's name as a separate word.
    private static func names(_ table: String, in sql: String) -> Bool {
        sql.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "_") }.contains { $0 == table.lowercased() }
    }
}
