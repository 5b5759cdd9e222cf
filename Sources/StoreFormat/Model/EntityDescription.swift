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
    /// The name that identifies this entity across versions of the model; nil if it was never renamed.
    public let renamingIdentifier: String?
    /// A text that only distinguishes the version hash from that of an equal entity in another version.
    public let versionHashModifier: String?

    public init(
        name: String,
        superentity: String? = nil,
        isAbstract: Bool = false,
        attributes: [AttributeDescription] = [],
        relationships: [RelationshipDescription] = [],
        uniquenessConstraints: [[String]] = [],
        fetchIndexes: [FetchIndexDescription] = [],
        legacyTombstoneAttributes: [String] = [],
        renamingIdentifier: String? = nil,
        versionHashModifier: String? = nil
    ) {
        self.name = name
        self.superentity = superentity
        self.isAbstract = isAbstract
        self.attributes = attributes
        self.relationships = relationships
        self.uniquenessConstraints = uniquenessConstraints
        self.fetchIndexes = fetchIndexes
        self.legacyTombstoneAttributes = legacyTombstoneAttributes
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
    }

    /// The name that identifies the entity in every version of the model.
    package var canonicalName: String { renamingIdentifier ?? name }
}
