/// A failed claim or step of a scenario.
public struct ScenarioFailure: Hashable, Sendable, Codable {
    /// The line in the scenario, counted from 1.
    public let line: Int
    /// The column, counted from 1.
    public let column: Int
    /// The step or the expectation, in the scenario's words.
    public let title: String
    /// The expected result.
    public let expected: String
    /// The actual result.
    public let found: String
    /// The tool's standard error, for a failed run.
    public let said: String
}
