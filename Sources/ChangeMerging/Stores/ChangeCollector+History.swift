import StoreFormat

extension ChangeCollector {
    /// The number after which the side's history contains its changes since the base; nil if history is incomplete.
    ///
    /// History is complete if both stores keep it, and the side has every transaction after the base's last one.
    package static func historyStart(from base: MergeSide, to side: MergeSide) throws -> Int64? {
        guard base.history != nil, side.history != nil else { return nil }
        let last = try base.greatestHistoryNumber(of: "TRANSACTION")
        let latest = try side.greatestHistoryNumber(of: "TRANSACTION")
        guard latest >= last else { return nil }
        let first = try side.connection.value("SELECT min(Z_PK) FROM ATRANSACTION")?.integer
        // History is pruned from its beginning, so a gap before the first transaction means pruning.
        guard latest == last || (first.map { $0 <= last + 1 } ?? false) else { return nil }
        return last
    }

    /// Finds the side's changes by reading, in both stores, the objects that its history lists.
    package mutating func follow(historyAfter number: Int64) throws -> SideChanges {
        changes = SideChanges()
        guard let history = side.history else { return changes }
        var touched: [String: [Int64: Bool]] = [:]
        try history.forEachChange(reading: side.connection, after: number) { change in
            guard let entity = change.entity.flatMap(side.layout.entity(numbered:)), let key = change.primaryKey else {
                return
            }
            // The rows of join tables need no comparison if the bitmap says that none changed.
            let isJoined =
                change.kind != .update
                || change.properties(in: side.layout)
                    .map { !Set($0.names + $0.possibleToMany).isDisjoint(with: entity.historySlots.manyToMany) } ?? true
            touched[entity.root, default: [:]][key, default: false] = touched[entity.root]?[key] == true || isJoined
        }
        for root in touched.keys.sorted(by: ManagedObjectModel.inByteOrder) {
            guard let columns = RowColumns(root, base: base, side: side), let keys = touched[root] else { continue }
            for (key, isJoined) in keys.sorted(by: { $0.key < $1.key }) {
                try read(key, columns)
                if isJoined { try readPairs(of: RowKey(root: root, key: key)) }
            }
            try monitor.checkCancellation()
        }
        return changes
    }

    private mutating func read(_ key: Int64, _ columns: RowColumns) throws {
        try read(keys.own(RowKey(root: columns.root, key: key))?.key, key, columns)
    }

    /// Compares one row of the base with one of the side; either may be missing.
    mutating func read(_ former: Int64?, _ key: Int64, _ columns: RowColumns) throws {
        try StoreConnection.referencing([base.connection, side.connection], columns.sideTable) {
            try read(former, key, columns, byReference: $0)
        }
    }

    private mutating func read(_ former: Int64?, _ key: Int64, _ columns: RowColumns, byReference: Bool) throws {
        let (base, side) = (self.base, self.side)
        let argument: [SQLValue] = [.integer(key)]
        var (isBefore, isNow) = (false, false)
        if let former {
            try base.connection.forEachRow(columns.baseRow(byReference), [.integer(former)], keepingStatement: true) {
                old in
                isBefore = true
                try side.connection.forEachRow(columns.sideRow(byReference), argument, keepingStatement: true) { new in
                    isNow = true
                    compare(old, new, columns)
                }
                if !isNow { delete(old, columns) }
            }
        }
        guard !isBefore else { return }
        try side.connection.forEachRow(columns.sideRow(byReference), argument, keepingStatement: true) {
            insert($0, columns)
        }
    }

    /// Compares the rows of join tables that refer to an object.
    private mutating func readPairs(of row: RowKey) throws {
        let former = keys.own(row)
        guard let entity = try side.ownEntity(of: row)?.name ?? former.flatMap(base.ownEntity)?.name else { return }
        for (relation, earlier) in zip(side.relations, base.relations) {
            guard case .join = relation.storage else { continue }
            for end in LinkRelation.Position.allCases
            where relation[end].root == row.root && side.layout.model.isEntity(entity, kindOf: relation[end].entity) {
                let other = relation[end.other].root
                let before =
                    try former.map { try base.ownPartners(earlier, at: end, of: $0.key) }?
                    .map { keys.former(RowKey(root: other, key: $0)).key } ?? []
                let now = try side.ownPartners(relation, at: end, of: row.key)
                guard before != now || relation[end].isOrdered else { continue }
                let (was, present) = (Set(before), Set(now))
                for partner in was.symmetricDifference(present) {
                    let link =
                        end == .first
                        ? Link(relation, first: row.key, second: partner)
                        : Link(relation, first: partner, second: row.key)
                    note(link, of: relation, isAdded: present.contains(partner))
                }
                if relation[end].isOrdered, !relation.isSymmetric, before != now {
                    changes.reordered.insert(LinkSlot(relation, end, row.key))
                }
            }
        }
    }
}
