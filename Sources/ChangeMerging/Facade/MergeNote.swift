/// Something that a merge decided by itself, and that somebody may want to know.
public struct MergeNote: Hashable, Sendable, Codable {
    public enum Kind: String, Hashable, Sendable, Codable {
        /// Objects that one side deleted stay, since the other went on with them.
        case editSurvivedDeletion
        /// The policy is `newest`, and history does not tell when values were given.
        case timesUnknown
        /// The shared store has no place for a property that the old side changed; its rows are parked.
        case propertyLacking
        /// The table's triggers did not fire: what they did to the old side is merged like anything else.
        case triggersHeldBack
        /// A search index over other tables was built anew.
        case indexRebuilt
        /// A search index keeps no texts, and does not know what was merged.
        case indexNotFollowed
    }

    public let kind: Kind
    public let entity: String
    public let property: String?
    /// How often it happened.
    public var count: Int

    package init(_ kind: Kind, entity: String, property: String? = nil, count: Int) {
        self.kind = kind
        self.entity = entity
        self.property = property
        self.count = count
    }
}
