/// Whether a strategy applies to a store and a role, and the reason where it does not.
public enum Applicability: Hashable, Sendable, Codable {
    case applicable
    /// `reason` is a lower-case fragment that can stand after "because".
    case notApplicable(reason: String)
}
