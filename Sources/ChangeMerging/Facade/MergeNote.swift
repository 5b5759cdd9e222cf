/// An automatic decision of a merge that a user may want to know.
public struct MergeNote: Hashable, Sendable, Codable {
    public enum Kind: String, Hashable, Sendable, Codable {
        /// Objects that one side deleted stay, because the other side changed them.
        case editSurvivedDeletion
        /// The policy is `newest`, and history does not record when values were set.
        case timesUnknown
        /// Both stores have objects of the entity, and nothing says which of them are the same: all of the old store's
        /// are inserted.
        case unidentified
        /// The shared store lacks a property that the old side changed; its rows are parked.
        case propertyLacking
        /// The table's triggers did not fire: their effects on the old side are merged like any other change.
        case triggersHeldBack
        /// A search index over other tables was rebuilt.
        case indexRebuilt
        /// A search index keeps no texts, and lacks the merged rows.
        case indexNotFollowed
        /// A constraint that only the shared store enforces rejected rows of the old store; they are parked.
        case constraintRejected
    }

    public let kind: Kind
    public let entity: String
    public let property: String?
    /// The number of occurrences.
    public var count: Int

    package init(_ kind: Kind, entity: String, property: String? = nil, count: Int) {
        self.kind = kind
        self.entity = entity
        self.property = property
        self.count = count
    }
}
