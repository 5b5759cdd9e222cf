/// The shared store's key of each object that only the old side had.
package struct KeyRemapping: Hashable, Sendable {
    package struct Target: Hashable, Sendable {
        /// The key in the old store.
        package let own: Int64
        package let key: Int64
        package let entity: String
        /// Nil for an object that keeps its key.
        package let reason: RekeyingReason?
    }

    private var targets: [RowKey: Target] = [:]
    private var sources: [RowKey: RowKey] = [:]
    package private(set) var joinedCount = 0
    /// The number of objects whose key changed, or that the shared store had already.
    package private(set) var rekeyedCount = 0

    package init() {}

    mutating func map(_ row: RowKey, of entity: String, to key: Int64, _ reason: RekeyingReason?) {
        targets[row] = Target(own: 0 &- row.key, key: key, entity: entity, reason: reason)
        sources[RowKey(root: row.root, key: key)] = row
        if reason == .sameObject { joinedCount += 1 }
        if reason != nil { rekeyedCount += 1 }
    }

    /// The shared store's row for an object of the old store.
    package func row(_ old: RowKey) -> RowKey {
        targets[old].map { RowKey(root: old.root, key: $0.key) } ?? old
    }

    /// The old store's object for a row of the shared store.
    package func source(of shared: RowKey) -> RowKey { sources[shared] ?? shared }

    /// The shared store's pair for a pair of the old store.
    package func link(_ old: Link, of relation: LinkRelation) -> Link {
        Link(
            relation,
            first: row(RowKey(root: relation.first.root, key: old.first)).key,
            second: row(RowKey(root: relation.second.root, key: old.second)).key
        )
    }

    /// Objects that changed keys or matched another object, in the order of the old keys.
    package var rekeyed: [(source: RowKey, target: Target)] {
        targets.filter { $0.value.reason != nil }.map { ($0.key, $0.value) }
            .sorted { ($0.source.root, $0.target.own) < ($1.source.root, $1.target.own) }
    }
}

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

/// A row of a store: the root entity, whose table it is in, and its primary key.
package struct RowKey: Hashable, Sendable {
    package let root: String
    package let key: Int64

    package init(root: String, key: Int64) {
        self.root = root
        self.key = key
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
