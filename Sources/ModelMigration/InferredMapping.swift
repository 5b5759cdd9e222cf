public import StoreFormat

/// The mapping that Core Data's lightweight migration infers between two versions of a model.
///
/// Elements correspond if their renaming identifiers are equal; an element without one is identified by its name. The
/// rules are those of Apple's "Migrating your data model automatically"; where it says nothing, a change that could
/// lose data is refused. Rows are not examined here: ``requirements`` lists what they must fulfil.
public struct InferredMapping: Hashable, Sendable {
    /// A condition on the rows of the source store.
    public enum Requirement: Hashable, Sendable {
        /// Every object of the entity needs a value of the attribute, which has no default.
        case value(entity: String, attribute: String)
        /// Every object of the entity needs a destination.
        case destination(entity: String, relationship: String)
        /// No two objects of the entity may have the same values.
        case uniqueValues(entity: String, properties: [String])
    }

    public let source: ManagedObjectModel
    public let target: ManagedObjectModel
    /// The target's entities in byte order of their names.
    public let entities: [EntityMapping]
    /// The source's entities without a counterpart, in byte order of their names; their rows are deleted.
    public let removedEntities: [String]
    /// The differences, entity by entity.
    public let changes: [MappingChange]
    public let requirements: [Requirement]
    /// The position of each entity of the target in ``entities``, and the target of each entity of the source.
    private let positions: [String: Int]
    private let targets: [String: String]

    /// Infers the mapping; throws every reason why there is none.
    public init(from source: ManagedObjectModel, to target: ManagedObjectModel) throws(MappingRefusals) {
        var inference = try MappingInference(source: source, target: target)
        self = try inference.mapping(checking: {}).get()
    }

    /// The same; calls `check`, which may throw, for each entity.
    package init(
        from source: ManagedObjectModel,
        to target: ManagedObjectModel,
        checking check: () throws -> Void
    ) throws {
        var inference = try MappingInference(source: source, target: target)
        self = try inference.mapping(checking: check).get()
    }

    init(
        source: ManagedObjectModel,
        target: ManagedObjectModel,
        entities: [EntityMapping],
        removedEntities: [String],
        changes: [MappingChange],
        requirements: [Requirement]
    ) {
        self.source = source
        self.target = target
        self.entities = entities
        self.removedEntities = removedEntities
        self.changes = changes
        self.requirements = requirements
        positions = Dictionary(
            entities.enumerated().map { ($1.target, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        targets = Dictionary(
            entities.compactMap { entity in entity.source.map { ($0, entity.target) } },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// True if both models have the same entities, properties, constraints and indexes.
    public var isIdentity: Bool { changes.isEmpty }

    public func entity(_ target: String) -> EntityMapping? { positions[target].map { entities[$0] } }

    /// The entity of the target whose objects are those of a source entity; nil if they are deleted.
    public func target(of source: String) -> String? { targets[source] }
}

/// What the objects of one entity become: the source of each property of the target entity, inherited ones included.
public struct EntityMapping: Hashable, Sendable {
    /// An attribute of the target and its source.
    public struct Attribute: Hashable, Sendable {
        public let target: AttributeDescription
        /// The attribute that has the values; nil if the objects get the default.
        public let source: AttributeDescription?

        /// True if values that may be in files must move into their rows.
        var movesIntoRows: Bool {
            source?.allowsExternalBinaryDataStorage == true && !target.allowsExternalBinaryDataStorage
        }
    }

    /// A relationship of the target and its source.
    public struct Relationship: Hashable, Sendable {
        public let target: RelationshipDescription
        /// The relationship that has the destinations; nil for a new one.
        public let source: RelationshipDescription?
    }

    /// The entity of the target model.
    public let target: String
    /// The entity of the source model; nil for a new entity.
    public let source: String?
    /// The persistent attributes of the target, inherited ones first.
    public let attributes: [Attribute]
    /// The persistent relationships of the target, inherited ones first.
    public let relationships: [Relationship]

    public func attribute(_ name: String) -> Attribute? { attributes.first { $0.target.name == name } }

    public func relationship(_ name: String) -> Relationship? { relationships.first { $0.target.name == name } }
}

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
