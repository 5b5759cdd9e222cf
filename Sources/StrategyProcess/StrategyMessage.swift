public import StoreStrategies

/// The protocol between a host and a strategy in another process: one JSON object per line.
///
/// The strategy answers each question with one line; the end of input is the end of the questions. The first question is
/// for the capability. A member that a later version adds is optional. An unknown member is ignored where it sets nothing.
public enum StrategyMessage {
    /// The version of the wire that this package speaks.
    public static let protocolVersion = 1

    /// What the host asks.
    public enum Question: Hashable, Sendable, Codable {
        /// What is your name, and do you speak this version?
        case getCapability(protocolVersion: Int)
        /// Do you apply?
        case evaluate(request: StrategyRequest)
        /// What do you set?
        case describe(request: StrategyRequest)
    }

    /// What the strategy answers.
    public enum Answer: Hashable, Sendable, Codable {
        case capability(protocolVersion: Int, name: String, documentation: StrategyDocumentation)
        case applicability(result: Applicability)
        case changes(changes: DescriptionChanges)
        /// The question has no answer, for this reason.
        case failure(message: String, recoverySuggestion: String?)
    }
}
