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
