import RunReports
import UpgradeRehearsal

extension RunReport {
    /// Sets the content of the page for a rehearsal of `count` scenarios.
    func tell(_ reports: [ScenarioReport], of count: Int) {
        let held = reports.count { $0.result == .held }
        let table = ReportTable(
            "In the order of the command line",
            columns: ["scenario", "about", "result", .init("took", isNumeric: true)],
            rows: reports.map(\.row)
        )
        let failures = reports.filter { !$0.failures.isEmpty }
            .map { report in
                ReportSection(
                    report.name,
                    [
                        .paragraph(ReportSentence.text(report.about)),
                        .table(
                            ReportTable(
                                "What did not hold",
                                columns: ["where", "what", "expected", "found", "output"],
                                rows: report.failures.map(\.row)
                            )
                        ),
                    ]
                )
            }
        tell(
            held == count
                ? "All of \(Figures.count(Int64(count), "scenario")) held" : "\(held) of \(count) scenarios held",
            count > reports.count ? "\(count - reports.count) were not run." : "",
            [ReportSection("Scenarios", reports.isEmpty ? [] : [.table(table)])] + failures
        )
    }
}

extension ScenarioReport {
    fileprivate var row: [ReportCell] {
        let (word, tone): (String, ReportTone) =
            switch result {
            case .held: ("held", .good)
            case .failed: ("failed", .bad)
            case .notRun: ("not run", .attention)
            case .invalid: ("invalid", .bad)
            }
        let kept = keptPlace.map { "its files are kept in \($0)" }
        return [
            ReportCell(name, note: story.isEmpty ? nil : story.joined(separator: ", ")), ReportCell(about),
            ReportCell(word, .badge(tone), note: reason ?? kept),
            ReportCell(Figures.milliseconds(.milliseconds(Int64(max(0, min(seconds, 1e9)) * 1000))) + " s"),
        ]
    }
}

extension ScenarioFailure {
    fileprivate var row: [ReportCell] {
        [
            ReportCell("\(line):\(column)"), ReportCell(title, .literal), ReportCell(expected), ReportCell(found),
            ReportCell(said, .literal),
        ]
    }
}
