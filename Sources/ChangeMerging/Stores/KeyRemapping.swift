package import StoreFormat

/// Under which key of the shared store each object of the old one is found, where the two differ.
package struct KeyRemapping: Hashable, Sendable {
    /// Why an object has another key than it had.
    package enum Reason: String, Hashable, Sendable, Codable {
        /// The shared store gave the key to another object.
        case newKey
        /// Both stores hold the same object, by its unique or identifying values.
        case sameObject
    }

    package struct Target: Hashable, Sendable {
        package let key: Int64
        package let entity: String
        package let reason: Reason
    }

    package private(set) var targets: [RowKey: Target] = [:]

    package init() {}

    package var isEmpty: Bool { targets.isEmpty }

    mutating func map(_ row: RowKey, of entity: String, to key: Int64, _ reason: Reason) {
        targets[row] = Target(key: key, entity: entity, reason: reason)
    }

    /// The row of the shared store that an old row became.
    package func row(_ old: RowKey) -> RowKey {
        targets[old].map { RowKey(root: old.root, key: $0.key) } ?? old
    }

    /// The pair of the shared store that a pair of the old one became.
    package func link(_ old: Link, of relation: LinkRelation) -> Link {
        Link(
            relation,
            first: row(RowKey(root: relation.first.root, key: old.first)).key,
            second: row(RowKey(root: relation.second.root, key: old.second)).key
        )
    }

    /// The URIs that changed, in the order of the old keys.
    package func uris(storeUUID: String) -> [(old: ObjectURI, new: ObjectURI, reason: Reason)] {
        SideChanges.sorted(targets.keys)
            .compactMap { row in
                targets[row]
                    .map { target in
                        (
                            ObjectURI(storeUUID: storeUUID, entity: target.entity, primaryKey: row.key),
                            ObjectURI(storeUUID: storeUUID, entity: target.entity, primaryKey: target.key),
                            target.reason
                        )
                    }
            }
    }
}
