/// How a text is held against a pattern.
enum StringOperator: Int64, Hashable, Sendable, CaseIterable {
    case beginsWith
    case endsWith
    case contains
    /// `*` stands for any number of characters, `?` for one; a backslash takes that meaning from them.
    case like
    /// A regular expression that the whole text must match.
    case matches
}
