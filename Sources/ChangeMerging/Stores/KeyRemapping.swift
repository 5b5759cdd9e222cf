/// Under which key of the shared store each object of the old one is found, where the two differ.
package struct KeyRemapping: Hashable, Sendable {
    package struct Target: Hashable, Sendable {
        package let key: Int64
        package let entity: String
        package let reason: RekeyingReason
    }

    package private(set) var targets: [RowKey: Target] = [:]
    /// The old row of each row of the shared store that has another key, or is another object's on the old side.
    private var sources: [RowKey: RowKey] = [:]
    package private(set) var joinedCount = 0

    package init() {}

    package var isEmpty: Bool { targets.isEmpty }

    mutating func map(_ row: RowKey, of entity: String, to key: Int64, _ reason: RekeyingReason) {
        targets[row] = Target(key: key, entity: entity, reason: reason)
        sources[RowKey(root: row.root, key: key)] = row
        if reason == .sameObject { joinedCount += 1 }
    }

    /// The row of the shared store that an old row became.
    package func row(_ old: RowKey) -> RowKey {
        targets[old].map { RowKey(root: old.root, key: $0.key) } ?? old
    }

    /// The row of the old store that became one of the shared store; nil where the key is another object's there.
    package func source(of shared: RowKey) -> RowKey? {
        sources[shared] ?? (targets[shared] == nil ? shared : nil)
    }

    /// The pair of the shared store that a pair of the old one became.
    package func link(_ old: Link, of relation: LinkRelation) -> Link {
        Link(
            relation,
            first: row(RowKey(root: relation.first.root, key: old.first)).key,
            second: row(RowKey(root: relation.second.root, key: old.second)).key
        )
    }

    /// Calls `body` with all that changed, in the order of the old keys.
    package func forEachTarget(_ body: (RowKey, Target) throws -> Void) rethrows {
        for row in SideChanges.sorted(targets.keys) {
            if let target = targets[row] { try body(row, target) }
        }
    }
}
