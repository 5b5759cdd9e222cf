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

/// One relationship of an entity.
public struct RelationshipDescription: Hashable, Sendable {
    /// The effect on the destination when the owner is deleted, with the numbers of a model archive.
    public enum DeleteRule: Int, Sendable {
        case noAction = 0
        case nullify = 1
        case cascade = 2
        case deny = 3
    }

    public let name: String
    /// The name of the destination entity.
    public let destination: String
    /// The name of the inverse relationship, on the destination.
    public let inverse: String?
    public let minCount: Int
    /// The greatest number of destinations; 0 is unbounded, 1 is a to-one.
    public let maxCount: Int
    public let isOrdered: Bool
    public let isOptional: Bool
    public let isTransient: Bool
    public let deleteRule: DeleteRule
    /// The name that identifies this relationship across versions of the model; nil if it was never renamed.
    public let renamingIdentifier: String?
    /// A text that only distinguishes the version hash from that of an equal relationship in another version.
    public let versionHashModifier: String?

    public init(
        name: String,
        destination: String,
        inverse: String? = nil,
        minCount: Int = 0,
        maxCount: Int = 1,
        isOrdered: Bool = false,
        isOptional: Bool = true,
        isTransient: Bool = false,
        deleteRule: DeleteRule = .nullify,
        renamingIdentifier: String? = nil,
        versionHashModifier: String? = nil
    ) {
        self.name = name
        self.destination = destination
        self.inverse = inverse
        self.minCount = minCount
        self.maxCount = maxCount
        self.isOrdered = isOrdered
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.deleteRule = deleteRule
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
    }

    /// The name that identifies the relationship in every version of the model.
    package var canonicalName: String { renamingIdentifier ?? name }

    public var isToMany: Bool { maxCount != 1 }
}

/// A relationship of a model, with its inverse if it has one.
public struct RelationshipPair: Hashable, Sendable {
    /// One direction, and the entity that declares it.
    public struct Side: Hashable, Sendable {
        public let entity: String
        public let relationship: RelationshipDescription
    }

    public let forward: Side
    /// The inverse; nil if there is none, and equal to `forward` for a relationship that is its own inverse.
    public let inverse: Side?
}

extension ManagedObjectModel {
    /// Every relationship once, in the order of the entities' names, without those to unknown entities.
    public var relationshipPairs: [RelationshipPair] {
        var seen: Set<[String]> = []
        var pairs: [RelationshipPair] = []
        for entity in entities {
            for relationship in entity.relationships where entitiesByName[relationship.destination] != nil {
                guard !seen.contains([entity.name, relationship.name]) else { continue }
                let inverse = inverse(of: relationship, declaredBy: entity.name)
                if let inverse { seen.insert([inverse.entity, inverse.relationship.name]) }
                pairs.append(.init(forward: .init(entity: entity.name, relationship: relationship), inverse: inverse))
            }
        }
        return pairs
    }

    /// The inverse, if the destination or one of its ancestors declares it.
    private func inverse(of relationship: RelationshipDescription, declaredBy entity: String) -> RelationshipPair.Side?
    {
        guard let name = relationship.inverse else { return nil }
        var seen: Set<String> = []
        var next: String? = relationship.destination
        while let current = next, seen.insert(current).inserted {
            let description = entitiesByName[current]
            if let found = description?.relationships.first(where: { $0.name == name && $0.destination == entity }) {
                return .init(entity: current, relationship: found)
            }
            next = description?.superentity
        }
        return nil
    }
}

/// A fetch index of an entity.
public struct FetchIndexDescription: Hashable, Sendable {
    /// One property, or expression, of an index.
    public struct Element: Hashable, Sendable {
        /// The structure of an index, with the numbers of a model archive.
        public enum Kind: Int, Sendable {
            /// An ordinary index.
            case binary = 0
            /// A spatial index, stored in a virtual table.
            case rTree = 1
        }

        /// The name of the property; for an expression, the name in the archive.
        public let property: String
        public let kind: Kind
        public let isAscending: Bool

        public init(property: String, kind: Kind = .binary, isAscending: Bool = true) {
            self.property = property
            self.kind = kind
            self.isAscending = isAscending
        }
    }

    public let name: String
    /// Its elements, in order.
    public let elements: [Element]
    /// True if a predicate limits the indexed objects.
    public let isPartial: Bool

    public init(name: String, elements: [Element], isPartial: Bool = false) {
        self.name = name
        self.elements = elements
        self.isPartial = isPartial
    }

    public init(name: String, properties: [String]) {
        self.init(name: name, elements: properties.map { Element(property: $0) })
    }

    /// The names of its properties, in order.
    public var properties: [String] { elements.map(\.property) }
}
