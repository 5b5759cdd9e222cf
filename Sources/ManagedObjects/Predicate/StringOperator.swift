/// How a string is matched against a pattern.
enum StringOperator: Int64, Hashable, Sendable, CaseIterable {
    case beginsWith
    case endsWith
    case contains
    /// `*` matches any number of characters, `?` matches one; a backslash escapes them.
    case like
    /// A regular expression that must match the whole string.
    case matches
}
