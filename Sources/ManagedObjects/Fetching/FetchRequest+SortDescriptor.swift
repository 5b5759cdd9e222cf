extension FetchRequest {
    /// A sort key; nested here to avoid a conflict with `Foundation.SortDescriptor`.
    public struct SortDescriptor: Hashable, Sendable {
        public typealias Comparison = SortComparison

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

        /// The same key for requests of another class.
        init<Other>(_ descriptor: FetchRequest<Other>.SortDescriptor) {
            self.init(
                keyPath: descriptor.keyPath,
                ascending: descriptor.ascending,
                comparison: descriptor.comparison
            )
        }
    }
}

/// How strings compare in an order; other types have only one order.
public enum SortComparison: Hashable, Sendable {
    /// By code point, which can use an index.
    case literal
    case caseInsensitive
    case caseAndDiacriticInsensitive
}

extension SortComparison {
    var options: StringOptions {
        switch self {
        case .literal: []
        case .caseInsensitive: .caseInsensitive
        case .caseAndDiacriticInsensitive: [.caseInsensitive, .diacriticInsensitive]
        }
    }
}
