/// One entity of a model.
public struct EntityDescription: Hashable, Sendable {
    public let name: String
    /// The name of the parent entity.
    public let superentity: String?
    public let isAbstract: Bool
    /// The attributes declared by this entity itself, not the inherited ones.
    public let attributes: [AttributeDescription]
    /// The relationships declared by this entity itself, not the inherited ones.
    public let relationships: [RelationshipDescription]
    /// The attribute names of each uniqueness constraint declared by this entity.
    public let uniquenessConstraints: [[String]]
    /// The fetch indexes declared by this entity.
    public let fetchIndexes: [FetchIndexDescription]
    /// The names that the entity's user info lists for tombstones, in their order (the legacy form).
    public let legacyTombstoneAttributes: [String]

    public init(
        name: String,
        superentity: String? = nil,
        isAbstract: Bool = false,
        attributes: [AttributeDescription] = [],
        relationships: [RelationshipDescription] = [],
        uniquenessConstraints: [[String]] = [],
        fetchIndexes: [FetchIndexDescription] = [],
        legacyTombstoneAttributes: [String] = []
    ) {
        self.name = name
        self.superentity = superentity
        self.isAbstract = isAbstract
        self.attributes = attributes
        self.relationships = relationships
        self.uniquenessConstraints = uniquenessConstraints
        self.fetchIndexes = fetchIndexes
        self.legacyTombstoneAttributes = legacyTombstoneAttributes
    }
}
