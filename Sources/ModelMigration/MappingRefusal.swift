/// One reason why no mapping between two versions of a model can be inferred, or why a store's rows forbid it.
public struct MappingRefusal: Hashable, Sendable {
    /// The rule that the change breaks.
    public enum Rule: String, Sendable, CaseIterable {
        /// No entity of the source model has a counterpart in the target.
        case unrelatedModels
        /// The target is the older version: the source's renaming identifiers or version identifiers show it.
        case olderVersion
        /// A store cannot be made from one of the models.
        case invalidModel
        /// Two entities, or two properties of one entity, have the same renaming identifier.
        case ambiguousRenaming
        /// Entities of different inheritance trees get a common ancestor.
        case mergedHierarchies
        /// An attribute has another type.
        case attributeType
        /// An attribute becomes a relationship, or the reverse.
        case propertyKind
        /// A to-many relationship becomes a to-one.
        case toManyToToOne
        /// A relationship refers to an entity that does not include its former destination.
        case relationshipDestination
        /// A relationship has another inverse.
        case relationshipInverse
        /// A mandatory attribute has no default, and rows would have no value.
        case mandatoryAttribute
        /// A mandatory relationship is new, or was optional, and rows would have no destination.
        case mandatoryRelationship
        /// Rows violate a uniqueness constraint of the target.
        case uniquenessConstraint
        /// Several objects refer to one object whose new relationship permits a single destination.
        case severalDestinations
        /// A row has an entity number that the store's model lacks.
        case unknownEntityNumber
        /// A value that must move into its row is in a file that is missing.
        case missingExternalFile
        /// The store has spatial indexes, or definitions outside its model, that refer to tables which change.
        case unsupportedDefinition
        /// CloudKit's mirror refers to entities by numbers that would change.
        case cloudMirror

        /// Core Data's error for the same reason (`CoreDataErrors.h`); nil if Core Data itself would not refuse.
        public var coreDataErrorCode: Int? {
            switch self {
            case .unrelatedModels: 134140
            case .invalidModel: 134020
            case .ambiguousRenaming, .mergedHierarchies, .attributeType, .propertyKind, .toManyToToOne,
                .relationshipDestination, .relationshipInverse:
                134190
            case .mandatoryAttribute, .mandatoryRelationship, .uniquenessConstraint, .severalDestinations,
                .unknownEntityNumber, .missingExternalFile:
                134110
            case .olderVersion, .unsupportedDefinition, .cloudMirror: nil
            }
        }

        /// The name of Core Data's error; nil if Core Data itself would not refuse.
        public var coreDataErrorName: String? {
            switch coreDataErrorCode {
            case 134020: "NSPersistentStoreIncompatibleSchemaError"
            case 134110: "NSMigrationError"
            case 134140: "NSMigrationMissingMappingModelError"
            case 134190: "NSInferredMappingModelError"
            default: nil
            }
        }
    }

    public let rule: Rule
    /// The entity of the target model, or of the source model if the target lacks it; nil for the whole model.
    public let entity: String?
    /// The property; nil for a whole entity.
    public let property: String?
    /// A lower-case fragment that says what differs; never a value of a row.
    public let reason: String
    /// A sentence that says what would make the change inferable.
    public let remedy: String

    public init(_ rule: Rule, entity: String? = nil, property: String? = nil, _ reason: String, remedy: String) {
        self.rule = rule
        self.entity = entity
        self.property = property
        self.reason = reason
        self.remedy = remedy
    }

    /// The entity and property, as `Entity.property`.
    public var subject: String { [entity, property].compactMap(\.self).joined(separator: ".") }
}

extension MappingRefusal: CustomStringConvertible {
    public var description: String {
        let code = rule.coreDataErrorCode.map { " (\(rule.coreDataErrorName ?? "") \($0))" } ?? ""
        return (subject.isEmpty ? reason : "\(subject): \(reason)") + code
    }
}

/// All reasons why a mapping cannot be inferred; at least one.
public struct MappingRefusals: Error, Hashable, Sendable, CustomStringConvertible {
    public let refusals: [MappingRefusal]

    public init(_ refusals: [MappingRefusal]) { self.refusals = refusals }

    public var description: String { refusals.map(\.description).joined(separator: "; ") }
}
