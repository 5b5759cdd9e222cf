package import StoreFormat

/// A relationship and its inverse as one relation, and where a store keeps its pairs.
///
/// A to-one is single at its own end, a one-to-one at both; a to-many without an inverse is single at its members' end;
/// a many-to-many at neither. So keys in rows and rows of join tables are merged by the same rules.
package struct LinkRelation: Hashable, Sendable {
    package enum Position: Hashable, Sendable, CaseIterable {
        case first, second

        package var other: Position { self == .first ? .second : .first }
    }

    /// One end of the relation.
    package struct End: Hashable, Sendable {
        /// The entity that declares the relationship, or the destination of the other end if this end has none.
        package let entity: String
        package let root: String
        /// The relationship's name; nil at the unnamed end of a relationship without an inverse.
        package let name: String?
        /// True if an object at this end has at most one partner.
        package let isSingle: Bool
        package let isOrdered: Bool
        package let isRequired: Bool
        package let cascades: Bool

        func isSame(as other: End) -> Bool {
            (entity, root, name) == (other.entity, other.root, other.name)
                && (isSingle, isOrdered) == (other.isSingle, other.isOrdered)
        }
    }

    /// Where the pairs are stored.
    package enum Storage: Hashable, Sendable {
        /// In a column of the rows at one end.
        case column(String, table: String, order: String?, holder: Position)
        case join(table: String, first: StoreLayout.JoinTable.Side, second: StoreLayout.JoinTable.Side)
    }

    package let index: Int
    package let first: End
    package let second: End
    package let storage: Storage

    /// True for a relationship that is its own inverse.
    package var isSymmetric: Bool { first.entity == second.entity && first.name == second.name && first.name != nil }

    package subscript(_ position: Position) -> End { position == .first ? first : second }

    /// True if both denote the same relation, regardless of storage and rules.
    package func isSame(as other: LinkRelation) -> Bool {
        first.isSame(as: other.first) && second.isSame(as: other.second)
    }

    /// The same relation with another index.
    func at(_ index: Int) -> LinkRelation { LinkRelation(index: index, first: first, second: second, storage: storage) }

    /// All relations of a store, in an order that follows from the model alone.
    package static func all(in layout: StoreLayout) -> [LinkRelation] {
        var found: [(End, End, Storage)] = []
        for name in layout.entities.keys.sorted(by: ManagedObjectModel.inByteOrder) {
            guard let entity = layout.entities[name] else { continue }
            for relationship in entity.relationships where relationship.declaredBy == name {
                if let relation = relation(relationship, of: entity, in: layout) { found.append(relation) }
            }
        }
        return found.enumerated()
            .map { LinkRelation(index: $0.offset, first: $0.element.0, second: $0.element.1, storage: $0.element.2) }
    }

    /// Nil if the inverse represents both.
    private static func relation(
        _ relationship: StoreLayout.Relationship,
        of entity: StoreLayout.Entity,
        in layout: StoreLayout
    ) -> (End, End, Storage)? {
        let description = relationship.description
        guard let destination = layout.entities[description.destination] else { return nil }
        let inverse = description.inverse.flatMap { destination.relationship($0) }
        let isLeading =
            inverse.map { inverse in
                [entity.name, description.name]
                    .lexicographicallyPrecedes(
                        [inverse.declaredBy, inverse.description.name]
                    ) || (inverse.declaredBy == entity.name && inverse.description.name == description.name)
            } ?? true
        // Only a column in the destination's table admits one owner; a join table admits several without an inverse.
        let hasOneOwner = if case .oneToMany = relationship.storage { true } else { false }
        let own = end(relationship, entity)
        let other =
            inverse.map { end($0, layout.entities[$0.declaredBy] ?? destination) }
            ?? End(
                entity: destination.name,
                root: destination.root,
                name: nil,
                isSingle: hasOneOwner,
                isOrdered: false,
                isRequired: false,
                cascades: false
            )
        switch relationship.storage {
        case .toOne(let key):
            if case .toOne? = inverse?.storage, !isLeading { return nil }
            let order = other.isOrdered ? key.orderColumn : nil
            return (own, other, .column(key.column, table: entity.table, order: order, holder: .first))
        case .oneToMany(let table, let key):
            guard inverse == nil else { return nil }
            return (own, other, .column(key.column, table: table, order: key.orderColumn, holder: .second))
        case .manyToMany(let table, let side, let back):
            guard isLeading else { return nil }
            return (own, other, .join(table: table, first: side, second: back))
        }
    }

    private static func end(_ relationship: StoreLayout.Relationship, _ entity: StoreLayout.Entity) -> End {
        let description = relationship.description
        return End(
            entity: entity.name,
            root: entity.root,
            name: description.name,
            isSingle: !description.isToMany,
            isOrdered: description.isOrdered,
            isRequired: !description.isOptional && !description.isToMany,
            cascades: description.deleteRule == .cascade
        )
    }
}

/// One pair of objects that a relationship connects, by the keys at its two ends.
package struct Link: Hashable, Sendable {
    /// The position of the relation among those of the model.
    package let relation: Int
    package let first: Int64
    package let second: Int64

    /// The ends of a symmetric relationship are interchangeable: the smaller key comes first.
    package init(_ relation: LinkRelation, first: Int64, second: Int64) {
        self.relation = relation.index
        let turns = relation.isSymmetric && first > second
        self.first = turns ? second : first
        self.second = turns ? first : second
    }

    /// The key at one end.
    package func key(_ end: LinkRelation.Position) -> Int64 { end == .first ? first : second }
}

/// An object at one end of a relation; at a single end it has at most one partner.
package struct LinkSlot: Hashable, Sendable {
    package let relation: Int
    package let end: LinkRelation.Position
    package let key: Int64

    package init(_ relation: LinkRelation, _ end: LinkRelation.Position, _ key: Int64) {
        self.relation = relation.index
        self.end = relation.isSymmetric ? .first : end
        self.key = key
    }
}
