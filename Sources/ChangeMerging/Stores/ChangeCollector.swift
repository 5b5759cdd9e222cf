package import StoreAccess
import StoreFormat

/// Finds one side's changes since the base: by reading both in key order, or by the side's history.
///
/// Both ways compare rows by the same rule, so they find the same changes as long as history is complete.
package struct ChangeCollector {
    let base: MergeSide
    let side: MergeSide
    /// The side's keys of the base's objects.
    let keys: KeyTranslation
    let monitor: WorkMonitor
    var changes = SideChanges()
    /// True if the side has an object with a version before the base's.
    private(set) var hasOlderVersions = false

    package init(
        from base: MergeSide,
        to side: MergeSide,
        translating keys: KeyTranslation = KeyTranslation(),
        monitor: WorkMonitor = .silent
    ) {
        self.base = base
        self.side = side
        self.keys = keys
        self.monitor = monitor
    }

    /// Finds the changes by reading both stores once, in key order; no table is kept in memory.
    package mutating func scan() throws -> SideChanges {
        changes = SideChanges()
        for root in side.roots {
            guard let columns = RowColumns(root, base: base, side: side) else { continue }
            try scan(columns)
        }
        for (relation, before) in zip(side.relations, base.relations) {
            if case .join = relation.storage { try scan(relation, before) }
        }
        return changes
    }

    /// The changes of a side that began empty: all of its content.
    package static func everything(in side: MergeSide) throws -> SideChanges {
        var collector = ChangeCollector(from: side, to: side)
        for root in side.roots {
            guard let columns = RowColumns(root, base: side, side: side) else { continue }
            try side.connection.referencing(columns.sideTable) { byReference in
                let cursor = try side.connection.cursor(columns.sideScan(byReference))
                while try cursor.next() { cursor.withRow { collector.insert($0, columns) } }
            }
        }
        for relation in side.relations {
            guard case .join = relation.storage, let cursor = try collector.pairs(relation, side) else { continue }
            while try cursor.next() { cursor.withRow { collector.add($0, relation) } }
        }
        return collector.changes
    }

    // MARK: Rows

    private mutating func scan(_ columns: RowColumns) throws {
        // A scan that begins again finds the same changes.
        try StoreConnection.referencing([base.connection, side.connection], columns.sideTable) { byReference in
            try scan(
                columns,
                base.connection.cursor(columns.baseScan(byReference)),
                side.connection.cursor(columns.sideScan(byReference))
            )
        }
        for (own, shared) in keys.moves(of: columns.root) { try read(own, shared, columns) }
    }

    private mutating func scan(_ columns: RowColumns, _ before: StoreCursor, _ now: StoreCursor) throws {
        var (isBefore, isNow) = (try before.next(), try now.next())
        while isBefore || isNow {
            // Objects with another key on the side are compared afterwards.
            if isNow, now.withRow({ keys.isTarget(RowKey(root: columns.root, key: $0.integer(0))) }) {
                isNow = try now.next()
                continue
            }
            if isBefore, before.withRow({ keys.isMoved(RowKey(root: columns.root, key: $0.integer(0))) }) {
                isBefore = try before.next()
                continue
            }
            let order: Int =
                !isNow
                ? -1
                : !isBefore
                    ? 1
                    : before.withRow { old in
                        now.withRow { new in
                            old.integer(0) < new.integer(0) ? -1 : old.integer(0) > new.integer(0) ? 1 : 0
                        }
                    }
            switch order {
            case -1: before.withRow { delete($0, columns) }
            case 1: now.withRow { insert($0, columns) }
            default: before.withRow { old in now.withRow { new in compare(old, new, columns) } }
            }
            if order <= 0 { isBefore = try before.next() }
            if order >= 0 { isNow = try now.next() }
            try monitor.checkCancellation()
        }
    }

    mutating func insert(_ row: borrowing StoreRow, _ columns: RowColumns) {
        guard let entity = columns.sideEntity(row, side) else { return }
        let key = row.integer(0)
        changes.inserted[RowKey(root: columns.root, key: key)] = entity
        for (column, meaning) in columns.meanings[entity] ?? [] {
            guard case .link(let relation, _) = meaning, !row.isNull(column) else { continue }
            note(link(relation, key, row.integer(column)), of: relation, isAdded: true)
        }
    }

    mutating func delete(_ row: borrowing StoreRow, _ columns: RowColumns) {
        guard let entity = columns.baseEntity(row, base) else { return }
        let key = keys.former(RowKey(root: columns.root, key: row.integer(0)))
        changes.deleted[key] = entity
        for (column, meaning) in columns.meanings[entity] ?? [] {
            guard case .link(let relation, _) = meaning, !row.isNull(column) else { continue }
            note(link(relation, key.key, partner(relation, row, column)), of: relation, isAdded: false)
        }
    }

    mutating func compare(_ old: borrowing StoreRow, _ new: borrowing StoreRow, _ columns: RowColumns) {
        guard let entity = columns.sideEntity(new, side), columns.baseEntity(old, base) == entity else {
            // A row whose entity changed is another object under the same key.
            delete(old, columns)
            insert(new, columns)
            return
        }
        let key = new.integer(0)
        var changed: Set<String> = []
        var isTouched = !new.holds(2, sameAs: old, 2)
        // After the greatest version, counting starts again at the first.
        if new.integer(2) < old.integer(2), old.integer(2) < Int64.max { hasOlderVersions = true }
        for (column, meaning) in columns.meanings[entity] ?? [] {
            switch meaning {
            case .attribute(let name):
                if !new.holds(column, sameAs: old, column) { changed.insert(name) }
            case .externalAttribute(let attribute):
                guard !new.holds(column, sameAs: old, column) else { continue }
                let isSame = side.holds(new.value(column), sameAs: old.value(column), of: base, attribute)
                if !isSame { changed.insert(attribute.name) }
            case .link(let relation, let isPlaced):
                let isSame =
                    keys.isEmpty || old.isNull(column) || new.isNull(column)
                    ? new.holds(column, sameAs: old, column)
                    : new.integer(column) == partner(relation, old, column)
                if !isSame {
                    isTouched = true
                    if !old.isNull(column) {
                        note(link(relation, key, partner(relation, old, column)), of: relation, isAdded: false)
                    }
                    if !new.isNull(column) {
                        note(link(relation, key, new.integer(column)), of: relation, isAdded: true)
                    }
                } else if isPlaced, !new.isNull(column), !new.holds(column + 1, sameAs: old, column + 1),
                    case .column(_, _, _, let holder) = relation.storage
                {
                    isTouched = true
                    changes.reordered.insert(LinkSlot(relation, holder.other, new.integer(column)))
                }
            }
        }
        guard isTouched || !changed.isEmpty else { return }
        let row = RowKey(root: columns.root, key: key)
        changes.updated[row] = changed
        changes.kinds[row] = entity
    }

    /// The side's key of the object that a column of the base refers to.
    private func partner(_ relation: LinkRelation, _ row: borrowing StoreRow, _ column: Int) -> Int64 {
        guard !keys.isEmpty, case .column(_, _, _, let holder) = relation.storage else { return row.integer(column) }
        return keys.former(RowKey(root: relation[holder.other].root, key: row.integer(column))).key
    }

    private func link(_ relation: LinkRelation, _ key: Int64, _ partner: Int64) -> Link {
        if case .column(_, _, _, .second) = relation.storage {
            return Link(relation, first: partner, second: key)
        }
        return Link(relation, first: key, second: partner)
    }

    mutating func note(_ link: Link, of relation: LinkRelation, isAdded: Bool) {
        if isAdded { changes.linksAdded.insert(link) } else { changes.linksRemoved.insert(link) }
        for end in LinkRelation.Position.allCases where relation[end].isOrdered && !relation.isSymmetric {
            changes.reordered.insert(LinkSlot(relation, end, link.key(end)))
        }
    }

    // MARK: Join tables

    /// The pairs of a join table in order: first, second, and their positions in the orders of both ends.
    func pairs(_ relation: LinkRelation, _ side: MergeSide) throws -> StoreCursor? {
        guard case .join(let table, let first, let second) = relation.storage else { return nil }
        let columns = [first.column, second.column].map(SQLName.quoted)
        let places = [first.orderColumn, second.orderColumn].map { $0.map(SQLName.quoted) ?? "NULL" }
        let sql =
            relation.isSymmetric
            ? "SELECT DISTINCT min(\(columns[0]), \(columns[1])) AS a, max(\(columns[0]), \(columns[1])) AS b, NULL, NULL "
                + "FROM \(SQLName.quoted(table)) ORDER BY a, b"
            : "SELECT \((columns + places).joined(separator: ", ")) FROM \(SQLName.quoted(table)) "
                + "ORDER BY \(columns[0]), \(columns[1])"
        return try side.connection.cursor(sql)
    }

    mutating func add(_ row: borrowing StoreRow, _ relation: LinkRelation, isAdded: Bool = true) {
        guard !row.isNull(0), !row.isNull(1) else { return }
        note(Link(relation, first: row.integer(0), second: row.integer(1)), of: relation, isAdded: isAdded)
    }

    private mutating func scan(_ relation: LinkRelation, _ former: LinkRelation) throws {
        guard let before = try pairs(former, base), let now = try pairs(relation, side) else { return }
        var (isBefore, isNow) = (try before.next(), try now.next())
        // Pairs of the base with an object that has another key on the side, in the side's keys.
        var moved: Set<Link> = []
        while isBefore || isNow {
            if isBefore, !keys.isEmpty, let link = before.withRow({ movedPair($0, relation) }) {
                moved.insert(link)
                isBefore = try before.next()
                continue
            }
            let order: Int =
                !isNow
                ? -1
                : !isBefore
                    ? 1
                    : before.withRow { old in
                        now.withRow { new in
                            let (a, b) = ((old.integer(0), old.integer(1)), (new.integer(0), new.integer(1)))
                            return a < b ? -1 : a == b ? 0 : 1
                        }
                    }
            switch order {
            case -1: before.withRow { add($0, relation, isAdded: false) }
            case 1: now.withRow { add($0, relation) }
            default:
                before.withRow { old in
                    now.withRow { new in
                        let link = Link(relation, first: new.integer(0), second: new.integer(1))
                        for (column, end) in [(2, LinkRelation.Position.first), (3, .second)]
                        where !new.holds(column, sameAs: old, column) {
                            changes.reordered.insert(LinkSlot(relation, end, link.key(end)))
                        }
                    }
                }
            }
            if order <= 0 { isBefore = try before.next() }
            if order >= 0 { isNow = try now.next() }
            try monitor.checkCancellation()
        }
        for link in moved {
            if changes.linksAdded.remove(link) == nil { note(link, of: relation, isAdded: false) }
        }
    }

    private func movedPair(_ row: borrowing StoreRow, _ relation: LinkRelation) -> Link? {
        let first = RowKey(root: relation.first.root, key: row.integer(0))
        let second = RowKey(root: relation.second.root, key: row.integer(1))
        guard keys.isMoved(first) || keys.isMoved(second) else { return nil }
        return Link(relation, first: keys.former(first).key, second: keys.former(second).key)
    }
}

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
