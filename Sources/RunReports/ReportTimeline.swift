/// The steps of a run, with times from its beginning.
public struct ReportTimeline: Hashable, Sendable {
    /// One step of the run.
    public struct Step: Hashable, Sendable {
        public var name: String
        public var start: Duration
        public var end: Duration
        /// Its start and duration as text.
        public var label: String
        public var tone: ReportTone

        public init(_ name: String, from start: Duration, to end: Duration, label: String, tone: ReportTone = .neutral)
        {
            self.name = name
            self.start = start
            self.end = end
            self.label = label
            self.tone = tone
        }
    }

    public var steps: [Step]

    public init(_ steps: [Step]) { self.steps = steps }

    /// When the last step ended.
    var end: Duration { steps.map(\.end).max() ?? .zero }
}
