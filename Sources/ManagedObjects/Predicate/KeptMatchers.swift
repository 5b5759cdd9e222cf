internal import StoreFormat
internal import Synchronization

/// A cache of compiled patterns.
final class KeptMatchers: Sendable {
    private struct Key: Hashable {
        let comparison: StringOperator
        let options: StringOptions
        let pattern: String

        /// Patterns are the same if their bytes are: canonically equivalent ones match different texts.
        static func == (one: Key, other: Key) -> Bool {
            one.comparison == other.comparison && one.options == other.options
                && one.pattern.hasSameBytes(as: other.pattern)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(comparison)
            hasher.combine(options)
            pattern.hashBytes(into: &hasher)
        }
    }

    private static let limit = 16
    private let matchers = Mutex<[Key: StringMatcher?]>([:])

    func matches(
        _ text: String,
        _ comparison: StringOperator,
        _ options: StringOptions,
        _ pattern: String
    ) throws(AbandonedMatch) -> Bool {
        let key = Key(comparison: comparison, options: options, pattern: pattern)
        return try matchers.withLock { matchers throws(AbandonedMatch) in
            if let matcher = matchers[key] { return try matcher?.matches(text) ?? false }
            // Patterns from a column differ in every row: bound the cache.
            if matchers.count >= Self.limit { matchers.removeAll() }
            let matcher = StringMatcher(comparison, options: options, pattern: pattern)
            matchers[key] = .some(matcher)
            return try matcher?.matches(text) ?? false
        }
    }
}
