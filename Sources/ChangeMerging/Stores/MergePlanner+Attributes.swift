import StoreAccess
import StoreFormat

extension MergePlanner {
    /// Decides, attribute by attribute, the shared store's values of objects that both sides have.
    mutating func mergeAttributes() throws {
        for row in SideChanges.sorted(old.updated.keys) {
            guard var names = old.updated[row], !names.isEmpty, let entity = old.kinds[row],
                shared.deleted[row] == nil
            else { continue }
            parkLackingAttributes(&names, of: row, entity)
            guard !names.isEmpty else { continue }
            let theirs = shared.updated[row] ?? []
            if theirs.isEmpty {
                try take(names, from: row, into: row, entity)
            } else {
                try merge(row, row, entity, names.union(theirs), isJoined: false)
            }
        }
        for (source, target) in plan.remapping.rekeyed where target.reason == .sameObject {
            guard
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
        // Two matched objects have no common base: each side fills in values that the other lacks.
        let base =
            isJoined
            ? Dictionary(uniqueKeysWithValues: names.map { ($0, SQLValue.null) })
            : try sides.base?.stored(names, of: entity, source.key) ?? [:]
        guard var here = try sides.old.stored(names, of: entity, source.key),
            var there = try sides.shared.stored(names, of: entity, target.key)
        else { throw lostObject(entity) }
        if !isJoined, let side = sides.base { unify(&there, of: sides.shared, with: base, of: side, entity) }
        if !isJoined, let side = sides.base { unify(&here, of: sides.old, with: base, of: side, entity) }
        unify(&here, of: sides.old, with: there, of: sides.shared, entity)
        let merge = ThreeWayMerge<SQLValue>(
            base: base,
            local: .changed(here.filter { $0.value != base[$0.key] }),
            store: .changed(there.filter { $0.value != base[$0.key] })
        )
        let policy = policy(for: entity)
        let contested = merge.contestedProperties
        var losers: Set<MergeDirection> = []
        var taken: Set<String> = []
        var given: [String: SQLValue] = [:]
        var isSettled = !contested.isEmpty
        for name in contested {
            let takesOld = takesOld(name, of: entity, from: source, into: target)
            let conflict = StoreMergeConflict(
                entity: entity,
                primaryKey: target.key,
                property: name,
                reason: .bothChanged,
                base: isJoined ? nil : base[name].map(StoreMergeConflict.State.init),
                old: .init(here[name] ?? .null),
                shared: .init(there[name] ?? .null),
                taken: takesOld ? .old : .shared,
                acceptsValue: isFree(name, of: entity)
            )
            .resolved(by: questions)
            plan.conflicts.append(conflict)
            if !conflict.isResolved { isSettled = false }
            switch conflict.taken {
            case .shared: losers.insert(.old)
            case .old:
                losers.insert(.shared)
                taken.insert(name)
            case .value(let value):
                losers.formUnion([.old, .shared])
                given[name] = try value.sqlValue(for: conflict, attribute(name, of: entity), at: path)
            }
        }
        // The resolver decided what `error` leaves open; values that one side changed are merged.
        switch merge.outcome(by: policy == .error && isSettled ? .mergeByPropertyStoreTrump : policy.rule) {
        case .write(let values, _):
            taken.formUnion(values.keys.filter { !contested.contains($0) })
            // Under `overwrite` the old side's unchanged values replace values that the other side changed.
            if policy == .overwrite, values.keys.contains(where: { there[$0] != base[$0] }) { losers.insert(.shared) }
        case .fail:
            unsettled += 1
            // Under `error` an object that both sides changed is a conflict, even if they changed different properties.
            if contested.isEmpty { reportBothTouched(target, entity) }
        case .keep:
            let isLost = here.contains { $0.value != base[$0.key] && $0.value != there[$0.key] }
            if policy == .rollback, isLost { losers.insert(.old) }
        case .delete, .restore: break
        }
        if !taken.isEmpty { try take(taken, from: source, into: target, entity) }
        if !given.isEmpty {
            plan.updates.append(
                MergePlan.Update(
                    source: source,
                    target: target,
                    entity: entity,
                    names: Set(given.keys),
                    given: given
                )
            )
        }
        // An object that does not take the old side's values keeps its own unique values.
        let unique = Set(rules.constraints(of: entity).flatMap { $0 })
        if old.updated[source]?.intersection(unique).isSubset(of: taken) == false { holdingOn.insert(target) }
        for side in losers { park(side, side == .shared ? target : source, entity, .bothChanged) }
    }

    private func attribute(_ name: String, of entity: String) -> AttributeDescription? {
        sides.shared.layout.entities[entity]?.attribute(name)?.description
    }

    /// True for an attribute that can have any value of its type.
    private func isFree(_ name: String, of entity: String) -> Bool {
        guard let attribute = attribute(name, of: entity) else { return false }
        return switch attribute.type {
        // Only the program that wrote such bytes knows which of them it can read.
        case .transformable, .composite, .objectID: false
        default:
            !attribute.allowsExternalBinaryDataStorage && !rules.constraints(of: entity).joined().contains(name)
        }
    }

    private var path: String { sides.shared.connection.location.path }

    private func lostObject(_ entity: String) -> StoreError {
        StoreError(
            .changedMeanwhile,
            path: path,
            "an object of \(entity) is missing under its key; nothing was merged"
        )
    }

    /// Makes equal large values compare equal: each store has a file of its own for the same bytes.
    private func unify(
        _ values: inout [String: SQLValue],
        of side: MergeSide,
        with others: [String: SQLValue],
        of other: MergeSide,
        _ entity: String
    ) {
        for attribute in side.layout.entities[entity]?.attributes ?? []
        where attribute.description.allowsExternalBinaryDataStorage {
            let name = attribute.description.name
            guard let value = values[name], let known = others[name], value != known else { continue }
            if side.holds(value, sameAs: known, of: other, attribute.description) { values[name] = known }
        }
    }

    private mutating func reportBothTouched(_ row: RowKey, _ entity: String) {
        plan.conflicts.append(
            StoreMergeConflict(
                entity: entity,
                primaryKey: row.key,
                property: nil,
                reason: .bothChanged,
                base: .present,
                old: .present,
                shared: .present,
                taken: .shared
            )
        )
    }

    /// Omits unique values that another object has from inserted and restored objects, and parks these objects.
    ///
    /// An object that requires such a value is not inserted at all.
    mutating func omitTakenValues() throws {
        for insertion in plan.insertions {
            try omitTakenValues(of: insertion.entity, from: insertion.source, as: insertion.target)
        }
        for row in SideChanges.sorted(plan.restorations.keys) {
            if let entity = plan.restorations[row] { try omitTakenValues(of: entity, from: row, as: row) }
        }
        guard !plan.omitted.isEmpty else { return }
        let entities = Dictionary(
            plan.insertions.map { ($0.target, $0.entity) },
            uniquingKeysWith: { first, _ in first }
        )
        // An object that requires the omitted values is parked and not inserted.
        for (row, names) in plan.omitted {
            let entity = plan.restorations[row] ?? entities[row]
            let attributes = entity.flatMap { sides.shared.layout.entities[$0]?.attributes } ?? []
            guard attributes.contains(where: { names.contains($0.description.name) && !$0.description.isOptional })
            else {
                continue
            }
            plan.omitted[row] = nil
            plan.restorations[row] = nil
            arriving.remove(row)
            absent.insert(row)
        }
        if !absent.isEmpty { plan.insertions.removeAll { absent.contains($0.target) } }
    }

    private mutating func omitTakenValues(of entity: String, from source: RowKey, as target: RowKey) throws {
        for constraint in rules.constraints(of: entity) {
            let values = try sides.old.stored(constraint, of: entity, source.key) ?? [:]
            guard try !holders(of: values, in: entity).isEmpty else { continue }
            plan.conflicts.append(
                StoreMergeConflict(
                    entity: entity,
                    primaryKey: target.key,
                    property: constraint.first,
                    reason: .uniqueValues,
                    base: nil,
                    old: .init(constraint.first.flatMap { values[$0] } ?? .null),
                    shared: .value(.null),
                    taken: .shared
                )
            )
            park(.old, source, entity, .uniqueValues)
            plan.omitted[target, default: []].formUnion(constraint)
        }
    }

    /// Plans that these attributes take the old side's values, except unique values that another object has.
    private mutating func take(_ names: Set<String>, from source: RowKey, into target: RowKey, _ entity: String) throws
    {
        var names = names
        for constraint in rules.constraints(of: entity) where !names.isDisjoint(with: constraint) {
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
                        old: .init(given[name] ?? .null),
                        shared: .init(present[name] ?? .null),
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
