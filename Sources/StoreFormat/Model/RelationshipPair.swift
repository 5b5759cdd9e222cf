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
