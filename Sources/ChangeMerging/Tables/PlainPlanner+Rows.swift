import StoreAccess

extension PlainPlanner {
    /// Decides what happens to each row that the old side changed.
    mutating func decide(_ index: Int) throws {
        let table = layout.tables[index]
        for change in changes[index].changes {
            switch change.kind {
            case .inserted: try decideInserted(change, index)
            case .updated: try decideUpdated(change, index)
            case .deleted: try decideDeleted(change, index)
            }
        }
        for row in changes[index].rows {
            if row.isGone {
                try removeMapped(row.values, index)
                continue
            }
            if let number = row.removed {
                plan.removed[index][number] = row.values
                continue
            }
            let values = plan.mapped(row.values, in: index)
            // Both sides added an equal row, unless the old row's references need translated keys.
            if row.isInBoth, values == row.values { continue }
            if values != row.values, try holds(values, in: table) { continue }
            plan.added[index].append(values)
        }
    }

    /// Removes the shared store's counterpart of a row without a key.
    private mutating func removeMapped(_ values: [SQLValue], _ index: Int) throws {
        let table = layout.tables[index]
        let mapped = plan.mappedFromBase(values, in: index)
        let conditions = table.columns.map { "\(SQLName.quoted($0)) IS ?" }.joined(separator: " AND ")
        var number: Int64?
        try shared.forEachRow(
            "SELECT \(SQLName.quoted(table.rowID ?? "rowid")) FROM \(table.quotedName) WHERE \(conditions)",
            mapped
        ) { row in
            if number == nil, plan.removed[index][row.integer(0)] == nil { number = row.integer(0) }
        }
        if let number { plan.removed[index][number] = mapped }
    }

    /// True if the shared store has an equal row, in a table without a key.
    private func holds(_ values: [SQLValue], in table: PlainTable) throws -> Bool {
        let conditions = table.columns.map { "\(SQLName.quoted($0)) IS ?" }.joined(separator: " AND ")
        return try shared.value("SELECT 1 FROM \(table.quotedName) WHERE \(conditions) LIMIT 1", values) != nil
    }

    private mutating func decideInserted(_ change: PlainChanges.Change, _ index: Int) throws {
        let table = layout.tables[index]
        let target = plan.target(of: change.key, in: index)
        let values = try mappedRow(change.key, in: index)
        guard let there = try table.row(target, in: shared), changed[index][target]?.kind != .deleted else {
            plan.actions[index][target] = PlainPlan.Action(kind: .insert, source: change.key, columns: [])
            return
        }
        let columns = table.columns.indices.filter { !table.key.contains($0) && values[$0] != there[$0] }
        guard !columns.isEmpty else { return }
        // Both sides added it: a value known to one side only is taken, and the policy decides the others.
        let contested = columns.filter { values[$0] != .null && there[$0] != .null }
        let gaps = columns.filter { there[$0] == .null }
        let policy = policy(for: index)
        let takesOld = policy.takesOld
        let decisions = decisions(about: contested, of: target, in: index, values, there, takesOld)
        if policy == .error, decisions.isUnsettled { unsettled += 1 }
        let rest = columns.filter { !contested.contains($0) }
        let taken = decisions.taken + (policy == .rollback ? [] : policy == .overwrite ? rest : gaps)
        let isOldLost = taken.count < gaps.count + contested.count || !decisions.given.isEmpty
        if isOldLost { park(.old, change.key, in: index, .bothChanged) }
        if !decisions.taken.isEmpty { park(.shared, target, in: index, .bothChanged) }
        update(target, from: change.key, taken, decisions, index)
    }

    /// The decisions about the columns of one row that both sides changed.
    struct Decisions {
        /// The columns that do not keep the shared store's value.
        private(set) var taken: [Int] = []
        /// The values that a resolver gave to some of these.
        private(set) var given: [Int: SQLValue] = [:]
        /// True if no resolver decided a column.
        private(set) var isUnsettled = false

        init(_ conflicts: [(column: Int, conflict: StoreMergeConflict)]) {
            for (column, conflict) in conflicts {
                if !conflict.isResolved { isUnsettled = true }
                switch conflict.taken {
                case .shared: continue
                case .old: break
                case .value(let value): given[column] = value.sqlValue
                }
                taken.append(column)
            }
        }
    }

    /// Reports the columns of a row that both sides changed, since `former` if there was one.
    private mutating func decisions(
        about contested: [Int],
        of key: PlainKey,
        in index: Int,
        _ values: [SQLValue],
        _ there: [SQLValue],
        _ takesOld: Bool,
        since former: [SQLValue]? = nil
    ) -> Decisions {
        Decisions(
            contested.map { column in
                let conflict = report(
                    .bothChanged,
                    key,
                    in: index,
                    column: column,
                    base: former.map { .init($0[column]) },
                    old: .init(values[column]),
                    shared: .init(there[column]),
                    taken: takesOld ? .old : .shared,
                    isOpen: true
                )
                return (column, conflict)
            }
        )
    }

    private mutating func update(
        _ key: PlainKey,
        from source: PlainKey,
        _ columns: [Int],
        _ decisions: Decisions,
        _ index: Int
    ) {
        guard !columns.isEmpty else { return }
        plan.actions[index][key] = PlainPlan.Action(
            kind: .update,
            source: source,
            columns: columnLists.shared(columns.sorted()),
            given: decisions.given
        )
    }

    private mutating func decideUpdated(_ change: PlainChanges.Change, _ index: Int) throws {
        let table = layout.tables[index]
        let values = try mappedRow(change.key, in: index)
        let key = table.key(of: values)
        let policy = policy(for: index)
        guard let there = try table.row(key, in: shared) else {
            // The shared side deleted the row. The edit survives.
            let conflict = report(
                .editedAndDeleted,
                key,
                in: index,
                base: .present,
                old: .present,
                shared: .deleted,
                taken: policy != .rollback ? .old : .shared,
                isOpen: true
            )
            if policy == .error, !conflict.isResolved { unsettled += 1 }
            if conflict.taken == .old {
                plan.actions[index][key] = PlainPlan.Action(kind: .restore, source: change.key, columns: [])
                noteSurvivor(of: index)
            } else {
                park(.old, change.key, in: index, .editedAndDeleted)
                lost[index].insert(change.key)
            }
            return
        }
        let former =
            try base.map { try table.knownRow(change.key, in: $0) }.map { plan.mappedFromBase($0, in: index) } ?? there
        let own = change.columns.filter { values[$0] != there[$0] }
        let theirs = Set(table.columns.indices.filter { there[$0] != former[$0] })
        let contested = own.filter(theirs.contains)
        var taken = own.filter { !theirs.contains($0) }
        let isConflict = !theirs.isEmpty && !own.isEmpty
        switch policy {
        case .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump: break
        case .overwrite:
            if isConflict {
                taken = table.columns.indices.filter { values[$0] != there[$0] && !contested.contains($0) }
            }
        case .rollback: if isConflict { taken = [] }
        }
        let takesOld = policy.takesOld
        let decisions = decisions(about: contested, of: key, in: index, values, there, takesOld, since: former)
        // Under `error` a row that both sides changed is a conflict, even if they changed different columns.
        if policy == .error, isConflict, contested.isEmpty || decisions.isUnsettled { unsettled += 1 }
        taken += decisions.taken
        // Under `error`, or before the resolver was asked, nothing is decided yet.
        let isDecided =
            policy == .error ? !contested.isEmpty && !decisions.isUnsettled : questions == nil || !decisions.isUnsettled
        if isDecided, isConflict,
            let row = try reusedKey(
                of: change,
                in: index,
                former: former,
                old: values,
                shared: there,
                decisions,
                taken: taken
            )
        {
            reused.append(row)
            return
        }
        let isOldLost = own.contains { !taken.contains($0) } || !decisions.given.isEmpty
        if isOldLost { park(.old, change.key, in: index, .bothChanged) }
        if isConflict, taken.contains(where: theirs.contains) { park(.shared, key, in: index, .bothChanged) }
        update(key, from: change.key, taken, decisions, index)
    }

    private mutating func decideDeleted(_ change: PlainChanges.Change, _ index: Int) throws {
        let table = layout.tables[index]
        guard let base else { return }
        let former = plan.mappedFromBase(try table.knownRow(change.key, in: base), in: index)
        let key = table.key(of: former)
        guard let there = try table.row(key, in: shared) else { return }
        guard former != there else {
            plan.actions[index][key] = PlainPlan.Action(kind: .delete, source: change.key, columns: [])
            return
        }
        let policy = policy(for: index)
        let conflict = report(
            .editedAndDeleted,
            key,
            in: index,
            base: .present,
            old: .deleted,
            shared: .present,
            taken: policy == .overwrite ? .old : .shared,
            isOpen: true
        )
        if policy == .error, !conflict.isResolved { unsettled += 1 }
        if conflict.taken == .old {
            park(.shared, key, in: index, .editedAndDeleted)
            plan.actions[index][key] = PlainPlan.Action(kind: .delete, source: change.key, columns: [])
        } else {
            noteSurvivor(of: index)
        }
    }
}
