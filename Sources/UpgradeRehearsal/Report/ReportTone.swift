/// How something in a report is meant; it is always said in words too, never by colour alone.
public enum ReportTone: String, Hashable, Sendable, CaseIterable {
    case neutral
    case good
    /// Should be looked at.
    case attention
    case bad
}
