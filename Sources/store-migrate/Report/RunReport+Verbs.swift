import ChangeMerging
import FoundationEssentials
import RunReports
import StoreAccess
import StoreMigration
import StoreVerification
import UpgradeRehearsal

extension RunReport {
    /// Sets the content of the page for a share.
    func tell(_ outcome: ShareOutcome, old: StoreLocation, new: String?, took: Duration) {
        let name = old.name
        let title =
            switch outcome.outcome {
            case .shared: "Shared \(name)"
            case .alreadyShared: "\(name) is shared already"
            case .merged: "Merged and shared \(name)"
            case .unshared: "Unshared \(name)"
            case .nothingFound: "There is no \(name)"
            default: "\(name) was not shared"
            }
        let facts = ReportSection(
            "What was moved",
            [.facts(outcome.facts(old: old.path, new: new, took: took) + commands(outcome))]
        )
        let proof =
            outcome.report?.section(findings: outcome.findings)
            ?? ReportSection(
                "Findings",
                outcome.findings.isEmpty ? [] : [.table(outcome.findings.table)]
            )
        let merge = outcome.merge.map { $0.summary.sections(parked: $0.parkedRows, model) } ?? []
        tell(title, lede(outcome, took: took), [facts, proof] + merge)
    }

    /// The figures of the share, or the reason for its failure with advice.
    private func lede(_ outcome: ShareOutcome, took: Duration) -> String {
        let figures = outcome.figures(in: took)
        guard figures.isEmpty else { return figures + "." }
        let message = ReportSentence.text(outcome.message)
        guard outcome.outcome.exitStatus != 0 else { return message }
        let refusal = Failure(refusing: outcome.outcome, outcome.message, places: [], next: outcome.next)
        return message + " " + refusal.advice
    }

    /// The next command, and the one that goes back.
    private func commands(_ outcome: ShareOutcome) -> [ReportFact] {
        guard let next = outcome.next else { return [] }
        guard case .retire = next, let old = outcome.old, let new = outcome.new else {
            return [ReportFact("next", ReportCell(reporter.command(next), .literal))]
        }
        return [
            ReportFact(
                "next",
                ReportCell(reporter.command(next), .literal, note: "when every process uses the new store")
            ),
            ReportFact(
                "to go back",
                ReportCell(reporter.command(.unshare(old: old.path, new: new.path)), .literal)
            ),
        ]
    }

    /// Sets the content of the page for a plan.
    func tell(_ plan: SharePlan) {
        var facts = [
            ReportFact("old store", ReportCell(plan.old.path, .literal)),
            ReportFact("new store", ReportCell(plan.new.path, .literal)),
        ]
        if let next = plan.next { facts.append(ReportFact("next", ReportCell(reporter.command(next), .literal))) }
        let steps = plan.steps.enumerated()
            .map { index, step in
                [ReportCell("\(index + 1)"), ReportCell(step.text(in: plan))]
            }
        let table = ReportTable("In this order", columns: ["step", "what"], rows: steps)
        tell(
            "Plan for \(plan.old.name)",
            ReportSentence.text(plan.reason) + " Nothing was written.",
            [
                ReportSection("What would be moved", [.facts(facts)]),
                ReportSection("What would be done", steps.isEmpty ? [] : [.table(table)]),
                ReportSection("Findings", plan.findings.isEmpty ? [] : [.table(plan.findings.table)]),
            ]
        )
    }
}

extension ShareOutcome {
    /// The location of the new store, if there is one.
    var newLocation: StoreLocation? { new.map { StoreLocation(url: URL(filePath: $0.path)) } }

    /// The figures of a share, most important first.
    fileprivate func facts(old oldPath: String, new newPath: String?, took: Duration) -> [ReportFact] {
        let disposition = oldStore.map { "kept for rollback; " + $0.inForce }
        var facts = [
            ReportFact("old store", ReportCell(old?.path ?? oldPath, .literal, note: disposition)),
            ReportFact("new store", ReportCell(new?.path ?? newPath ?? "", .literal)),
        ]
        if let objects = new?.objects ?? old?.objects {
            facts.append(ReportFact(new?.uuid == nil ? "rows" : "objects", ReportCell(Figures.grouped(objects))))
        }
        if let work {
            facts.append(ReportFact("external files", ReportCell(Figures.grouped(Int64(work.externalFiles)))))
            facts.append(ReportFact("size", ReportCell(Figures.bytes(work.bytes))))
        }
        facts.append(ReportFact("took", ReportCell(Figures.milliseconds(took) + " s")))
        if let hold = work?.lockHold {
            facts.append(ReportFact("writers waited", ReportCell(Figures.milliseconds(hold) + " s at most")))
        }
        if let uuid = new?.uuid { facts.append(ReportFact("store UUID", ReportCell(uuid, .literal))) }
        if let digest = new?.digest, report?.digest == nil {
            facts.append(ReportFact("content digest", ReportCell(digest, .literal)))
        }
        if let transaction { facts.append(ReportFact("run", ReportCell(transaction, .literal))) }
        return facts
    }
}

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
