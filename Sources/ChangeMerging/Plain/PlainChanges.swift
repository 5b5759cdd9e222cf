import StoreFormat

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
