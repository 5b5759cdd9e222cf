/// Something that a scenario said and that did not hold.
public struct ScenarioFailure: Hashable, Sendable, Codable {
    /// Where the scenario says it, counted from 1.
    public let line: Int
    /// Counted from 1.
    public let column: Int
    /// The step or the expectation, in the scenario's words.
    public let title: String
    /// What was to be.
    public let expected: String
    /// What was instead.
    public let found: String
    /// What the tool wrote to standard error, where a run of it is what failed.
    public let said: String
}
