import RunReports
import StoreFormat

extension [Finding] {
    /// The most findings on a page; `--json` reports all of them.
    private static let mostInReport = 1000

    /// The findings, most severe first.
    var table: ReportTable {
        let sorted = enumerated().sorted { ($1.element.severity, $0.offset) < ($0.element.severity, $1.offset) }
            .map(\.element)
        let rest = count - Self.mostInReport
        return ReportTable(
            rest > 0 ? "The first \(Self.mostInReport) of \(count)" : "Most severe first",
            columns: ["finding", "severity", "where", "level"],
            rows: sorted.prefix(Self.mostInReport).map(\.row)
        )
    }
}

extension Finding {
    fileprivate var row: [ReportCell] {
        let (word, tone): (String, ReportTone) =
            switch severity {
            case .info: ("note", .neutral)
            case .inherited: ("inherited", .neutral)
            case .warning: ("warning", .attention)
            case .error: ("error", .bad)
            }
        return [
            ReportCell(ReportSentence.text(message), note: code.rawValue), ReportCell(word, .badge(tone)),
            ReportCell(place, .literal), ReportCell(level.rawValue),
        ]
    }
}
