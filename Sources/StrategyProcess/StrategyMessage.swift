public import StoreStrategies

/// The wire between a host and a strategy in another process: one JSON object a line, and nothing else.
///
/// The host asks, the strategy answers each question with one line, and the end of input means that there are no more.
/// The first question is for the capability. A member that a later version adds is optional, and an unknown one is
/// ignored where nothing is set by it.
public enum StrategyMessage {
    /// The version of the wire that this package speaks.
    public static let protocolVersion = 1

    /// What the host asks.
    public enum Question: Hashable, Sendable, Codable {
        /// Who are you, and do you speak this version?
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
