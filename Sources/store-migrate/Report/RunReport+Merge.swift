import ChangeMerging
import RunReports
import StoreFormat
import StoreMigration
import StoreVerification

extension RunReport {
    /// Sets the content of the page for a merge or its plan.
    func tell(_ outcome: StoreMergeOutcome, into: StoreLocation, from: StoreLocation) {
        let isPlanned = outcome.outcome == .merged && outcome.epoch == nil
        let title =
            outcome.outcome != .merged
            ? "Nothing to merge into \(into.name)" : isPlanned ? "Plan for merging" : "Merged \(from.name)"
        var facts = [
            ReportFact("into", ReportCell(into.path, .literal)),
            ReportFact("from", ReportCell(from.path, .literal, note: "only read")),
        ]
        if let next = outcome.next { facts.append(ReportFact("next", ReportCell(reporter.command(next), .literal))) }
        let proof = outcome.report?.section(findings: outcome.findings)
        tell(
            title,
            isPlanned ? "Nothing was written." : ReportSentence.text(outcome.summary.amounts),
            [ReportSection("The stores", [.facts(facts)])]
                + outcome.summary.sections(parked: outcome.parkedRows, model)
                + (proof.map { [$0] } ?? [])
        )
    }
}
