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
    /// The entity itself and all those it inherits from.
    package let lineage: Set<String>
    package let attributes: [AttributeDescription]
    package let toOnes: [RelationshipDescription]
    package let toManys: [RelationshipDescription]
    /// The names of all attributes of each uniqueness constraint, inherited ones included.
    package let uniquenessConstraints: [[String]]
    private let properties: [String: Property]

    package var name: String { entity.name }

    init(_ entity: EntityDescription, in model: ManagedObjectModel) {
        let lineage = model.lineage(of: entity.name)
        self.entity = entity
        root = lineage.first?.name ?? entity.name
        self.lineage = Set(lineage.map(\.name))
        attributes = lineage.flatMap(\.attributes)
        let relationships = lineage.flatMap(\.relationships)
        toOnes = relationships.filter { !$0.isToMany }
        toManys = relationships.filter(\.isToMany)
        uniquenessConstraints = lineage.flatMap(\.uniquenessConstraints)
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

    /// The relationship behind a property; nil for an attribute.
    package func relationship(_ property: Property) -> RelationshipDescription? {
        switch property {
        case .attribute: nil
        case .toOne(let index): toOnes[index]
        case .toMany(let index): toManys[index]
        }
    }

    package var relationshipProperties: [Property] {
        toOnes.indices.map(Property.toOne) + toManys.indices.map(Property.toMany)
    }
}
