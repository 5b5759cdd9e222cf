extension FetchRequest {
    /// One key of an order; it lives here so that `Foundation.SortDescriptor` keeps its name.
    public struct SortDescriptor: Hashable, Sendable {
        /// How texts compare; other values have one order only.
        public enum Comparison: Hashable, Sendable {
            /// By code point, which is what an index is made for.
            case literal
            case caseInsensitive
            case caseAndDiacriticInsensitive
        }

        /// A path through to-one relationships to an attribute or to the `@count` of a to-many relationship.
        public let keyPath: String
        /// True for smallest first; nil is smaller than every value.
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
