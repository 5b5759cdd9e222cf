import StoreAccess

/// A row that the old side changed, where one side has another row under the number of the row of the base.
///
/// SQLite gives the number of a deleted last row to the next row.
struct ReusedKey {
    let table: Int
    let change: PlainChanges.Change
    /// The number in the shared store.
    let key: PlainKey
    /// The side that deleted the row of the base and has a new row.
    let side: MergeDirection
}

extension PlainPlanner {
    /// Decides what happens to every row, so that no decision about columns mixes two rows that share only a number.
    ///
    /// Such rows are known only when the decisions are. They are separated then, and everything is decided again.
    mutating func decideRows() throws {
        while true {
            var trial = self
            try trial.mapKeys()
            for table in layout.order { try trial.decide(table) }
            guard !trial.reused.isEmpty else {
                self = trial
                return
            }
            var separated: [Int: [PlainKey: PlainChanges.Change]] = [:]
            for row in trial.reused { separated[row.table, default: [:]][row.change.key] = separate(row) }
            for (index, rows) in separated {
                changes[index].changes = changes[index].changes.map { rows[$0.key] ?? $0 }
            }
        }
    }

    /// The rows if the decisions about the columns that differ would make one row of two.
    mutating func reusedKey(
        of change: PlainChanges.Change,
        in index: Int,
        former: [SQLValue],
        old values: [SQLValue],
        shared there: [SQLValue],
        _ decisions: Decisions,
        taken: [Int]
    ) throws -> ReusedKey? {
        let table = layout.tables[index]
        guard let base, table.hasMovableKey, !table.isAutoincrement, !table.isVirtual else { return nil }
        let differing = table.columns.indices.filter { values[$0] != there[$0] }
        let sources = [
            taken.contains { decisions.given[$0] == nil }, differing.contains { !taken.contains($0) },
            !decisions.given.isEmpty,
        ]
        guard sources.count(where: \.self) > 1 else { return nil }
        let isOldReplaced = Self.isAnother(values, than: former, table)
        guard isOldReplaced || Self.isAnother(there, than: former, table) else { return nil }
        let side: MergeDirection = isOldReplaced ? .old : .shared
        let last = try lastKeptKeys[index][side] ?? lastKept(index, in: side == .old ? old : shared, since: base)
        lastKeptKeys[index][side] = .some(last)
        if let last, !last.precedes(change.key) { return nil }
        return ReusedKey(table: index, change: change, key: table.key(of: values), side: side)
    }

    /// Makes two rows of one: the row of the base, which one side edited and the other deleted, and the new row.
    ///
    /// Both stay, and a conflict is reported. Returns the insertion of the old side's one, which gets a new number.
    private mutating func separate(_ row: ReusedKey) -> PlainChanges.Change {
        let (index, source) = (row.table, row.change.key)
        report(
            .editedAndDeleted,
            row.key,
            in: index,
            base: .present,
            old: row.side == .old ? .deleted : .present,
            shared: row.side == .old ? .present : .deleted,
            taken: row.side == .old ? .shared : .old
        )
        noteSurvivor(of: index)
        plan.forgetTarget(of: source, in: index)
        changed[index][row.key] = nil
        separated[index].insert(source)
        return PlainChanges.Change(
            key: source,
            kind: .inserted,
            columns: Array(layout.tables[index].columns.indices)
        )
    }

    /// True if a row shares nothing with the former one except its key.
    private static func isAnother(_ row: [SQLValue], than former: [SQLValue], _ table: PlainTable) -> Bool {
        let known = former.indices.filter { !table.key.contains($0) && former[$0] != .null }
        return !known.isEmpty && known.allSatisfy { row[$0] != former[$0] }
    }

    /// The greatest key of the base whose row the side kept, or nil: SQLite reuses only greater keys.
    private func lastKept(
        _ index: Int,
        in side: StoreConnection,
        since base: StoreConnection
    ) throws -> PlainKey? {
        let table = layout.tables[index]
        return try base.referencing(table.source) { byReference in
            let cursor = try base.cursor(table.scanFromTheEnd(references: byReference ? base : nil))
            while try cursor.next() {
                try monitor.checkCancellation()
                let values = cursor.withRow { table.values(of: $0, in: base) }
                let former = plan.mappedFromBase(values, in: index)
                let key = table.key(of: side === shared ? former : values)
                guard let row = try table.row(key, in: side) else { continue }
                let now = side === shared ? row : plan.mapped(row, in: index)
                guard !Self.isAnother(now, than: former, table) else { continue }
                return table.key(of: values)
            }
            return nil
        }
    }
}
