package import StoreFixtures

/// A mistake in a scenario, or in a recipe that it names, with its position.
public struct ScenarioError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file; empty when the text came from elsewhere.
    public let path: String
    /// Counted from 1; nil when it is about the file as a whole.
    public let line: Int?
    /// Counted from 1; nil when it is about the file as a whole.
    public let column: Int?
    /// What is wrong and what would be right, without a final full stop.
    public let message: String

    package init(path: String, position: RecipePosition?, _ message: String) {
        self.path = path
        line = position?.line
        column = position?.column
        self.message = message
    }

    init(_ error: RecipeError) {
        self.init(path: error.path, position: error.position, error.message)
    }

    /// In the form `file:line:column: message`, which editors understand.
    public var description: String {
        let place = [path, line.map { "\($0)" } ?? "", column.map { "\($0)" } ?? ""].filter { !$0.isEmpty }
        return (place.isEmpty ? "" : place.joined(separator: ":") + ": ") + message
    }
}
