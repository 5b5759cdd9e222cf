/// What a section of a report consists of.
public enum ReportBlock: Hashable, Sendable {
    /// A sentence or several.
    case paragraph(String)
    /// Names and what is to be said of each.
    case facts([ReportFact])
    case table(ReportTable)
    /// What was done when, as a plot.
    case timeline(ReportTimeline)
    /// Amounts side by side, as a plot and a table.
    case counts(ReportCounts)
    /// Entities and how they relate, as a drawing and a list.
    case graph(ReportGraph)
    /// Lines to type or to read as they are: commands, what a program said.
    case lines([String])
}
