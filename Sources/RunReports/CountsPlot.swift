/// Amounts as grouped bars, and as a table.
struct CountsPlot {
    /// Further rows are in the table only.
    private static let mostBars = 30
    private static let barHeight = 7

    private let counts: ReportCounts
    private let name: String

    /// The rows that are drawn, the greatest amounts first; rows of zeroes have no bars.
    private let shown: [ReportCounts.Row]

    init(_ counts: ReportCounts, name: String) {
        self.counts = counts
        self.name = name
        let sorted = counts.rows.enumerated().filter { $0.element.greatest > 0 }
            .sorted { ($1.element.greatest, $0.offset) < ($0.element.greatest, $1.offset) }
        shown = sorted.prefix(Self.mostBars).map(\.element)
    }

    private var rowHeight: Int { 20 + counts.places.count * (Self.barHeight + 2) + 11 }

    func write(to markup: inout Markup) {
        if !shown.isEmpty { writePlot(to: &markup) }
        markup.details("All in a table") { $0.write(table) }
    }

    private func writePlot(to markup: inout Markup) {
        let title = name + "-title"
        markup.element("figure") { markup in
            markup.element("figcaption", key)
            markup.element(
                "svg",
                [
                    "role": "img", "aria-labelledby": title, "width": "100%", "height": String(shown.count * rowHeight),
                ]
            ) { markup in
                markup.element("title", ["id": title], description)
                for (index, row) in shown.enumerated() { write(row, at: index * rowHeight, to: &markup) }
            }
        }
    }

    private func write(_ row: ReportCounts.Row, at top: Int, to markup: inout Markup) {
        markup.element("text", ["x": "0", "y": String(top + 14), "class": "strong"]) { markup in
            let short = MarkupText.shortened(row.name, to: 32)
            if short != row.name { markup.element("title", row.name) }
            markup.write(short)
        }
        markup.element(
            "text",
            ["x": "100%", "y": String(top + 14), "class": row.differs ? "end strong" : "quiet end"],
            row.label
        )
        for (place, amount) in row.amounts.enumerated() {
            let y = String(top + 20 + place * (Self.barHeight + 2))
            let height = String(Self.barHeight)
            markup.empty("rect", ["x": "0", "y": y, "width": "100%", "height": height, "rx": "2", "class": "track"])
            guard let value = amount.value, value > 0 else { continue }
            // One of a million still has to be visible.
            let width = max(Percentage(of: Double(value), in: Double(counts.greatest)).hundredths, 30)
            markup.empty(
                "rect",
                [
                    "x": "0", "y": y, "width": Percentage(hundredths: width).text, "height": height, "rx": "2",
                    "class": "bar-\(min(place, 2))",
                ]
            )
        }
    }

    /// A sentence that names the bars.
    private var key: String {
        let order =
            switch counts.places.count {
            case 0, 1: counts.places.map { "Bars: \($0)." }
            case 2: ["Upper bar: \(counts.places[0]). Lower bar: \(counts.places[1])."]
            default: ["The bars of each \(counts.noun), from above: \(counts.places.joined(separator: "; "))."]
            }
        let rest = counts.rows.count - shown.count
        return (order + (rest > 0 ? ["\(rest) more in the table."] : [])).joined(separator: " ")
    }

    /// The text alternative of the plot.
    private var description: String {
        shown.map { "\($0.name): \($0.label)" }.joined(separator: "; ")
    }

    private var table: ReportTable {
        ReportTable(
            "Each \(counts.noun) in each place",
            columns: [.init(counts.noun)] + counts.places.map { .init($0, isNumeric: true) },
            rows: counts.rows.map { row in
                [ReportCell(row.name, .literal)] + row.amounts.map { ReportCell($0.label, isChosen: row.differs) }
            }
        )
    }
}

/// Amounts of the same things in several stores, for comparison.
public struct ReportCounts: Hashable, Sendable {
    /// An amount and its label; an unknown amount has no value.
    public struct Amount: Hashable, Sendable {
        public var value: Int64?
        public var label: String

        public init(_ value: Int64?, label: String) {
            self.value = value
            self.label = label
        }
    }

    /// What is counted, and the amount in each place.
    public struct Row: Hashable, Sendable {
        public var name: String
        public var amounts: [Amount]

        public init(_ name: String, _ amounts: [Amount]) {
            self.name = name
            self.amounts = amounts
        }

        /// The greatest of its amounts.
        var greatest: Int64 { amounts.compactMap(\.value).max() ?? 0 }

        /// True when the amounts are not all the same.
        var differs: Bool { Set(amounts.map(\.value)).count > 1 }

        /// The amounts in one text; equal amounts appear once.
        var label: String { differs ? amounts.map(\.label).joined(separator: " → ") : amounts.first?.label ?? "" }
    }

    /// What is counted: `entity`, `table`.
    public var noun: String
    /// The places, in the order of the amounts.
    public var places: [String]
    public var rows: [Row]

    public init(of noun: String, in places: [String], rows: [Row]) {
        self.noun = noun
        self.places = places
        self.rows = rows
    }

    /// The greatest of all amounts.
    var greatest: Int64 { rows.map(\.greatest).max() ?? 0 }
}

/// A part of a whole, in hundredths of a percent, so that the output does not depend on the formatting of fractions.
struct Percentage {
    let hundredths: Int

    init(hundredths: Int) { self.hundredths = min(max(0, hundredths), 10_000) }

    init(of part: Double, in whole: Double) {
        let share = whole > 0 ? part / whole : 0
        self.init(hundredths: share.isFinite ? Int((min(max(0, share), 1) * 10_000).rounded()) : 0)
    }

    init(of part: Duration, in whole: Duration) {
        self.init(of: part / .seconds(1), in: whole / .seconds(1))
    }

    /// `12.5%`.
    var text: String {
        let rest = hundredths % 100
        guard rest > 0 else { return "\(hundredths / 100)%" }
        let digits = rest.isMultiple(of: 10) ? "\(rest / 10)" : rest < 10 ? "0\(rest)" : "\(rest)"
        return "\(hundredths / 100).\(digits)%"
    }
}
