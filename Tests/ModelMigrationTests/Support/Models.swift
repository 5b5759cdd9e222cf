import StoreFormat

/// Short forms for the models of the tests.
func entity(
    _ name: String,
    was identifier: String? = nil,
    parent: String? = nil,
    abstract: Bool = false,
    _ attributes: [AttributeDescription] = [],
    _ relationships: [RelationshipDescription] = [],
    unique: [[String]] = [],
    indexes: [FetchIndexDescription] = [],
    modifier: String? = nil
) -> EntityDescription {
    EntityDescription(
        name: name,
        superentity: parent,
        isAbstract: abstract,
        attributes: attributes,
        relationships: relationships,
        uniquenessConstraints: unique,
        fetchIndexes: indexes,
        renamingIdentifier: identifier,
        versionHashModifier: modifier
    )
}

func attribute(
    _ name: String,
    _ type: AttributeDescription.AttributeType = .string,
    was identifier: String? = nil,
    required: Bool = false,
    default value: PropertyListValue? = nil,
    external: Bool = false,
    derived expression: String? = nil,
    transient: Bool = false,
    preserved: Bool = false,
    modifier: String? = nil
) -> AttributeDescription {
    AttributeDescription(
        name: name,
        type: type,
        isOptional: !required,
        isTransient: transient,
        isDerived: expression != nil,
        allowsExternalBinaryDataStorage: external,
        preservesValueInHistoryOnDeletion: preserved,
        defaultValue: value,
        derivationExpression: expression,
        renamingIdentifier: identifier,
        versionHashModifier: modifier
    )
}

func toOne(
    _ name: String,
    _ destination: String,
    inverse: String? = nil,
    was identifier: String? = nil,
    required: Bool = false
) -> RelationshipDescription {
    RelationshipDescription(
        name: name,
        destination: destination,
        inverse: inverse,
        isOptional: !required,
        renamingIdentifier: identifier
    )
}

func toMany(
    _ name: String,
    _ destination: String,
    inverse: String? = nil,
    was identifier: String? = nil,
    ordered: Bool = false
) -> RelationshipDescription {
    RelationshipDescription(
        name: name,
        destination: destination,
        inverse: inverse,
        maxCount: 0,
        isOrdered: ordered,
        renamingIdentifier: identifier
    )
}

func model(_ entities: EntityDescription..., version: String = "") -> ManagedObjectModel {
    ManagedObjectModel(entities: entities, versionIdentifiers: [version])
}
