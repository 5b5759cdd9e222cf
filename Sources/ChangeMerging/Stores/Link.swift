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
