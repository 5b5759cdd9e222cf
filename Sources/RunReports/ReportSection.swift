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
