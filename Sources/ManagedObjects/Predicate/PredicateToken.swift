/// One token of a predicate format.
struct PredicateToken: Hashable, Sendable {
    /// The kind of a token.
    enum Kind: Hashable, Sendable {
        /// A name or a keyword; the parser distinguishes them.
        case word(String)
        /// A name escaped by `#`, which is never a keyword.
        case name(String)
        case integer(Int64)
        case real(Double)
        case string(String)
        case variable(String)
        /// `%@`, `%K`, `%d` and other placeholders.
        case argument(Unicode.Scalar)
        /// A collection operator such as `@count`.
        case collectionOperator(String)
        case symbol(String)
        case end
    }

    let kind: Kind
    /// The column of its first character, counted from 1.
    let column: Int
}
