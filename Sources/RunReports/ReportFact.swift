/// A name with a text.
public struct ReportFact: Hashable, Sendable {
    public var name: String
    public var value: ReportCell

    public init(_ name: String, _ value: ReportCell) {
        self.name = name
        self.value = value
    }
}
