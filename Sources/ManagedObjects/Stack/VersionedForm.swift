internal import StoreFormat

/// The parts of an entity that determine its version; other parts, such as defaults and indexes, may differ.
struct VersionedForm: Hashable {
    struct Attribute: Hashable {
        let type: AttributeDescription.AttributeType
        let isOptional: Bool
        let isTransient: Bool
        let isExternal: Bool
    }

    struct Relationship: Hashable {
        let destination: String
        let inverse: String?
        let isToMany: Bool
        let isOrdered: Bool
    }

    let superentity: String?
    let isAbstract: Bool
    let attributes: [String: Attribute]
    let relationships: [String: Relationship]
}

extension EntityDescription {
    var versionedForm: VersionedForm {
        VersionedForm(
            superentity: superentity,
            isAbstract: isAbstract,
            attributes: Dictionary(
                attributes.map { attribute in
                    let form = VersionedForm.Attribute(
                        type: attribute.type,
                        isOptional: attribute.isOptional,
                        isTransient: attribute.isTransient,
                        isExternal: attribute.allowsExternalBinaryDataStorage
                    )
                    return (attribute.name, form)
                }
            ) { first, _ in first },
            relationships: Dictionary(
                relationships.map { relationship in
                    let form = VersionedForm.Relationship(
                        destination: relationship.destination,
                        inverse: relationship.inverse,
                        isToMany: relationship.isToMany,
                        isOrdered: relationship.isOrdered
                    )
                    return (relationship.name, form)
                }
            ) { first, _ in first }
        )
    }
}
