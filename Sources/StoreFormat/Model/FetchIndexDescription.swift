/// A fetch index of an entity.
public struct FetchIndexDescription: Hashable, Sendable {
    /// One property, or expression, that an index is made of.
    public struct Element: Hashable, Sendable {
        /// How an index is laid out, with the numbers that a model archive uses.
        public enum Kind: Int, Sendable {
            /// An ordinary index.
            case binary = 0
            /// A spatial index, kept in a virtual table.
            case rTree = 1
        }

        /// The name of the property; for an expression, the name that the archive gives it.
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
    /// What it is made of, in order.
    public let elements: [Element]
    /// True when a predicate limits the objects it lists.
    public let isPartial: Bool

    public init(name: String, elements: [Element], isPartial: Bool = false) {
        self.name = name
        self.elements = elements
        self.isPartial = isPartial
    }

    public init(name: String, properties: [String]) {
        self.init(name: name, elements: properties.map { Element(property: $0) })
    }

    /// The names of the properties it is made of, in order.
    public var properties: [String] { elements.map(\.property) }
}
