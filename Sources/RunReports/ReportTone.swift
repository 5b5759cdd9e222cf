/// The meaning of a colour in a report, which a word or sign always repeats.
public enum ReportTone: String, Hashable, Sendable, CaseIterable {
    case neutral
    case good
    /// Needs attention.
    case attention
    case bad
}
