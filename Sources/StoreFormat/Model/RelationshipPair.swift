/// A relationship of a model, together with its inverse where it has one.
public struct RelationshipPair: Hashable, Sendable {
    /// One direction of it, and the entity that declares that.
    public struct Side: Hashable, Sendable {
        public let entity: String
        public let relationship: RelationshipDescription
    }

    public let forward: Side
    /// The way back; nil for a relationship without an inverse, and the same as `forward` for one that is its own.
    public let inverse: Side?
}

extension ManagedObjectModel {
    /// The entities in the order of their names, which does not depend on a language.
    public var sortedEntities: [EntityDescription] {
        entities.values.sorted { Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8)) }
    }

    /// Every relationship once, in the order of the entities' names; those that lead out of the model are left out.
    public var relationshipPairs: [RelationshipPair] {
        var told: Set<[String]> = []
        var pairs: [RelationshipPair] = []
        for entity in sortedEntities {
            for relationship in entity.relationships where entities[relationship.destination] != nil {
                guard !told.contains([entity.name, relationship.name]) else { continue }
                let inverse = inverse(of: relationship, declaredBy: entity.name)
                if let inverse { told.insert([inverse.entity, inverse.relationship.name]) }
                pairs.append(.init(forward: .init(entity: entity.name, relationship: relationship), inverse: inverse))
            }
        }
        return pairs
    }

    /// The inverse, where the destination or an entity that it inherits from declares it.
    private func inverse(of relationship: RelationshipDescription, declaredBy entity: String) -> RelationshipPair.Side?
    {
        guard let name = relationship.inverse else { return nil }
        var seen: Set<String> = []
        var next: String? = relationship.destination
        while let current = next, seen.insert(current).inserted {
            let description = entities[current]
            if let found = description?.relationships.first(where: { $0.name == name && $0.destination == entity }) {
                return .init(entity: current, relationship: found)
            }
            next = description?.superentity
        }
        return nil
    }
}
