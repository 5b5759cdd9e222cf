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
