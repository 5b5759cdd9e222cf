internal import StoreFormat

/// An object of a store, read without a context.
public struct FetchedObject: Sendable {
    /// A property and its value.
    public struct Property: Hashable, Sendable {
        public let name: String
        /// A value, or the destination of a to-one relationship.
        public let value: PredicateConstant
    }

    /// The object's ID, with its concrete entity, which may inherit from the requested one.
    public let objectID: ManagedObjectID
    /// The stored attributes, then the to-one relationships, each ordered by name.
    public let properties: [Property]

    init(_ row: RowSnapshot, _ layout: Layout) {
        objectID = row.id
        properties =
            layout.attributes.map { Property(name: $0.name, value: .value(row.attributes[$0.index])) }
            + layout.toOnes.map {
                Property(name: $0.name, value: row.toOnes[$0.index].map(PredicateConstant.object) ?? .value(.null))
            }
    }

    /// The indexes of an entity's properties in its rows.
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
