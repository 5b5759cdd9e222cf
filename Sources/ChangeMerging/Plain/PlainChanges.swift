import StoreFormat

/// What the old side did to one table since the base: keys and columns, and rows only where there is no key.
struct PlainChanges: Sendable {
    enum Kind: Hashable, Sendable {
        case inserted, updated, deleted
    }

    struct Change: Hashable, Sendable {
        let key: PlainKey
        let kind: Kind
        /// The columns that hold something else than in the base.
        let columns: [Int]
    }

    /// One row of a table without key.
    struct Row: Hashable, Sendable {
        let values: [SQLValue]
        /// Where only the old side removed it: its number in the shared store.
        let removed: Int64?
        /// True where both sides have added an equal one.
        let isInBoth: Bool
        /// True where the old side removed it, and the shared store's row is yet to be found.
        var isGone = false
    }

    var changes: [Change] = []
    var rows: [Row] = []

    var isEmpty: Bool { changes.isEmpty && !rows.contains { !$0.isInBoth } }
}
