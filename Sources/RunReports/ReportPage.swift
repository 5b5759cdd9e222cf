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

/// A part of a report with a heading of its own.
public struct ReportSection: Hashable, Sendable {
    public var heading: String
    public var blocks: [ReportBlock]

    /// Creates a section; one without blocks is not shown.
    public init(_ heading: String, _ blocks: [ReportBlock]) {
        self.heading = heading
        self.blocks = blocks
    }
}

/// A block of a section of a report.
public enum ReportBlock: Hashable, Sendable {
    /// A sentence or several.
    case paragraph(String)
    /// Names with a text each.
    case facts([ReportFact])
    case table(ReportTable)
    /// The steps over time, as a plot.
    case timeline(ReportTimeline)
    /// Amounts side by side, as a plot and a table.
    case counts(ReportCounts)
    /// Lines of literal text: commands, output of a program.
    case lines([String])
}

/// A name with a text.
public struct ReportFact: Hashable, Sendable {
    public var name: String
    public var value: ReportCell

    public init(_ name: String, _ value: ReportCell) {
        self.name = name
        self.value = value
    }
}

/// The meaning of a colour in a report, which a word or sign always repeats.
public enum ReportTone: String, Hashable, Sendable, CaseIterable {
    case neutral
    case good
    /// Needs attention.
    case attention
    case bad
}

/// A table; the first cell of a row names the row.
public struct ReportTable: Hashable, Sendable {
    /// A column's heading, and how its cells are set.
    public struct Column: Hashable, Sendable, ExpressibleByStringLiteral {
        public var heading: String
        /// True for figures, which stand at the right.
        public var isNumeric: Bool

        public init(_ heading: String, isNumeric: Bool = false) {
            self.heading = heading
            self.isNumeric = isNumeric
        }

        public init(stringLiteral heading: String) { self.init(heading) }
    }

    /// What the table shows, in a few words.
    public var caption: String
    public var columns: [Column]
    /// A row has a cell for each column; further cells are left out, and missing ones stay empty.
    public var rows: [[ReportCell]]

    public init(_ caption: String, columns: [Column], rows: [[ReportCell]]) {
        self.caption = caption
        self.columns = columns
        self.rows = rows
    }
}

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
