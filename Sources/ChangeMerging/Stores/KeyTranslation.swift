/// Translates between a store's own keys and the keys of a merge.
///
/// A merge uses the keys of the shared store. An object that an earlier merge inserted there under another key has that
/// key. An object that only this store has is denoted by its own key negated, until it is assigned one.
package struct KeyTranslation: Hashable, Sendable {
    private var moved: [RowKey: Int64] = [:]
    private var origins: [RowKey: Int64] = [:]
    /// The own keys of objects that only this store has.
    package var inserted: Set<RowKey> = []

    package init() {}

    /// True if all objects of the base have the same key in the shared store.
    package var isEmpty: Bool { moved.isEmpty }

    mutating func move(_ own: RowKey, to key: Int64) {
        moved[own] = key
        origins[RowKey(root: own.root, key: key)] = own.key
    }

    func isMoved(_ own: RowKey) -> Bool { moved[own] != nil }

    /// True for a key of the shared store whose object has another key here.
    func isTarget(_ row: RowKey) -> Bool { origins[row] != nil }

    /// The own keys of a root's objects that differ in the shared store, in order.
    func moves(of root: String) -> [(own: Int64, shared: Int64)] {
        moved.filter { $0.key.root == root }.map { ($0.key.key, $0.value) }.sorted { $0.0 < $1.0 }
    }

    /// The keys that denote different objects here and in the shared store.
    var changedRows: [RowKey] { Array(moved.keys) + Array(origins.keys) }

    /// Rows of the shared store whose objects have other keys here.
    var targets: [RowKey] { Array(origins.keys) }

    /// The merge's key of an object that the base also has.
    func former(_ own: RowKey) -> RowKey { moved[own].map { RowKey(root: own.root, key: $0) } ?? own }

    func common(_ own: RowKey) -> RowKey {
        inserted.contains(own) ? RowKey(root: own.root, key: -own.key) : former(own)
    }

    /// The store's own row; nil for a key that denotes no object of this store, even if it has a row with that number.
    func own(_ row: RowKey) -> RowKey? {
        if row.key < 0 { return RowKey(root: row.root, key: 0 &- row.key) }
        if let origin = origins[row] { return RowKey(root: row.root, key: origin) }
        return moved[row] == nil && !inserted.contains(row) ? row : nil
    }
}
