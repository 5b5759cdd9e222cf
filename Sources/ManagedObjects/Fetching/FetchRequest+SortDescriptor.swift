extension FetchRequest {
    /// A sort key; nested here to avoid a conflict with `Foundation.SortDescriptor`.
    public struct SortDescriptor: Hashable, Sendable {
        /// How strings compare; other types have only one order.
        public enum Comparison: Hashable, Sendable {
            /// By code point, which can use an index.
            case literal
            case caseInsensitive
            case caseAndDiacriticInsensitive
        }

        /// A path of to-one relationships that ends in an attribute or in the `@count` of a to-many relationship.
        public let keyPath: String
        /// True for ascending order; nil sorts before every value.
        public let ascending: Bool
        public let comparison: Comparison

        public init(keyPath: String, ascending: Bool = true, comparison: Comparison = .literal) {
            self.keyPath = keyPath
            self.ascending = ascending
            self.comparison = comparison
        }
    }
}

extension FetchRequest.SortDescriptor.Comparison {
    var options: StringOptions {
        switch self {
        case .literal: []
        case .caseInsensitive: .caseInsensitive
        case .caseAndDiacriticInsensitive: [.caseInsensitive, .diacriticInsensitive]
        }
    }
}
