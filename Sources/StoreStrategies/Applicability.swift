/// Whether a strategy has something to say about a store and a role; a "no" comes with its reason.
public enum Applicability: Hashable, Sendable, Codable {
    case applicable
    /// `reason` is a lower-case fragment that can stand after "because".
    case notApplicable(reason: String)
}
