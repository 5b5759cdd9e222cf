import StoreAccess
import StoreFormat

/// The changes that a merge makes to a plain SQLite shared store: keys and columns, and whole rows without a key.
struct PlainPlan: Sendable {
    struct Action: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case insert, restore, update, delete
        }

        let kind: Kind
        /// The row of the old store that provides the values.
        let source: PlainKey
        /// The columns that an update writes.
        var columns: [Int]
        /// The values that a resolver gave to some of these columns.
        var given: [Int: SQLValue] = [:]

        /// A row with the values that an update writes: those of `source`, a row of the old store, and given ones.
        func updated(_ row: [SQLValue], from source: [SQLValue]) -> [SQLValue] {
            var row = row
            for column in columns { row[column] = given[column] ?? source[column] }
            return row
        }
    }

    /// A row of either side that lost a decision.
    struct Parking: Hashable, Sendable {
        let side: MergeDirection
        let table: Int
        let key: PlainKey
        /// The row itself if the table has no key.
        let values: [SQLValue]?
        let reason: StoreMergeConflict.Reason
    }

    /// The key in the shared store of a row of the old store.
    struct Target: Hashable, Sendable {
        let key: PlainKey
        let reason: RekeyingReason
    }

    let layout: PlainLayout
    /// The actions for the rows of each table, by their keys in the shared store.
    var actions: [[PlainKey: Action]]
    /// Added rows of tables without a key.
    var added: [[[SQLValue]]]
    /// Removed rows of tables without a key: their row numbers and values.
    var removed: [[Int64: [SQLValue]]]
    var targets: [[PlainKey: Target]]
    /// The targets that earlier merges decided.
    private(set) var known: [[PlainKey: Target]]
    /// The targets of the base's rows.
    private let baseTargets: [[PlainKey: Target]]
    /// The old store's keys of these rows, by the shared store's keys.
    let origins: [[PlainKey: PlainKey]]
    /// True if an earlier merge gave any row another key.
    let hasMoves: Bool
    /// The lower-case names of the tables that are written.
    var touched: Set<String> = []
    /// Search indexes that are rebuilt.
    var rebuilt: [String] = []
    /// The greatest numbers that AUTOINCREMENT tables assigned on either side.
    var sequences: [String: Int64] = [:]
    var parked: Set<Parking> = []
    var summary = MergeSummary()
    var account: MergeAccount?
    /// The number of dangling rows in each table, in both stores together.
    var dangling: [String: Int64] = [:]
    var commitCount: CommitCount?

    init(_ layout: PlainLayout, moved: [RekeyedObject]) {
        self.layout = layout
        actions = layout.tables.map { _ in [:] }
        added = layout.tables.map { _ in [] }
        removed = layout.tables.map { _ in [:] }
        var known: [[PlainKey: Target]] = layout.tables.map { _ in [:] }
        var origins: [[PlainKey: PlainKey]] = layout.tables.map { _ in [:] }
        for object in moved {
            guard let table = layout.position(of: object.entity) else { continue }
            let (own, shared) = (PlainKey(object.old.primaryKey), PlainKey(object.new.primaryKey))
            known[table][own] = Target(key: shared, reason: object.reason)
            origins[table][shared] = own
        }
        (targets, baseTargets) = (known, known)
        self.known = known
        self.origins = origins
        hasMoves = !moved.isEmpty
    }

    /// Forgets the target that an earlier merge decided for a row.
    mutating func forgetTarget(of key: PlainKey, in table: Int) {
        known[table][key] = nil
        targets[table][key] = nil
    }

    /// True if the merge writes nothing to the shared store and parks no row.
    var changesNothing: Bool {
        summary.changesNothing && parked.isEmpty && sequences.isEmpty && account?.changesNothing != false
    }

    /// Adds tables whose rows another plan writes: the search indexes over them are rebuilt, too.
    mutating func touch(_ tables: [String]) {
        let former = rebuilt
        touched.formUnion(tables.map { $0.lowercased() })
        rebuilt = layout.indexes(over: touched)
        for index in rebuilt where !former.contains(index) {
            summary.notes.append(MergeNote(.indexRebuilt, entity: index, count: 1))
        }
    }

    /// The columns that refer to rows with other keys in the shared store, and those rows' own keys.
    func movedColumns(of table: PlainTable) -> [(column: Int, keys: Set<SQLValue>)] {
        table.foreignKeys.filter { $0.leadsToKey && $0.columns.count == 1 && !known[$0.parent].isEmpty }
            .map { ($0.columns[0], Set(known[$0.parent].keys.compactMap(\.values.first))) }
    }

    /// The values of a row of the old store as the shared store has them, including its key there.
    func mapped(_ values: [SQLValue], in table: Int) -> [SQLValue] { mapped(values, in: table, by: targets) }

    /// The same for a row of the base, whose number a row of the old store may have now.
    func mappedFromBase(_ values: [SQLValue], in table: Int) -> [SQLValue] {
        mapped(values, in: table, by: baseTargets)
    }

    private func mapped(_ values: [SQLValue], in table: Int, by targets: [[PlainKey: Target]]) -> [SQLValue] {
        var result = following(values, in: table, by: targets)
        guard !layout.tables[table].isBag, let target = targets[table][layout.tables[table].key(of: values)] else {
            return result
        }
        for (column, value) in zip(layout.tables[table].key, target.key.values) { result[column] = value }
        return result
    }

    /// The values of a row of the old store, with references translated to the shared store's keys.
    func following(_ values: [SQLValue], in table: Int) -> [SQLValue] { following(values, in: table, by: targets) }

    private func following(_ values: [SQLValue], in table: Int, by targets: [[PlainKey: Target]]) -> [SQLValue] {
        var result = values
        for foreignKey in layout.tables[table].foreignKeys where foreignKey.leadsToKey {
            let parent = layout.tables[foreignKey.parent]
            guard let key = foreignKey.parentKey(values, in: parent), let target = targets[foreignKey.parent][key]
            else { continue }
            for (column, value) in zip(parent.key, target.key.values) {
                guard let place = foreignKey.parentColumns.firstIndex(of: column) else { continue }
                result[foreignKey.columns[place]] = value
            }
        }
        return result
    }

    /// The shared store's key of a row of the old store.
    func target(of key: PlainKey, in table: Int) -> PlainKey { targets[table][key]?.key ?? key }

    /// The old store's key of a shared row that existed at the last merge; nil if only the shared store has it.
    func own(_ key: PlainKey, in index: Int) -> PlainKey? {
        guard hasMoves else { return key }
        if let own = origins[index][key] { return own }
        if known[index][key] != nil { return nil }
        let table = layout.tables[index]
        var values = key.values
        for foreignKey in table.foreignKeys where foreignKey.leadsToKey && foreignKey.columns.count == 1 {
            guard let place = table.key.firstIndex(of: foreignKey.columns[0]) else { continue }
            guard let part = foreignKey.parent == index ? nil : own(PlainKey([values[place]]), in: foreignKey.parent)
            else { return nil }
            values[place] = part.values[0]
        }
        return PlainKey(values)
    }
}

/// The old side's changes to one table since the base: keys and columns, and whole rows only without a key.
struct PlainChanges: Sendable {
    enum Kind: Hashable, Sendable {
        case inserted, updated, deleted
    }

    struct Change: Hashable, Sendable {
        let key: PlainKey
        let kind: Kind
        /// The columns whose values differ from the base.
        let columns: [Int]
    }

    /// One row of a table without a key.
    struct Row: Hashable, Sendable {
        let values: [SQLValue]
        /// The row's number in the shared store, if only the old side removed it.
        let removed: Int64?
        /// True if both sides added an equal row.
        let isInBoth: Bool
        /// True if the old side removed the row, and its row in the shared store is not found yet.
        var isGone = false
    }

    /// Lists of columns, of which equal ones share their memory: most rows of a table change in the same columns.
    struct ColumnLists: Sendable {
        private var known: Set<[Int]> = []

        /// The list equal to `columns`.
        mutating func shared(_ columns: [Int]) -> [Int] { known.insert(columns).memberAfterInsert }
    }

    var changes: [Change] = []
    var rows: [Row] = []

    var isEmpty: Bool { changes.isEmpty && !rows.contains { !$0.isInBoth } }
}

/// The primary key of a row in a plain SQLite store; an integer equals the real of the same value.
struct PlainKey: Hashable, Sendable {
    let values: [SQLValue]

    init(_ values: [SQLValue]) {
        self.values = values.map { value in
            if case .real(let number) = value, let whole = Int64(exactly: number) { .integer(whole) } else { value }
        }
    }

    init(_ number: Int64) { values = [.integer(number)] }

    /// True for a key that comes first in SQLite's order.
    func precedes(_ other: PlainKey) -> Bool {
        for (own, theirs) in zip(values, other.values) {
            let order = own.compared(to: theirs)
            if order != 0 { return order < 0 }
        }
        return false
    }

    var stored: [StoredValue] { values.map { StoredValue($0) } }
}
