import RunReports
import StoreFormat
import StoreVerification

extension VerificationReport {
    /// The proof level by level; `others` are findings in addition to the report's own.
    func section(_ heading: String = "What was proved", findings others: [Finding] = []) -> ReportSection {
        let noticed = others + findings.filter { !others.contains($0) }
        var blocks: [ReportBlock] = [
            .table(
                ReportTable(
                    "Each level includes the ones before it",
                    columns: ["level", "what it shows", "result", .init("took", isNumeric: true)],
                    rows: levels.map { row(of: $0) }
                )
            )
        ]
        if let digest { blocks.append(.facts([ReportFact("content digest", ReportCell(digest.value, .literal))])) }
        blocks.append(noticed.isEmpty ? .paragraph("No findings.") : .table(noticed.table))
        return ReportSection(heading, blocks)
    }

    private func row(of result: LevelResult) -> [ReportCell] {
        let (word, tone): (String, ReportTone) =
            switch result.status {
            case .passed: ("passed", .good)
            case .failed: ("failed", .bad)
            case .skipped: ("skipped", .neutral)
            }
        let tried = result.level == .merging && result.reason == nil ? probe?.summary : nil
        let seconds = Duration.milliseconds(Int64(max(0, min(result.seconds, 1e9)) * 1000))
        return [
            ReportCell(result.level.rawValue, note: nil), ReportCell(result.level.meaning),
            ReportCell(word, .badge(tone), note: result.reason ?? tried),
            ReportCell(result.status == .skipped ? "" : Figures.milliseconds(seconds) + " s"),
        ]
    }
}

extension VerificationLevel {
    /// What passing the level shows.
    fileprivate var meaning: String {
        switch self {
        case .files: "All files of the store exist, and no foreign file is among them."
        case .sqlite: "Every page and record can be read, and every index matches its table."
        case .coredata: "Keys, relationships, metadata and history are consistent, as Core Data requires."
        case .content: "Every value of every row equals the other store's."
        case .merging: "What one program saves arrives in another, tried on a scratch copy."
        }
    }
}
