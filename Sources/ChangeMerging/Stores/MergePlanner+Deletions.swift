import StoreFormat

extension MergePlanner {
    /// Decides about objects that one side deleted and the other kept.
    ///
    /// An edited object survives, together with the objects that it requires and those that its deletion cascaded to. A
    /// relationship added to or from an object counts as an edit; a lost member does not.
    mutating func decideDeletions() throws {
        guard let base = sides.base else { return }
        let deletedByOld = old.deleted.filter { shared.deleted[$0.key] == nil }
        let deletedByShared = shared.deleted.filter { old.deleted[$0.key] == nil && shared.inserted[$0.key] == nil }
        kept = try survivors(of: deletedByOld, deletedBy: .old, on: sides.shared, shared, base)
        let restored = try survivors(of: deletedByShared, deletedBy: .shared, on: sides.old, old, base)
        plan.deletions = deletedByOld.filter { !kept.contains($0.key) }
        plan.restorations = deletedByShared.filter { restored.contains($0.key) }
    }

    /// The rows that survive although `deleter` deleted them; `side` still has them.
    private mutating func survivors(
        of deleted: [RowKey: String],
        deletedBy deleter: MergeDirection,
        on side: MergeSide,
        _ changes: SideChanges,
        _ base: MergeSide
    ) throws -> Set<RowKey> {
        var led: Set<RowKey> = []
        var required: Set<RowKey> = []
        for link in changes.linksAdded {
            let relation = relation(link)
            for end in LinkRelation.Position.allCases {
                led.insert(row(link, end))
                if relation[end].isRequired, deleted[row(link, end)] == nil { required.insert(row(link, end.other)) }
            }
        }
        var survivors: Set<RowKey> = []
        var pending: [(row: RowKey, entity: String)] = []
        /// Where the conflicts are about which the resolver decided.
        var decided: [RowKey: Int] = [:]
        let keeper: MergeDirection = deleter == .old ? .shared : .old
        for row in SideChanges.sorted(deleted.keys) {
            guard let entity = deleted[row] else { continue }
            let isEdited = changes.updated[row]?.isEmpty == false || led.contains(row)
            guard isEdited else { continue }
            let survives: Bool
            let policy = policy(for: entity)
            switch policy {
            case .error: survives = false
            case .rollback: survives = deleter == .old
            case .overwrite: survives = deleter == .shared
            case .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .newest: survives = true
            }
            let isRequired = required.contains(row)
            let conflict = StoreMergeConflict(
                entity: entity,
                primaryKey: row.key,
                property: nil,
                reason: .editedAndDeleted,
                base: .present,
                old: deleter == .old ? .deleted : .present,
                shared: deleter == .old ? .present : .deleted,
                taken: .init(survives || isRequired ? keeper : deleter)
            )
            .resolved(by: isRequired ? nil : questions)
            if policy == .error, !conflict.isResolved { unsettled += 1 }
            plan.conflicts.append(conflict)
            if conflict.isResolved { decided[row] = plan.conflicts.count - 1 }
            if conflict.taken == .init(keeper) {
                note(.editSurvivedDeletion, entity)
                survivors.insert(row)
                pending.append((row, entity))
            } else {
                park(keeper, row, entity, .editedAndDeleted)
            }
        }
        while let (row, entity) = pending.popLast() {
            for companion in try companions(of: row, entity, on: side, base) {
                guard let entity = deleted[companion], survivors.insert(companion).inserted else { continue }
                if let index = decided[companion] { revoke(index, in: entity, keeping: keeper) }
                pending.append((companion, entity))
            }
        }
        return survivors
    }

    /// The objects that an object requires, and those that its deletion cascaded to.
    private func companions(
        of row: RowKey,
        _ entity: String,
        on side: MergeSide,
        _ base: MergeSide
    ) throws -> [RowKey] {
        var companions: [RowKey] = []
        for relation in side.relations {
            for end in LinkRelation.Position.allCases
            where relation[end].root == row.root && side.layout.model.isEntity(entity, kindOf: relation[end].entity) {
                var keys: [Int64] = []
                if relation[end].cascades {
                    keys += try base.partners(base.relations[relation.index], at: end, of: row.key)
                }
                if relation[end].isRequired { keys += try side.partners(relation, at: end, of: row.key) }
                companions += keys.map { RowKey(root: relation[end.other].root, key: $0) }
            }
        }
        return companions
    }

    /// Revokes a resolver's decision to delete an object that one that stays needs.
    private mutating func revoke(_ index: Int, in entity: String, keeping keeper: MergeDirection) {
        guard plan.conflicts[index].taken != .init(keeper) else { return }
        (plan.conflicts[index].taken, plan.conflicts[index].isResolved) = (.init(keeper), false)
        if policy(for: entity) == .error { unsettled += 1 }
    }
}

extension MergePlanner {
    /// The policy for an entity: its own, or that of its nearest ancestor with a policy.
    func policy(for entity: String) -> StoreMergePolicy {
        for ancestor in sides.shared.layout.model.lineage(of: entity).reversed() {
            if let policy = settings.policies[ancestor.name] { return policy }
        }
        return settings.policy
    }

    /// True if the old side's value of a contested property is taken.
    ///
    /// `name` is nil for the unnamed end of a relationship, which history does not record.
    mutating func takesOld(_ name: String?, of entity: String, from source: RowKey, into target: RowKey) -> Bool {
        switch policy(for: entity) {
        case .error, .mergeByPropertyStoreTrump, .rollback: return false
        case .mergeByPropertyObjectTrump, .overwrite: return true
        case .newest:
            guard let name, let here = oldTimes.time(of: name, in: source),
                let there = sharedTimes.time(of: name, in: target)
            else {
                note(.timesUnknown, entity, name)
                return false
            }
            return here > there
        }
    }

    mutating func note(_ kind: MergeNote.Kind, _ entity: String, _ property: String? = nil) {
        if let index = plan.notes.firstIndex(where: {
            $0.kind == kind && $0.entity == entity && $0.property == property
        }) {
            plan.notes[index].count += 1
        } else {
            plan.notes.append(MergeNote(kind, entity: entity, property: property, count: 1))
        }
    }
}
