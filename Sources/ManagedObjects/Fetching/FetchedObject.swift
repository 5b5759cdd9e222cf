internal import StoreFormat

/// One object as a store has it, read without a context.
public struct FetchedObject: Sendable {
    /// A property and what it holds.
    public struct Property: Hashable, Sendable {
        public let name: String
        /// A value, or the object that a to-one relationship leads to.
        public let value: PredicateConstant
    }

    /// Names the object's own entity, which may inherit from the one that was asked for.
    public let objectID: ManagedObjectID
    /// The attributes that the store keeps, then the to-one relationships, each in the order of their names.
    public let properties: [Property]

    init(_ row: RowSnapshot, _ layout: Layout) {
        objectID = row.id
        properties =
            layout.attributes.map { Property(name: $0.name, value: .value(row.attributes[$0.index])) }
            + layout.toOnes.map {
                Property(name: $0.name, value: row.toOnes[$0.index].map(PredicateConstant.object) ?? .value(.null))
            }
    }

    /// Where the properties of one entity's objects stand in their rows.
    struct Layout {
        let attributes: [(name: String, index: Int)]
        let toOnes: [(name: String, index: Int)]

        init(_ shape: ObjectShape) {
            attributes = Self.sorted(shape.attributes.enumerated().filter { !$0.element.isTransient }) { $0.name }
            toOnes = Self.sorted(shape.toOnes.enumerated().filter { !$0.element.isTransient }) { $0.name }
        }

        private static func sorted<Element>(
            _ elements: [(offset: Int, element: Element)],
            by name: (Element) -> String
        ) -> [(name: String, index: Int)] {
            elements.map { (name: name($0.element), index: $0.offset) }
                .sorted { ManagedObjectModel.inByteOrder($0.name, $1.name) }
        }
    }
}
