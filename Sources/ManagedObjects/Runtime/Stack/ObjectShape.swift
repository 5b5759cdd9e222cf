package import StoreFormat

/// The properties of an entity, inherited ones included, each with an index: the memory layout of its objects.
package final class ObjectShape: Sendable {
    /// A property's list and its index there.
    package enum Property: Hashable, Sendable {
        case attribute(Int)
        case toOne(Int)
        case toMany(Int)
    }

    package let entity: EntityDescription
    package let root: String
    /// The family of the temporary IDs of new objects.
    let temporaryFamily: ManagedObjectID.Family
    /// The entity and all its ancestors.
    package let lineage: Set<String>
    package let attributes: [AttributeDescription]
    package let toOnes: [RelationshipDescription]
    package let toManys: [RelationshipDescription]
    /// The names of all attributes of each uniqueness constraint, inherited ones included.
    package let uniquenessConstraints: [[String]]
    /// The attributes that a save writes: without transient and derived ones.
    let storedAttributes: [Int]
    let transientAttributes: [Int]
    /// The attributes whose values may be NaN.
    let realAttributes: [Int]
    /// The properties that must have a value or a destination before a save.
    let mandatoryAttributes: [Int]
    let mandatoryToOnes: [Int]
    /// The to-many relationships with a minimum or maximum count.
    let countedToManys: [Int]
    /// True when a stored row always reads back exactly as it was written.
    let readsAsWritten: Bool
    private let properties: [String: Property]

    package var name: String { entity.name }

    init(_ entity: EntityDescription, in model: ManagedObjectModel) {
        let lineage = model.lineage(of: entity.name)
        self.entity = entity
        root = lineage.first?.name ?? entity.name
        temporaryFamily = ManagedObjectID.Family(entity: entity.name, root: root, storeUUID: nil)
        self.lineage = Set(lineage.map(\.name))
        let attributes = lineage.flatMap(\.attributes)
        let relationships = lineage.flatMap(\.relationships)
        let (toOnes, toManys) = (relationships.filter { !$0.isToMany }, relationships.filter(\.isToMany))
        self.attributes = attributes
        self.toOnes = toOnes
        self.toManys = toManys
        uniquenessConstraints = lineage.flatMap(\.uniquenessConstraints)
        storedAttributes = attributes.indices.filter {
            !attributes[$0].isTransient && !attributes[$0].isDerived
        }
        realAttributes = attributes.indices.filter {
            [.double, .float, .date, .undefined].contains(attributes[$0].type)
        }
        transientAttributes = attributes.indices.filter { attributes[$0].isTransient }
        mandatoryAttributes = attributes.indices.filter {
            !attributes[$0].isTransient && !attributes[$0].isDerived && !attributes[$0].isOptional
        }
        mandatoryToOnes = toOnes.indices.filter { !toOnes[$0].isOptional && !toOnes[$0].isTransient }
        countedToManys = toManys.indices.filter {
            !toManys[$0].isTransient && (toManys[$0].minCount > 0 || toManys[$0].maxCount > 0)
        }
        readsAsWritten = attributes.allSatisfy {
            // A decimal is stored as a double and may lose precision; a large value is stored as a file name.
            !$0.isDerived && $0.type != .decimal && !$0.allowsExternalBinaryDataStorage
        }
        var properties: [String: Property] = [:]
        for (index, attribute) in attributes.enumerated() { properties[attribute.name] = .attribute(index) }
        for (index, relationship) in toOnes.enumerated() { properties[relationship.name] = .toOne(index) }
        for (index, relationship) in toManys.enumerated() { properties[relationship.name] = .toMany(index) }
        self.properties = properties
    }

    package func property(_ name: String) -> Property? { properties[name] }

    package func name(of property: Property) -> String {
        switch property {
        case .attribute(let index): attributes[index].name
        case .toOne(let index): toOnes[index].name
        case .toMany(let index): toManys[index].name
        }
    }

    /// The relationship of a property; nil for an attribute, and for an index of another entity.
    package func relationship(_ property: Property) -> RelationshipDescription? {
        switch property {
        case .attribute: nil
        case .toOne(let index): toOnes.indices.contains(index) ? toOnes[index] : nil
        case .toMany(let index): toManys.indices.contains(index) ? toManys[index] : nil
        }
    }

    package var relationshipProperties: [Property] {
        toOnes.indices.map(Property.toOne) + toManys.indices.map(Property.toMany)
    }
}

/// A model with the shape of each of its entities.
package final class ModelShape: Sendable {
    package let model: ManagedObjectModel
    package let entities: [String: ObjectShape]

    package init(_ model: ManagedObjectModel) {
        self.model = model
        entities = model.entitiesByName.mapValues { ObjectShape($0, in: model) }
    }

    /// The shape of an entity; the error for an unknown name does not list the known ones.
    package func entity(_ name: String) throws -> ObjectShape {
        guard let shape = entities[name] else {
            throw ManagedObjectError(.unknownProperty, "the model has no entity \(name)")
        }
        return shape
    }
}

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
