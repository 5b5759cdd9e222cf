import StoreAccess

extension PlainPlanner {
    /// Keeps or restores the parents of rows, so that no reference dangles that did not before.
    ///
    /// A row whose parent cannot be restored is parked.
    mutating func keepForeignKeys() throws {
        try keepWhatSharedRowsLeadTo()
        var isSettled = false
        while !isSettled {
            isSettled = true
            for index in layout.order where !layout.tables[index].foreignKeys.isEmpty {
                for key in try sortedKeys(of: index) {
                    guard let action = plan.actions[index][key], action.kind != .delete else { continue }
                    if try keepParents(of: action, key, index) { isSettled = false }
                }
                if try keepParentsWithoutKey(index) { isSettled = false }
            }
            try giveWayToTakenValues()
            try monitor.checkCancellation()
        }
    }

    // MARK: Parents of old rows

    /// True if the plan changed.
    private mutating func keepParents(of action: PlainPlan.Action, _ key: PlainKey, _ index: Int) throws -> Bool {
        let table = layout.tables[index]
        let values = try table.knownRow(action.source, in: old)
        for foreignKey in table.foreignKeys {
            if action.kind == .update, Set(foreignKey.columns).isDisjoint(with: action.columns) { continue }
            switch try parent(foreignKey, of: values) {
            case .isThere: continue
            case .cameBack: return true
            case .isGone:
                report(.partnerGone, key, in: index, old: .present, shared: .deleted, taken: .shared)
                park(.old, action.source, in: index, .partnerGone)
                if action.kind == .update {
                    var action = action
                    action.columns.removeAll(where: foreignKey.columns.contains)
                    plan.actions[index][key] = action.columns.isEmpty ? nil : action
                } else {
                    plan.actions[index][key] = nil
                    lost[index].insert(action.source)
                }
                return true
            }
        }
        return false
    }

    private mutating func keepParentsWithoutKey(_ index: Int) throws -> Bool {
        let table = layout.tables[index]
        guard table.isBag, !plan.added[index].isEmpty else { return false }
        var isChanged = false
        for row in changes[index].rows where row.removed == nil && !row.isGone {
            let mapped = plan.mapped(row.values, in: index)
            guard let place = plan.added[index].firstIndex(of: mapped) else { continue }
            for foreignKey in table.foreignKeys {
                let found = try parent(foreignKey, of: row.values)
                guard found != .isThere else { continue }
                isChanged = true
                guard found == .isGone else { continue }
                report(.partnerGone, PlainKey([]), in: index, old: .present, shared: .deleted, taken: .shared)
                park(.old, PlainKey([]), in: index, .partnerGone, values: row.values)
                plan.added[index].remove(at: place)
                break
            }
        }
        return isChanged
    }

    private enum Parent {
        case isThere, cameBack, isGone
    }

    /// Finds the parent row of the old store's values, and restores it if only the shared side deleted it.
    private mutating func parent(_ foreignKey: PlainTable.ForeignKey, of values: [SQLValue]) throws -> Parent {
        let wanted = foreignKey.columns.map { values[$0] }
        let there = layout.tables[foreignKey.parent]
        guard !wanted.contains(.null), !there.isBag else { return .isThere }
        // A reference that dangles in the old store may dangle in the shared one.
        guard let source = try there.keys(where: foreignKey.parentColumns, are: wanted, in: old).first else {
            return .isThere
        }
        let target = there.key(of: try mappedRow(source, in: foreignKey.parent))
        if try exists(target, in: foreignKey.parent) { return .isThere }
        guard !lost[foreignKey.parent].contains(source), policy(for: foreignKey.parent) != .rollback else {
            return .isGone
        }
        plan.actions[foreignKey.parent][target] = PlainPlan.Action(kind: .restore, source: source, columns: [])
        report(
            .editedAndDeleted,
            target,
            in: foreignKey.parent,
            base: .present,
            old: .present,
            shared: .deleted,
            taken: .old
        )
        noteSurvivor(of: foreignKey.parent)
        return .cameBack
    }

    // MARK: Parents of shared rows

    /// Keeps rows that the old side deleted, if the shared side added references to them.
    private mutating func keepWhatSharedRowsLeadTo() throws {
        for (child, table) in layout.tables.enumerated() {
            for foreignKey in table.foreignKeys {
                let parent = layout.tables[foreignKey.parent]
                let doomed = plan.actions[foreignKey.parent].filter { $0.value.kind == .delete }.map(\.key)
                guard !doomed.isEmpty, !parent.isBag else { continue }
                var byValues: [PlainKey: PlainKey] = [:]
                for key in doomed {
                    let row = try parent.knownRow(key, in: shared)
                    byValues[PlainKey(foreignKey.parentColumns.map { row[$0] })] = key
                }
                var needed: [PlainKey] = []
                func consider(_ holder: PlainKey, _ values: [SQLValue]) throws {
                    guard let key = byValues[PlainKey(values)],
                        try leads(holder, child, foreignKey, to: values)
                    else { return }
                    needed.append(key)
                }
                if let first = foreignKey.columns.first, table.indexed.contains(first) {
                    for values in byValues.keys {
                        for holder in try table.keys(
                            where: foreignKey.columns,
                            are: values.values,
                            in: shared,
                            onlyOwn: true
                        ) {
                            try consider(holder, values.values)
                        }
                    }
                } else {
                    try table.forEach(foreignKey.columns, in: shared) { try consider($0, $1) }
                }
                for key in needed { try keep(key, in: foreignKey.parent) }
            }
        }
    }

    /// True if a row of the shared store has this reference after the merge, and the old store's row does not.
    private func leads(
        _ holder: PlainKey,
        _ child: Int,
        _ foreignKey: PlainTable.ForeignKey,
        to values: [SQLValue]
    ) throws -> Bool {
        let table = layout.tables[child]
        if table.isBag {
            guard plan.removed[child][holder.values.first?.integer ?? 0] == nil else { return false }
            guard foreignKey.leadsToKey, foreignKey.columns.count == 1 else {
                return try table.keys(where: foreignKey.columns, are: values, in: old, onlyOwn: true).isEmpty
            }
            guard let own = plan.own(PlainKey(values), in: foreignKey.parent) else { return true }
            return try table.keys(where: foreignKey.columns, are: own.values, in: old, onlyOwn: true).isEmpty
        }
        guard let row = try merged(holder, in: child), foreignKey.columns.map({ row[$0] }) == values else {
            return false
        }
        // The old store itself leaves this reference dangling, and the merge does the same.
        guard let own = plan.own(holder, in: child), let former = try table.row(own, in: old) else { return true }
        let mapped = plan.mapped(former, in: child)
        return foreignKey.columns.map { mapped[$0] } != values
    }

    /// Keeps a row that the plan deleted, and the rows that it refers to.
    private mutating func keep(_ key: PlainKey, in index: Int) throws {
        var waiting = [(index, key)]
        while let (index, key) = waiting.popLast() {
            guard plan.actions[index][key]?.kind == .delete else { continue }
            plan.actions[index][key] = nil
            report(
                .editedAndDeleted,
                key,
                in: index,
                base: .present,
                old: .deleted,
                shared: .present,
                taken: .shared
            )
            noteSurvivor(of: index)
            let row = try layout.tables[index].knownRow(key, in: shared)
            for foreignKey in layout.tables[index].foreignKeys {
                let values = foreignKey.columns.map { row[$0] }
                let keys = try layout.tables[foreignKey.parent]
                    .keys(where: foreignKey.parentColumns, are: values, in: shared)
                waiting += keys.map { (foreignKey.parent, $0) }
            }
        }
    }
}
