package import StoreFormat

/// The properties of one entity, inherited ones included, with a number for each: what an object is laid out by.
package final class ObjectShape: Sendable {
    /// Which list a property is in, and where.
    package enum Property: Hashable, Sendable {
        case attribute(Int)
        case toOne(Int)
        case toMany(Int)
    }

    package let entity: EntityDescription
    package let root: String
    /// What the temporary ids of new objects are made of.
    let temporaryFamily: ManagedObjectID.Family
    /// The entity itself and all those it inherits from.
    package let lineage: Set<String>
    package let attributes: [AttributeDescription]
    package let toOnes: [RelationshipDescription]
    package let toManys: [RelationshipDescription]
    /// The names of all attributes of each uniqueness constraint, inherited ones included.
    package let uniquenessConstraints: [[String]]
    /// The attributes that a save writes: not those without a column, and not those that the store derives.
    let storedAttributes: [Int]
    let transientAttributes: [Int]
    /// The attributes whose values may be what is called a number and is none.
    let realAttributes: [Int]
    /// What must have a value, or lead somewhere, for an object to be saved.
    let mandatoryAttributes: [Int]
    let mandatoryToOnes: [Int]
    /// The to-many relationships that limit how many objects they lead to.
    let countedToManys: [Int]
    /// True when a row reads as it was written, value for value.
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
            // A store keeps no more of a decimal than a double holds, and a large value only by the name of its file.
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

    /// The relationship behind a property; nil for an attribute, and for a number of another entity.
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
