import StoreFormat

extension MergePlanner {
    /// Decides, attribute by attribute, what the shared store takes of objects that both sides have.
    mutating func mergeAttributes() throws {
        for row in SideChanges.sorted(old.updated.keys) {
            guard let names = old.updated[row], !names.isEmpty, let entity = old.kinds[row],
                shared.deleted[row] == nil
            else { continue }
            let theirs = shared.updated[row] ?? []
            if theirs.isEmpty {
                try take(names, from: row, into: row, entity)
            } else {
                try merge(row, row, entity, names.union(theirs), isJoined: false)
            }
        }
        for source in SideChanges.sorted(plan.remapping.targets.keys) {
            guard let target = plan.remapping.targets[source], target.reason == .sameObject,
                let names = sides.old.layout.entities[target.entity]?.attributes
                    .filter({ !$0.description.isDerived }).map(\.description.name)
            else { continue }
            try merge(
                source,
                RowKey(root: source.root, key: target.key),
                target.entity,
                Set(names),
                isJoined: true
            )
        }
    }

    private mutating func merge(
        _ source: RowKey,
        _ target: RowKey,
        _ entity: String,
        _ names: Set<String>,
        isJoined: Bool
    ) throws {
        // Two objects that turn out to be one have no common past: each side fills what the other left empty.
        let base =
            isJoined
            ? Dictionary(uniqueKeysWithValues: names.map { ($0, SQLValue.null) })
            : try sides.base?.stored(names, of: entity, source.key) ?? [:]
        guard let here = try sides.old.stored(names, of: entity, source.key),
            let there = try sides.shared.stored(names, of: entity, target.key)
        else { return }
        let merge = ThreeWayMerge<SQLValue>(
            base: base,
            local: .changed(here.filter { $0.value != base[$0.key] }),
            store: .changed(there.filter { $0.value != base[$0.key] })
        )
        let policy = policy(for: entity)
        let takesOld = policy == .mergeByPropertyObjectTrump || policy == .overwrite
        let contested = merge.contestedProperties
        for name in contested {
            plan.conflicts.append(
                StoreMergeConflict(
                    entity: entity,
                    primaryKey: target.key,
                    property: name,
                    reason: .bothChanged,
                    base: base[name].map { .value($0) },
                    old: .value(here[name] ?? .null),
                    shared: .value(there[name] ?? .null),
                    taken: takesOld ? .old : .shared
                )
            )
        }
        var loses = !contested.isEmpty
        var taken: Set<String> = []
        switch merge.outcome(by: policy) {
        case .write(let values, _):
            taken = Set(values.keys)
            // An object that overwrites the other brings its untouched values back, which the other side changed.
            if policy == .overwrite { loses = true }
            try take(Set(values.keys), from: source, into: target, entity)
        case .fail: unsettled += 1
        case .keep: if policy == .rollback { loses = true }
        case .delete, .restore: break
        }
        // Whoever is not given the old side's values does not let go of its own.
        let unique = Set(constraints(of: entity).flatMap { $0 })
        if old.updated[source]?.intersection(unique).isSubset(of: taken) == false { holdingOn.insert(target) }
        if loses { park(takesOld ? .shared : .old, takesOld ? target : source, entity, .bothChanged) }
    }

    /// Leaves unique values that another object has out of objects that arrive or come back, and parks these.
    ///
    /// An object that cannot be without such a value does not come at all.
    mutating func omitTakenValues() throws {
        for insertion in plan.insertions {
            try omitTakenValues(of: insertion.entity, from: insertion.source, as: insertion.target)
        }
        for row in SideChanges.sorted(plan.restorations.keys) {
            if let entity = plan.restorations[row] { try omitTakenValues(of: entity, from: row, as: row) }
        }
        // What cannot be without its values is parked, and does not come.
        for (row, names) in plan.omitted {
            let entity = plan.restorations[row] ?? plan.insertions.first { $0.target == row }?.entity
            let attributes = entity.flatMap { sides.shared.layout.entities[$0]?.attributes } ?? []
            guard attributes.contains(where: { names.contains($0.description.name) && !$0.description.isOptional })
            else {
                continue
            }
            plan.omitted[row] = nil
            plan.restorations[row] = nil
            plan.insertions.removeAll { $0.target == row }
            arriving.remove(row)
            absent.insert(row)
        }
    }

    private mutating func omitTakenValues(of entity: String, from source: RowKey, as target: RowKey) throws {
        for constraint in constraints(of: entity) {
            let values = try sides.old.stored(constraint, of: entity, source.key) ?? [:]
            guard try !holders(of: values, in: entity).isEmpty else { continue }
            plan.conflicts.append(
                StoreMergeConflict(
                    entity: entity,
                    primaryKey: target.key,
                    property: constraint.first,
                    reason: .uniqueValues,
                    base: nil,
                    old: .value(constraint.first.flatMap { values[$0] } ?? .null),
                    shared: .value(.null),
                    taken: .shared
                )
            )
            park(.old, source, entity, .uniqueValues)
            plan.omitted[target, default: []].formUnion(constraint)
        }
    }

    /// Plans that these attributes take the old side's values, but for unique ones that another object has.
    private mutating func take(_ names: Set<String>, from source: RowKey, into target: RowKey, _ entity: String) throws
    {
        var names = names
        for constraint in constraints(of: entity) where !names.isDisjoint(with: constraint) {
            let given = try sides.old.stored(names.intersection(constraint), of: entity, source.key) ?? [:]
            let present = try sides.shared.stored(constraint, of: entity, target.key) ?? [:]
            guard try holders(of: present.merging(given) { $1 }, in: entity).contains(where: { $0.row != target })
            else { continue }
            for name in names.intersection(constraint).sorted(by: ManagedObjectModel.inByteOrder) {
                plan.conflicts.append(
                    StoreMergeConflict(
                        entity: entity,
                        primaryKey: target.key,
                        property: name,
                        reason: .uniqueValues,
                        base: nil,
                        old: .value(given[name] ?? .null),
                        shared: .value(present[name] ?? .null),
                        taken: .shared
                    )
                )
            }
            park(.old, source, entity, .uniqueValues)
            holdingOn.insert(target)
            names.subtract(constraint)
        }
        guard !names.isEmpty else { return }
        plan.updates.append(MergePlan.Update(source: source, target: target, entity: entity, names: names))
    }
}
