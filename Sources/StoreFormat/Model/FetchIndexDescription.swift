/// A fetch index of an entity.
public struct FetchIndexDescription: Hashable, Sendable {
    /// One property, or expression, of an index.
    public struct Element: Hashable, Sendable {
        /// The structure of an index, with the numbers of a model archive.
        public enum Kind: Int, Sendable {
            /// An ordinary index.
            case binary = 0
            /// A spatial index, stored in a virtual table.
            case rTree = 1
        }

        /// The name of the property; for an expression, the name in the archive.
        public let property: String
        public let kind: Kind
        public let isAscending: Bool

        public init(property: String, kind: Kind = .binary, isAscending: Bool = true) {
            self.property = property
            self.kind = kind
            self.isAscending = isAscending
        }
    }

    public let name: String
    /// Its elements, in order.
    public let elements: [Element]
    /// True if a predicate limits the indexed objects.
    public let isPartial: Bool

    public init(name: String, elements: [Element], isPartial: Bool = false) {
        self.name = name
        self.elements = elements
        self.isPartial = isPartial
    }

    public init(name: String, properties: [String]) {
        self.init(name: name, elements: properties.map { Element(property: $0) })
    }

    /// The names of its properties, in order.
    public var properties: [String] { elements.map(\.property) }
}
