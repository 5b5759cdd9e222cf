/// A short text in a report, and how it is set.
public struct ReportCell: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// How a text is set.
    public enum Form: Hashable, Sendable {
        case text
        /// A path, a name or a value: set verbatim, with line breaks anywhere.
        case literal
        /// A word with a colour and a sign.
        case badge(ReportTone)
    }

    public var text: String
    public var form: Form
    /// A second, smaller line.
    public var note: String?
    /// True for the chosen one of several values.
    public var isChosen: Bool

    public init(_ text: String, _ form: Form = .text, note: String? = nil, isChosen: Bool = false) {
        self.text = text
        self.form = form
        self.note = note
        self.isChosen = isChosen
    }

    public init(stringLiteral text: String) { self.init(text) }
}
