import StoreFormat

extension PlainPlanner {
    /// Cancels changes whose unique values another row of the shared store keeps; the old side's row is parked.
    ///
    /// A cancelled change may keep values that a further row needs, so this repeats until nothing changes.
    mutating func giveWayToTakenValues() throws {
        var isSettled = false
        while !isSettled {
            isSettled = true
            for index in layout.order where !layout.tables[index].uniques.isEmpty {
                for key in try sortedKeys(of: index) {
                    guard let action = plan.actions[index][key], action.kind != .delete else { continue }
                    if try giveWay(action, key, index) { isSettled = false }
                }
                if try giveWayWithoutKey(index) { isSettled = false }
            }
            try monitor.checkCancellation()
        }
    }

    func sortedKeys(of index: Int) throws -> [PlainKey] {
        try plan.actions[index].keys.sorted(checking: monitor.checkCancellation) { $0.precedes($1) }
    }

    private mutating func giveWay(_ action: PlainPlan.Action, _ key: PlainKey, _ index: Int) throws -> Bool {
        let table = layout.tables[index]
        guard let values = try merged(key, in: index) else { throw table.lostRow(in: shared) }
        for unique in table.uniques {
            if action.kind == .update, Set(unique.columns).isDisjoint(with: action.columns) { continue }
            guard try holder(unique, values, besides: key, index) != nil else { continue }
            report(.uniqueValues, key, in: index, old: .present, shared: .present, taken: .shared)
            park(.old, action.source, in: index, .uniqueValues)
            if action.kind == .update {
                var action = action
                action.columns.removeAll(where: unique.columns.contains)
                plan.actions[index][key] = action.columns.isEmpty ? nil : action
            } else {
                plan.actions[index][key] = nil
                lost[index].insert(action.source)
            }
            return true
        }
        return false
    }

    /// The row that has these values after the merge and keeps them.
    private func holder(
        _ unique: PlainTable.Unique,
        _ values: [SQLValue],
        besides own: PlainKey?,
        _ index: Int
    ) throws -> PlainKey? {
        let table = layout.tables[index]
        let wanted = unique.columns.map { values[$0] }
        for holder in try table.keys(where: unique.columns, are: wanted, in: shared) where holder != own {
            if table.isBag {
                if plan.removed[index][holder.values.first?.integer ?? 0] == nil { return holder }
                continue
            }
            guard let action = plan.actions[index][holder] else { return holder }
            if action.kind == .update, let row = try merged(holder, in: index),
                unique.columns.map({ row[$0] }) == wanted
            {
                return holder
            }
        }
        return nil
    }

    private mutating func giveWayWithoutKey(_ index: Int) throws -> Bool {
        guard layout.tables[index].isBag else { return false }
        var kept: [[SQLValue]] = []
        for values in plan.added[index] {
            var isTaken = false
            for unique in layout.tables[index].uniques where !isTaken {
                isTaken = try holder(unique, values, besides: nil, index) != nil
            }
            guard isTaken else {
                kept.append(values)
                continue
            }
            report(.uniqueValues, PlainKey([]), in: index, old: .present, shared: .present, taken: .shared)
            park(.old, PlainKey([]), in: index, .uniqueValues, values: values)
        }
        defer { plan.added[index] = kept }
        return kept.count != plan.added[index].count
    }
}
