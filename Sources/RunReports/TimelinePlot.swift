/// A timeline as a plot: a row for each step, with a bar from its start to its end.
///
/// Lengths are parts of the width, so that the plot fits any page and its text keeps the page's size.
struct TimelinePlot {
    private static let rowHeight = 40

    private let timeline: ReportTimeline
    private let name: String

    init(_ timeline: ReportTimeline, name: String) {
        self.timeline = timeline
        self.name = name
    }

    func write(to markup: inout Markup) {
        let end = timeline.end
        let title = name + "-title"
        markup.element("figure") { markup in
            markup.element(
                "svg",
                [
                    "role": "img", "aria-labelledby": title, "width": "100%",
                    "height": String(timeline.steps.count * Self.rowHeight),
                ]
            ) { markup in
                markup.element("title", ["id": title], description)
                for (index, step) in timeline.steps.enumerated() { write(step, at: index, of: end, to: &markup) }
            }
        }
    }

    private func write(_ step: ReportTimeline.Step, at index: Int, of end: Duration, to markup: inout Markup) {
        let top = index * Self.rowHeight
        let start = Percentage(of: step.start, in: end)
        markup.element("text", ["x": "0", "y": String(top + 14), "class": "strong"], step.name)
        markup.element("text", ["x": "100%", "y": String(top + 14), "class": "quiet end"], step.label)
        markup.empty(
            "rect",
            ["x": "0", "y": String(top + 21), "width": "100%", "height": "8", "rx": "2", "class": "track"]
        )
        // The shortest step stays visible and within the plot.
        let width = max(Percentage(of: step.end - step.start, in: end).hundredths, 40)
        markup.empty(
            "rect",
            [
                "x": Percentage(hundredths: min(start.hundredths, 10_000 - width)).text, "y": String(top + 21),
                "width": Percentage(hundredths: width).text, "height": "8", "rx": "2",
                "class": "step \(step.tone.rawValue)",
            ]
        )
    }

    /// The text alternative of the plot.
    private var description: String {
        timeline.steps.map { "\($0.name): \($0.label)" }.joined(separator: "; ")
    }
}

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
