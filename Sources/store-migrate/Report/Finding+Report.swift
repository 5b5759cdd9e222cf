import StoreFormat
import UpgradeRehearsal

extension [Finding] {
    /// A page names no more than these; `--json` names them all.
    private static let mostInReport = 1000

    /// What was noticed, the gravest first.
    var table: ReportTable {
        let sorted = enumerated().sorted { ($1.element.severity, $0.offset) < ($0.element.severity, $1.offset) }
            .map(\.element)
        let rest = count - Self.mostInReport
        return ReportTable(
            rest > 0 ? "The first \(Self.mostInReport) of \(count)" : "What was noticed, the gravest first",
            columns: ["what", "how it is meant", "where", "level"],
            rows: sorted.prefix(Self.mostInReport).map(\.row)
        )
    }
}

extension Finding {
    fileprivate var row: [ReportCell] {
        let (word, tone): (String, ReportTone) =
            switch severity {
            case .info: ("note", .neutral)
            case .inherited: ("was so before", .neutral)
            case .warning: ("warning", .attention)
            case .error: ("error", .bad)
            }
        return [
            ReportCell(ReportSentence.text(message), note: code.rawValue), ReportCell(word, .badge(tone)),
            ReportCell(place, .literal), ReportCell(level.rawValue),
        ]
    }
}
