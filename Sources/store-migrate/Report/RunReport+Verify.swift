import StoreFormat
import StoreVerification
import UpgradeRehearsal

extension RunReport {
    /// Tells what was proved of a store.
    func tell(_ report: VerificationReport, of store: PathArgument, against other: PathArgument?) {
        let name = store.location.name
        let isSound = report.passed && !report.findings.contains { $0.severity >= .warning }
        var facts = [ReportFact("store", ReportCell(store.path, .literal))]
        if let other { facts.append(ReportFact("compared with", ReportCell(other.path, .literal))) }
        let notes = report.findings.filter { $0.severity >= .warning }.count
        tell(
            isSound ? "\(name) is sound" : "\(name) needs to be looked at",
            isSound
                ? "Proved: \(report.provedLevels.map(\.rawValue).joined(separator: ", "))."
                : "\(Figures.count(Int64(notes), "finding")) should be looked at.",
            [ReportSection("What was looked at", [.facts(facts)]), report.section()]
        )
    }
}
