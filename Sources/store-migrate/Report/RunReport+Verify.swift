import RunReports
import StoreFormat
import StoreVerification

extension RunReport {
    /// Sets the content of the page for a verification.
    func tell(_ report: VerificationReport, of store: PathArgument, against other: PathArgument?) {
        let name = store.location.name
        let isSound = report.passed && !report.findings.contains { $0.severity >= .warning }
        var facts = [ReportFact("store", ReportCell(store.path, .literal))]
        if let other { facts.append(ReportFact("compared with", ReportCell(other.path, .literal))) }
        let notes = report.findings.filter { $0.severity >= .warning }.count
        tell(
            isSound ? "\(name) is sound" : "\(name) needs attention",
            isSound
                ? "Proved: \(report.provedLevels.map(\.rawValue).joined(separator: ", "))."
                : "\(Figures.count(Int64(notes), "finding")) of severity warning or error.",
            [ReportSection("What was verified", [.facts(facts)]), report.section()]
        )
    }
}
