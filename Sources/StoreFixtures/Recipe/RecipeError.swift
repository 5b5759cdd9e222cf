/// A position in a recipe.
public struct RecipePosition: Hashable, Sendable, CustomStringConvertible {
    /// Counted from 1.
    public let line: Int
    /// Counted from 1.
    public let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public var description: String { "\(line):\(column)" }
}

/// A mistake in a recipe, with its position.
public struct RecipeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The recipe's file; empty when the text came from elsewhere.
    public let path: String
    public let position: RecipePosition?
    /// What is wrong and what would be right, without a final full stop.
    public let message: String

    package init(path: String, position: RecipePosition?, _ message: String) {
        self.path = path
        self.position = position
        self.message = message
    }

    /// In the form `file:line:column: message`, which editors understand.
    public var description: String {
        let place = [path, position?.description ?? ""].filter { !$0.isEmpty }.joined(separator: ":")
        return place.isEmpty ? message : "\(place): \(message)"
    }
}
