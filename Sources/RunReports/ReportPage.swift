/// The result of a run as one page: a value, which ``html`` renders.
///
/// All content is escaped: names with markup, control characters or reversed reading direction do not affect the page.
public struct ReportPage: Hashable, Sendable {
    /// The line above the title, in small letters: the program and its command.
    public var kicker: String
    public var title: String
    /// The one word that says how it ended.
    public var outcome: String
    /// The tone of the outcome.
    public var tone: ReportTone
    /// One or two sentences that say what happened.
    public var lede: String
    /// In the order in which they are shown; those without blocks are left out.
    public var sections: [ReportSection]
    /// The last lines: when and by what it was made.
    public var colophon: [String]

    /// Creates a page; sections can be added as long as it is not yet written.
    public init(
        kicker: String,
        title: String,
        outcome: String,
        tone: ReportTone,
        lede: String,
        sections: [ReportSection] = [],
        colophon: [String] = []
    ) {
        self.kicker = kicker
        self.title = title
        self.outcome = outcome
        self.tone = tone
        self.lede = lede
        self.sections = sections
        self.colophon = colophon
    }

    /// The whole page: HTML that is well-formed XML too, needs no network and no script, and is the same for equal values.
    public var html: String { ReportRenderer.text(of: self) }
}
