import StoreFormat

extension PlainPlanner {
    /// Separates rows that share only a number which SQLite assigned twice.
    ///
    /// SQLite gives the number of a deleted last row to the next row. If the other side changed the deleted row, a
    /// merge by columns would mix two rows. The old side's row is then an insertion with a new number, and the shared
    /// side's row stays.
    mutating func separateReusedKeys() throws {
        guard let base else { return }
        for (index, table) in layout.tables.enumerated()
        where table.hasMovableKey && !table.isAutoincrement && !table.isVirtual {
            let rule = policy(for: index)
            guard rule == .mergeByPropertyStoreTrump || rule == .mergeByPropertyObjectTrump else { continue }
            var greatest: [MergeDirection: PlainKey?] = [:]
            for (place, change) in changes[index].changes.enumerated() where change.kind == .updated {
                let former = plan.mapped(try table.knownRow(change.key, in: base), in: index)
                let now = try mappedRow(change.key, in: index)
                let key = table.key(of: now)
                guard let there = try table.row(key, in: shared), mixes(former, now, there, rule) else { continue }
                let isOldReplaced = Self.isAnother(now, than: former, table)
                guard isOldReplaced || Self.isAnother(there, than: former, table) else { continue }
                let side: MergeDirection = isOldReplaced ? .old : .shared
                let last = try greatest[side] ?? lastKept(index, in: side == .old ? old : shared, since: base)
                greatest[side] = .some(last)
                if let last, !last.precedes(change.key) { continue }
                changes[index].changes[place] = PlainChanges.Change(
                    key: change.key,
                    kind: .inserted,
                    columns: Array(table.columns.indices)
                )
                changed[index][key] = nil
                report(
                    .editedAndDeleted,
                    key,
                    in: index,
                    base: .present,
                    old: isOldReplaced ? .deleted : .present,
                    shared: isOldReplaced ? .present : .deleted,
                    taken: isOldReplaced ? .shared : .old
                )
                noteSurvivor(of: index)
            }
        }
    }

    /// True if a merge by columns takes some values of each side.
    private func mixes(_ former: [SQLValue], _ now: [SQLValue], _ there: [SQLValue], _ rule: MergePolicy) -> Bool {
        let columns = former.indices.filter { now[$0] != there[$0] }
        let taken = columns.filter {
            now[$0] != former[$0] && (there[$0] == former[$0] || rule == .mergeByPropertyObjectTrump)
        }
        return !taken.isEmpty && columns.contains { there[$0] != former[$0] && !taken.contains($0) }
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
                let former = side === shared ? plan.mapped(values, in: index) : values
                guard let row = try table.row(table.key(of: former), in: side),
                    !Self.isAnother(row, than: former, table)
                else { continue }
                return table.key(of: values)
            }
            return nil
        }
    }
}
