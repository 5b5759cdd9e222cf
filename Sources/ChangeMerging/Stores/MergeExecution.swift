import StoreAccess
import StoreFormat
import StoreWriting

/// Writes a plan, inside a writer's save.
struct MergeExecution {
    let plan: MergePlan
    let sides: MergeSides
    let writer: RowWriter

    /// The order matters.
    ///
    /// Keys are reserved before objects are inserted, and unique values are released before they are taken. Deleted
    /// objects are disconnected first, so that delete rules do not cascade to surviving ones.
    func write(_ recording: (any MergeRecording)? = nil) throws {
        for update in plan.updates {
            guard let entity = sides.shared.layout.entities[update.entity] else { continue }
            let columns = update.names.compactMap { entity.attribute($0)?.column }
            try recording?.willWrite(entity.table, update.target.key, overwriting: columns)
        }
        for (root, greatest) in plan.greatestKeys.sorted(by: { $0.key < $1.key }) {
            try writer.allocateKeys(for: root, upTo: greatest)
        }
        writer.announce(plan.restorations.map { ObjectKey(entity: $0.value, primaryKey: $0.key.key) })
        try letGoOfUniqueValues()
        try delete()
        for insertion in plan.insertions {
            try insert(insertion.entity, from: insertion.source, as: insertion.target, version: 1)
        }
        for row in SideChanges.sorted(plan.restorations.keys) {
            guard let entity = plan.restorations[row] else { continue }
            try insert(entity, from: row, as: row, version: try nextVersion(of: row))
        }
        for update in plan.updates {
            let values = try values(update.names.subtracting(update.given.keys), of: update.entity, update.source)
                .merging(update.given) { $1 }
            try writer.update(ObjectKey(entity: update.entity, primaryKey: update.target.key), values)
        }
        try connect()
        try arrange()
        try list()
        let old = sides.old
        try writer.raiseHistoryNumbers(
            transaction: try old.greatestHistoryNumber(of: "TRANSACTION"),
            change: try old.greatestHistoryNumber(of: "CHANGE")
        )
    }

    /// Passes whole parked rows to `body`, in their state before the merge writes.
    func park(_ body: (ParkedRow) throws -> Void) throws {
        let order: (MergePlan.Parking, MergePlan.Parking) -> Bool = {
            ($0.entity, $0.row.key, $0.side.rawValue, $0.reason.rawValue)
                < ($1.entity, $1.row.key, $1.side.rawValue, $1.reason.rawValue)
        }
        let arriving = Set(plan.insertions.map(\.target))
        for parking in plan.parked.sorted(by: order) {
            let side = parking.side == .old ? sides.old : sides.shared
            // A decision about a relationship records the declaring entity, which may differ from the row's.
            guard let entity = try side.entity(of: parking.row), let own = side.keys.own(parking.row) else {
                try requireNoObject(parking.row, parking.entity)
                continue
            }
            let names = entity.attributes.map(\.description.name)
            guard let stored = try side.stored(names, of: entity.name, parking.row.key) else {
                throw lostObject(entity.name, in: side)
            }
            var values: [String: SQLValue] = [:]
            for attribute in entity.attributes {
                let name = attribute.description.name
                values[name] = try side.plain(stored[name] ?? .null, of: attribute.description)
            }
            var partners: [String: [Int64]] = [:]
            for relation in side.ownRelations {
                for end in LinkRelation.Position.allCases
                where side.layout.model.isEntity(entity.name, kindOf: relation[end].entity) {
                    guard let name = relation[end].name else { continue }
                    let other = relation[end.other].root
                    partners[name] = try side.ownPartners(relation, at: end, of: own.key)
                        .map { key in
                            let partner = side.keys.common(RowKey(root: other, key: key))
                            return parking.side == .old ? plan.remapping.row(partner).key : partner.key
                        }
                }
            }
            let target = parking.side == .old ? plan.remapping.row(parking.row) : parking.row
            let isThere =
                try arriving.contains(target) || plan.restorations[target] != nil
                || (plan.deletions[target] == nil && sides.shared.entity(of: target) != nil)
            try body(
                ParkedRow(
                    side: parking.side,
                    entity: entity.name,
                    key: [.integer(own.key)],
                    target: isThere ? [.integer(target.key)] : nil,
                    reason: parking.reason,
                    values: values,
                    from: [side.connection, side],
                    partners: partners
                )
            )
        }
    }

    // MARK: Rows

    private func letGoOfUniqueValues() throws {
        let model = sides.shared.layout.model
        for update in plan.updates {
            let unique = Set(model.lineage(of: update.entity).flatMap(\.uniquenessConstraints).flatMap { $0 })
            for name in update.names.intersection(unique).sorted(by: ManagedObjectModel.inByteOrder) {
                _ = try writer.setAside(name, of: ObjectKey(entity: update.entity, primaryKey: update.target.key))
            }
        }
    }

    private func delete() throws {
        let rows = SideChanges.sorted(plan.deletions.keys)
        let keys = rows.compactMap { row in
            plan.deletions[row].map { ObjectKey(entity: $0, primaryKey: row.key) }
        }
        let isDoomed = Set(keys)
        for key in keys {
            for relationship in try writer.entity(key.entity).relationships {
                let description = relationship.description
                guard description.deleteRule == .cascade || description.deleteRule == .deny else { continue }
                for partner in try writer.destinations(of: key, description.name) where !isDoomed.contains(partner) {
                    try writer.disconnect(key, description.name, from: partner)
                }
            }
        }
        try writer.delete(keys)
    }

    private func insert(_ entity: String, from source: RowKey, as target: RowKey, version: Int64) throws {
        let names = try writer.insertedAttributes(of: entity)
        var values = try values(Set(names).subtracting(plan.omitted[target] ?? []), of: entity, source)
        // An attribute that the old side's model lacks gets the default of a new object.
        for attribute in sides.shared.layout.entities[entity]?.attributes ?? []
        where attribute.description.defaultValue != nil
            && sides.old.layout.entities[entity]?
                .attribute(attribute.description.name) == nil
            && !attribute.description.isDerived
        {
            values[attribute.description.name] = attribute.description.initialValue.plainlyStored
        }
        try writer.insert(ObjectKey(entity: entity, primaryKey: target.key), values, version: version)
    }

    /// The version of a restored object: one that no reader has seen.
    private func nextVersion(of row: RowKey) throws -> Int64 {
        let known = try [sides.old, sides.base]
            .compactMap { side in
                guard let side, let table = side.table(of: row.root), let own = side.keys.own(row) else {
                    return nil as Int64?
                }
                let version = "SELECT Z_OPT FROM \(SQLName.quoted(table)) WHERE Z_PK = ?"
                return try side.connection.value(version, [.integer(own.key)])?.integer
            }
        let last = known.max() ?? 0
        return last < Int64.max - 1 ? last + 2 : 1
    }

    /// The old side's values of attributes; large values as bytes, which keep their file names when they are written.
    private func values(_ names: Set<String>, of entity: String, _ source: RowKey) throws -> [String: SQLValue] {
        guard let place = sides.old.layout.entities[entity],
            let stored = try sides.old.stored(names, of: entity, source.key)
        else {
            throw lostObject(entity, in: sides.old)
        }
        var result: [String: SQLValue] = [:]
        var files: [(name: String, value: SQLValue)] = []
        for (name, value) in stored {
            guard let attribute = place.attribute(name)?.description, !attribute.isDerived else { continue }
            let plain = try sides.old.plain(value, of: attribute)
            result[name] = plain
            if case .externalData(let file)? = AttributeValue(value, of: attribute) {
                files.append((file.fileName, plain))
            }
        }
        writer.external?.keepNames(files)
        return result
    }

    // MARK: Relationships

    private func connect() throws {
        for link in SideChanges.sorted(plan.linksToRemove) {
            guard let (owner, name, member) = try ends(of: link) else { continue }
            try writer.disconnect(owner, name, from: member)
        }
        for link in SideChanges.sorted(plan.linksToAdd) {
            guard let (owner, name, member) = try ends(of: link) else { continue }
            try writer.connect(owner, name, to: member)
        }
    }

    /// The objects of a pair; nil if one of its keys dangles in every store, as keys of genuine stores may.
    private func ends(of link: Link) throws -> (ObjectKey, String, ObjectKey)? {
        let relation = sides.shared.relations[link.relation]
        guard let name = relation.first.name, let owner = try object(relation.first, link.first),
            let member = try object(relation.second, link.second)
        else { return nil }
        return (owner, name, member)
    }

    /// The object of the shared store at one end of a pair; nil if the key dangles in every store.
    private func object(_ end: LinkRelation.End, _ key: Int64) throws -> ObjectKey? {
        if let object = try writer.object(end.entity, key) { return object }
        try requireNoObject(plan.remapping.source(of: RowKey(root: end.root, key: key)), end.entity)
        return nil
    }

    /// Throws if any store has an object with this key: the plan names the object, and execution has not found it.
    private func requireNoObject(_ row: RowKey, _ entity: String) throws {
        for side in [sides.base, sides.old, sides.shared] {
            guard let side, let found = try side.entity(of: row) else { continue }
            if side.layout.model.isEntity(found.name, kindOf: entity) { throw lostObject(entity, in: side) }
        }
    }

    private func lostObject(_ entity: String, in side: MergeSide) -> StoreError {
        StoreError(
            .changedMeanwhile,
            path: side.connection.location.path,
            "an object of \(entity) was deleted after the merge was planned"
        )
    }

    private func arrange() throws {
        for arrangement in plan.arrangements {
            let slot = arrangement.slot
            let relation = sides.shared.relations[slot.relation]
            guard let name = relation[slot.end].name, let owner = try object(relation[slot.end], slot.key) else {
                continue
            }
            let members = try writer.destinations(of: owner, name)
            let keys = members.map(\.primaryKey)
            let order = OrderedMerge.order(
                Set(keys),
                base: arrangement.base,
                local: arrangement.old,
                store: arrangement.shared,
                prefersLocal: arrangement.prefersOld
            )
            // Members that neither side lists were restored, and stay at the end.
            let all = order + keys.filter { !order.contains($0) }
            guard all != keys else { continue }
            let objects = Dictionary(zip(keys, members), uniquingKeysWith: { first, _ in first })
            try writer.arrange(owner, name, in: all.compactMap { objects[$0] })
        }
    }

    // MARK: History

    private func list() throws {
        guard writer.tracksHistory else { return }
        for listing in plan.listings {
            guard let entity = sides.shared.layout.entities[listing.entity] else { continue }
            let key = ObjectKey(entity: entity.name, primaryKey: listing.row.key)
            switch listing.kind {
            case .insert: writer.list(key, as: .insert)
            case .update:
                let names = listing.attributes.union(entity.relationships.map(\.description.name))
                let slots = Set(names.map(HistorySlots.Slot.property)).union([.oneToMany, .manyToMany])
                writer.list(key, as: .update, changing: slots)
            case .delete:
                let kept = try sides.base?.stored(entity.tombstoneAttributes, of: entity.name, listing.row.key)
                let tombstone = entity.tombstoneAttributes.map { kept?[$0] ?? .null }
                writer.list(key, as: .delete, tombstone: tombstone)
            }
        }
    }
}
