import StoreFormat

/// Finds out what the old side did by reading it and the base in key order, in step; no table is held in memory.
struct PlainScan {
    /// Nil where nobody kept it: then the old side has added everything.
    let base: StoreConnection?
    let old: StoreConnection
    let shared: StoreConnection
    let monitor: WorkMonitor

    func changes(of table: PlainTable) throws -> PlainChanges {
        try table.isBag ? rows(of: table) : keyed(table)
    }

    private func keyed(_ table: PlainTable) throws -> PlainChanges {
        var result = PlainChanges()
        let (before, now) = (try base?.cursor(table.scan), try old.cursor(table.scan))
        var (isBefore, isNow) = (try before?.next() ?? false, try now.next())
        let columns = Array(table.columns.indices)
        var steps = 0
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
                        result.changes.append(PlainChanges.Change(key: key, kind: .updated, columns: changed))
                    }
                }
            }
            if order <= 0 { isBefore = try before?.next() ?? false }
            if order >= 0 { isNow = try now.next() }
            steps &+= 1
            if steps & 0xfff == 0 { try monitor.checkCancellation() }
        }
        return result
    }

    /// Rows that are equal are paired off, one of each side with one of each other: what is left over was added or removed.
    private func rows(of table: PlainTable) throws -> PlainChanges {
        var result = PlainChanges()
        let cursors = [try base?.cursor(table.scan), try old.cursor(table.scan), try shared.cursor(table.scan)]
        var isThere = try cursors.map { try $0?.next() ?? false }
        let columns = Array(table.columns.indices)
        let keepsPairs = !table.foreignKeys.isEmpty
        var steps = 0
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
                let values = try cursors[1]?.withRow { try table.values(of: $0, in: old) } ?? []
                result.rows.append(PlainChanges.Row(values: values, removed: nil, isInBoth: inShared))
            } else if inBase, !inOld, inShared {
                try cursors[2]?
                    .withRow { row in
                        result.rows.append(
                            PlainChanges.Row(
                                values: try table.values(of: row, in: shared),
                                removed: row.integer(columns.count),
                                isInBoth: false
                            )
                        )
                    }
            }
            for index in least { isThere[index] = try cursors[index]?.next() ?? false }
            steps &+= 1
            if steps & 0xfff == 0 { try monitor.checkCancellation() }
        }
        return result
    }
}
