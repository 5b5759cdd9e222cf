import StoreAccess

/// Finds the old side's changes by reading it and the base together in key order; no table is kept in memory.
struct PlainScan {
    /// Nil if no base was kept: then every row counts as added by the old side.
    let base: StoreConnection?
    let old: StoreConnection
    let shared: StoreConnection
    let monitor: WorkMonitor

    /// `moved` lists the columns that refer to rows with other keys in the shared store, and these rows' keys.
    func changes(of table: PlainTable, moved: [(column: Int, keys: Set<SQLValue>)] = []) throws -> PlainChanges {
        func cursor(_ connection: StoreConnection, _ byReference: Bool) throws -> StoreCursor {
            try connection.cursor(table.scan(references: byReference ? connection : nil))
        }
        guard !table.isBag else {
            return try StoreConnection.referencing([base, old, shared].compactMap { $0 }, table.source) { byReference in
                let cursors = try [base, old, shared].map { try $0.map { try cursor($0, byReference) } }
                return try rows(of: table, cursors, moved)
            }
        }
        return try StoreConnection.referencing([base, old].compactMap { $0 }, table.source) { byReference in
            try keyed(table, base.map { try cursor($0, byReference) }, cursor(old, byReference))
        }
    }

    private func keyed(_ table: PlainTable, _ before: StoreCursor?, _ now: StoreCursor) throws -> PlainChanges {
        var result = PlainChanges()
        var (isBefore, isNow) = (try before?.next() ?? false, try now.next())
        let columns = Array(table.columns.indices)
        var lists = PlainChanges.ColumnLists()
        while isBefore || isNow {
            var order = isBefore ? (isNow ? 0 : -1) : 1
            if isBefore, isNow, let before {
                order = before.withRow { was in now.withRow { was.order(table.key, against: $0) } }
            }
            if order < 0 {
                let key = before?.withRow { row in PlainKey(table.key.map { row.value($0) }) }
                if let key { result.changes.append(PlainChanges.Change(key: key, kind: .deleted, columns: [])) }
            } else if order > 0 {
                let key = now.withRow { row in PlainKey(table.key.map { row.value($0) }) }
                result.changes.append(PlainChanges.Change(key: key, kind: .inserted, columns: columns))
            } else if let before {
                before.withRow { was in
                    now.withRow { row in
                        var changed: [Int] = []
                        for column in columns where !row.holds(column, sameAs: was, column) { changed.append(column) }
                        guard !changed.isEmpty else { return }
                        let key = PlainKey(table.key.map { row.value($0) })
                        let list = lists.shared(changed)
                        result.changes.append(PlainChanges.Change(key: key, kind: .updated, columns: list))
                    }
                }
            }
            if order <= 0 { isBefore = try before?.next() ?? false }
            if order >= 0 { isNow = try now.next() }
            try monitor.checkCancellation()
        }
        return result
    }

    /// Pairs equal rows one to one; the unpaired ones were added or removed.
    ///
    /// Rows that refer to moved rows have no equals in the shared store, and are counted instead.
    private func rows(
        of table: PlainTable,
        _ cursors: [StoreCursor?],
        _ moved: [(column: Int, keys: Set<SQLValue>)]
    ) throws -> PlainChanges {
        var result = PlainChanges()
        var counts: [[SQLValue]: Int] = [:]
        func advance(_ index: Int) throws -> Bool {
            guard let cursor = cursors[index] else { return false }
            while try cursor.next() {
                try monitor.checkCancellation()
                guard index < 2, !moved.isEmpty else { return true }
                let values = cursor.withRow { row in
                    let isMoved = moved.contains { $0.keys.contains(row.value($0.column)) }
                    return isMoved ? table.values(of: row, in: index == 0 ? base ?? old : old) : nil
                }
                guard let values else { return true }
                counts[values, default: 0] += index == 0 ? -1 : 1
            }
            return false
        }
        var isThere = try cursors.indices.map(advance)
        let columns = Array(table.columns.indices)
        let keepsPairs = !table.foreignKeys.isEmpty
        while isThere.contains(true) {
            var least: [Int] = []
            for index in cursors.indices where isThere[index] {
                guard let first = least.first, let one = cursors[first], let other = cursors[index] else {
                    least = [index]
                    continue
                }
                let order = one.withRow { one in
                    other.withRow { other in one.order(columns, against: other, byType: true) }
                }
                if order > 0 { least = [index] } else if order == 0 { least.append(index) }
            }
            let (inBase, inOld, inShared) = (least.contains(0), least.contains(1), least.contains(2))
            if inOld, !inBase, !inShared || keepsPairs {
                let values = cursors[1]?.withRow { table.values(of: $0, in: old) } ?? []
                result.rows.append(PlainChanges.Row(values: values, removed: nil, isInBoth: inShared))
            } else if inBase, !inOld, inShared {
                cursors[2]?
                    .withRow { row in
                        result.rows.append(
                            PlainChanges.Row(
                                values: table.values(of: row, in: shared),
                                removed: row.integer(columns.count),
                                isInBoth: false
                            )
                        )
                    }
            }
            for index in least { isThere[index] = try advance(index) }
            try monitor.checkCancellation()
        }
        for (values, count) in counts where count != 0 {
            let row = PlainChanges.Row(values: values, removed: nil, isInBoth: false, isGone: count < 0)
            result.rows += Array(repeating: row, count: abs(count))
        }
        return result
    }
}
