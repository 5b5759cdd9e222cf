/// A syntax error in a predicate format, with its position.
public struct PredicateSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The column of the first character that cannot be parsed, counted from 1.
    public let column: Int
    /// The problem at that column, as a lower-case fragment.
    public let message: String

    public var description: String { "column \(column) of the predicate: \(message)" }
}
