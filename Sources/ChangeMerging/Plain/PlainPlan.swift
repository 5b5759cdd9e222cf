import StoreFormat

/// What a merge will do to a shared store that is none of Core Data's: keys and columns, and rows where there is no key.
struct PlainPlan: Sendable {
    struct Action: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case insert, restore, update, delete
        }

        let kind: Kind
        /// The row of the old store whose values it takes.
        let source: PlainKey
        /// The columns that an update writes.
        var columns: [Int]
    }

    /// A row of either side that lost a decision.
    struct Parking: Hashable, Sendable {
        let side: MergeDirection
        let table: Int
        let key: PlainKey
        /// The row itself where the table has no key.
        let values: [SQLValue]?
        let reason: StoreMergeConflict.Reason
    }

    /// Under which key the shared store has a row of the old one.
    struct Target: Hashable, Sendable {
        let key: PlainKey
        let reason: RekeyingReason
    }

    let layout: PlainLayout
    /// What is done to the rows of each table, by their keys in the shared store.
    var actions: [[PlainKey: Action]]
    /// Rows without key that are added.
    var added: [[[SQLValue]]]
    /// Rows without key that are removed: their numbers, and what they hold.
    var removed: [[Int64: [SQLValue]]]
    var targets: [[PlainKey: Target]]
    /// Indexes that are built anew.
    var rebuilt: [String] = []
    /// The greatest numbers that AUTOINCREMENT tables have given out on either side.
    var sequences: [String: Int64] = [:]
    var parked: Set<Parking> = []
    var summary = MergeSummary()
    /// How many rows of each table lead nowhere, on either side together.
    var dangling: [String: Int64] = [:]
    var commitCount: CommitCount?

    init(_ layout: PlainLayout) {
        self.layout = layout
        actions = layout.tables.map { _ in [:] }
        added = layout.tables.map { _ in [] }
        removed = layout.tables.map { _ in [:] }
        targets = layout.tables.map { _ in [:] }
    }

    /// The values of a row of the old store as the shared one has them, under its key there.
    func mapped(_ values: [SQLValue], in table: Int) -> [SQLValue] {
        var result = following(values, in: table)
        guard !layout.tables[table].isBag, let target = targets[table][layout.tables[table].key(of: values)] else {
            return result
        }
        for (column, value) in zip(layout.tables[table].key, target.key.values) { result[column] = value }
        return result
    }

    /// The values of a row of the old store, leading to rows under the keys that the shared store has them by.
    func following(_ values: [SQLValue], in table: Int) -> [SQLValue] {
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

    /// The key of the shared store under which a row of the old one is found.
    func target(of key: PlainKey, in table: Int) -> PlainKey { targets[table][key]?.key ?? key }
}
