/// One word of a predicate format.
struct PredicateToken: Hashable, Sendable {
    /// What the word is.
    enum Kind: Hashable, Sendable {
        /// A name or a keyword; keywords are told apart by the parser.
        case word(String)
        /// A name that `#` keeps from being a keyword.
        case name(String)
        case integer(Int64)
        case real(Double)
        case string(String)
        case variable(String)
        /// `%@`, `%K`, `%d` and their like.
        case argument(Unicode.Scalar)
        /// A function of a collection, as `@count`.
        case collectionOperator(String)
        case symbol(String)
        case end
    }

    let kind: Kind
    /// The column of its first character, counted from 1.
    let column: Int
}
