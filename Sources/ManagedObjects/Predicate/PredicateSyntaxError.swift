/// A predicate format that cannot be read, and where.
public struct PredicateSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The column of the first character that cannot be read on, counted from 1.
    public let column: Int
    /// A lower-case fragment that says what is wrong there.
    public let message: String

    public var description: String { "column \(column) of the predicate: \(message)" }
}
