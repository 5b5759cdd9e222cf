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
