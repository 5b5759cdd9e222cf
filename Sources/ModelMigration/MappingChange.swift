/// One difference between two versions of a model, as a mapping carries it out.
public struct MappingChange: Hashable, Sendable {
    /// The kind of difference.
    public enum Kind: String, Sendable, CaseIterable {
        case entityAdded
        /// Its rows are deleted.
        case entityRemoved
        case entityRenamed
        /// The entity has another parent.
        case parentChanged
        case attributeAdded
        case attributeRemoved
        case attributeRenamed
        /// Another entity of the inheritance tree declares the attribute.
        case attributeMoved
        case attributeMadeOptional
        /// Rows without a value get the default.
        case attributeMadeRequired
        /// An integer attribute has more bits.
        case attributeWidened
        case externalStorageEnabled
        case externalStorageDisabled
        /// The attribute becomes a derived one, a plain one, or has another expression.
        case derivationChanged
        case relationshipAdded
        case relationshipRemoved
        case relationshipRenamed
        /// Another entity of the inheritance tree declares the relationship.
        case relationshipMoved
        case relationshipMadeToMany
        /// Existing members get places in the order of their primary keys.
        case relationshipMadeOrdered
        case relationshipMadeUnordered
        /// The relationship refers to a parent of its former destination.
        case destinationChanged
        case inverseChanged
        case constraintAdded
        case constraintRemoved
        case indexAdded
        case indexRemoved
        case versionHashModifierChanged
    }

    public let kind: Kind
    /// The entity of the target model; of the source model for a removed entity.
    public let entity: String
    /// The property, constraint or index; nil for a whole entity.
    public let property: String?
    /// The former name or kind; nil if there is none.
    public let former: String?

    public init(_ kind: Kind, entity: String, property: String? = nil, former: String? = nil) {
        self.kind = kind
        self.entity = entity
        self.property = property
        self.former = former
    }
}
