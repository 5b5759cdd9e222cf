import StoreFormat

extension PlainPlanner {
    /// Finds the key that each row inserted by the old side gets in the shared store.
    ///
    /// If tables refer to each other in a cycle, the search repeats until nothing changes.
    mutating func mapKeys() throws {
        for _ in 0..<8 {
            let former = plan.targets
            for table in layout.order { try mapKeys(of: table) }
            guard layout.hasForeignKeyCircle, plan.targets != former else { return }
        }
    }

    private mutating func mapKeys(of index: Int) throws {
        let table = layout.tables[index]
        guard !table.isBag else { return }
        var targets = plan.known[index]
        var greatest: Int64?
        // A row of the shared store matches at most one row of the old side.
        var joined = Set(targets.values.map(\.key))
        for change in changes[index].changes where change.kind == .inserted {
            let row = try table.knownRow(change.key, in: old)
            // The keys of referenced rows are known; in a cycle, those that the last round found.
            let values = plan.following(row, in: index)
            let natural = table.key(of: values)
            func move(to key: PlainKey, _ reason: RekeyingReason) {
                if key != change.key { targets[change.key] = PlainPlan.Target(key: key, reason: reason) }
            }
            if table.isVirtual, let owner = table.follows, let target = plan.targets[owner][change.key] {
                targets[change.key] = target
                continue
            }
            if let holder = try identityHolder(of: values, in: index), joined.insert(holder).inserted {
                move(to: holder, .sameObject)
                continue
            }
            // An earlier merge assigned this key to another row of the old store.
            let isTaken = plan.origins[index][natural] != nil
            let there = try isTaken ? nil : table.row(natural, in: shared)
            let isReleased = changed[index][natural]?.kind == .deleted
            if let there, !isReleased, there == values {
                move(to: natural, .sameObject)
            } else if let holder = try uniqueHolder(of: values, besides: natural, in: index),
                joined.insert(holder).inserted
            {
                move(to: holder, .sameObject)
            } else if table.hasMovableKey,
                try isTaken || (there != nil && !isReleased) || wasGivenOutByShared(natural, in: index)
            {
                let last = try greatest ?? max(table.greatestKey(in: old), table.greatestKey(in: shared))
                guard last < Int64.max else {
                    throw StoreError(
                        .incompatible,
                        path: shared.location.path,
                        "the table \(table.name) has no number left for another row"
                    )
                }
                greatest = last + 1
                move(to: PlainKey(last + 1), .newKey)
            } else {
                move(to: natural, there == nil ? .newKey : .sameObject)
            }
        }
        plan.targets[index] = targets
    }

    /// AUTOINCREMENT never reuses a number, even that of a deleted row.
    private func wasGivenOutByShared(_ key: PlainKey, in index: Int) throws -> Bool {
        let table = layout.tables[index]
        guard table.isAutoincrement, let base, let number = key.values.first?.integer else { return false }
        return try number > table.sequence(in: base) && number <= table.sequence(in: shared)
            && table.row(key, in: shared) == nil
    }

    /// The row that the shared side also added, matched by the columns of the caller's identity.
    private func identityHolder(of values: [SQLValue], in index: Int) throws -> PlainKey? {
        let table = layout.tables[index]
        guard let names = settings.identities[table.name] else { return nil }
        let columns = names.compactMap { name in table.columns.firstIndex { $0.lowercased() == name.lowercased() } }
        guard columns.count == names.count else {
            throw StoreError(
                .wrongSettings,
                path: shared.location.path,
                "the merge does not read all columns of the identity of the table \(table.name)"
            )
        }
        for key in try table.keys(where: columns, are: columns.map { values[$0] }, in: shared) {
            guard let base else { return key }
            guard plan.origins[index][key] == nil else { continue }
            if try plan.known[index][key] != nil || table.row(key, in: base) == nil { return key }
        }
        return nil
    }

    /// The row of the shared store that has these unique values and keeps them.
    private func uniqueHolder(of values: [SQLValue], besides own: PlainKey, in index: Int) throws -> PlainKey? {
        let table = layout.tables[index]
        for unique in table.uniques where unique.columns != table.key {
            let wanted = unique.columns.map { values[$0] }
            for holder in try table.keys(where: unique.columns, are: wanted, in: shared) where holder != own {
                guard let change = changed[index][holder] else { return holder }
                if change.kind == .updated, Set(change.columns).isDisjoint(with: unique.columns) { return holder }
            }
        }
        return nil
    }
}
