import ChangeMerging
import StoreFormat
import StoreMigration

extension Reporter {
    /// Shows the result of a merge or of its plan.
    func show(_ outcome: StoreMergeOutcome, into: String, from: String, isStrict: Bool) -> Ending {
        let summary = outcome.summary
        report(outcome.findings)
        let headline = outcome.outcome == .merged && outcome.epoch == nil ? "Would merge" : nil
        result(
            summary.text(headline, into: into, from: from, style, isVerbose: isVerbose, parked: outcome.parkedRows),
            record: summary.record(into: into, from: from, outcome)
        )
        if isJSON { for conflict in summary.conflicts { line(conflict.record.text) } }
        let noticed = outcome.findings.contains { $0.severity > .info } || !summary.conflicts.isEmpty
        var ending = Ending(
            outcome.outcome,
            findings: outcome.findings.count,
            members: [("next", .optional(outcome.next.map(command)))]
        )
        if isStrict, noticed, ending.exitStatus == 0 { ending.exitStatus = MigrationOutcome.findings.exitStatus }
        return ending
    }
}
