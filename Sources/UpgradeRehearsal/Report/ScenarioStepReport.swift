/// A step that was carried out.
public struct ScenarioStepReport: Hashable, Sendable, Codable {
    /// The line in the scenario, counted from 1.
    public let line: Int
    /// The step in the scenario's words.
    public let title: String
    public let hasHeld: Bool
    public let seconds: Double
}
