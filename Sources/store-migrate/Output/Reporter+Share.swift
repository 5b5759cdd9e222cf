import ChangeMerging
import ModelMigration
import StoreFormat
import StoreMigration
import StoreVerification

extension Reporter {
    /// Shows the result of a share, or the one error line that names the decision to make.
    func show(_ outcome: ShareOutcome, _ missing: ShareOptions.MissingPolicy, _ places: PlacesArguments, took: Duration)
        -> Ending
    {
        show(outcome, missing, old: places.old.path, new: places.newPath, took: took)
    }

    /// The same for verbs that take only the old store.
    func show(
        _ outcome: ShareOutcome,
        _ missing: ShareOptions.MissingPolicy,
        old: String,
        new: String?,
        took: Duration
    ) -> Ending {
        let next = decided(outcome.outcome, outcome.next, old: old, new: outcome.new?.path ?? new)
        let ending = Ending(
            outcome.changed,
            findings: outcome.findings.count,
            members: ShareMembers.all(outcome, next: next.map(command))
        )
        .forgivingMissing(missing)
        // One line reports why a share stopped; its findings repeat that line.
        if ending.exitStatus == 0 || isJSON || isVerbose { report(outcome.findings) }
        if ending.exitStatus != 0 {
            let places = [old, outcome.new?.path ?? new].compactMap { $0 }
            report(Failure(refusing: outcome.outcome, outcome.message, places: places, next: next))
        } else {
            for result in [outcome] + outcome.others { show(result, took) }
        }
        return ending
    }

    /// Shows the result of one store.
    private func show(_ outcome: ShareOutcome, _ took: Duration) {
        let probe =
            isVerbose
            ? outcome.report?.probe
                .map {
                    (["merging was tried with \($0.summary)"] + $0.directions.map(\.summary))
                        .joined(separator: "\n  ")
                }
            : nil
        result(
            outcome.text(style, seconds: took, command: command) + (probe.map { "\n  " + $0 } ?? ""),
            record: outcome.report?.record(of: outcome.new?.path ?? "", against: outcome.old?.path)
        )
        if isJSON, let migration = outcome.work?.migration, let new = outcome.new {
            line(migration.record(of: new.path, outcome.transaction).text)
        }
        if isJSON, let merge = outcome.merge {
            line(merge.summary.record(into: merge.into, from: merge.from, merge.epoch, merge.parkedRows, nil).text)
            for conflict in merge.summary.conflicts { line(conflict.record.text) }
        }
    }

    /// Shows a plan, and returns the status that the run would end with.
    func show(_ plan: SharePlan, _ missing: ShareOptions.MissingPolicy, isStrict: Bool) throws -> Ending {
        let next = decided(plan.outcome, plan.next, old: plan.old.path, new: plan.new.path)
        let ending = Ending(
            plan.outcome,
            findings: plan.findings.count,
            members: ShareMembers.all(plan, next: next.map(command))
        )
        .forgivingMissing(missing)
        .heeding(plan.findings, isStrict: isStrict)
        if isJSON {
            for record in try plan.records(command) { line(record.text) }
        } else {
            result(plan.text(style, command: command), record: nil)
        }
        if plan.outcome.exitStatus != 0, ending.exitStatus != 0 {
            let places = [plan.old.path, plan.new.path]
            report(Failure(refusing: plan.outcome, plan.reason, places: places, next: next))
        }
        return ending
    }

    /// A plan as `plan --json` prints it, without the summary.
    func lines(of plan: SharePlan) throws -> [UInt8] {
        try plan.records(command).flatMap { Array(($0.text + "\n").utf8) }
    }

    /// The command to run next: an outcome that needs a decision always names one, at least `status` or `inspect`.
    private func decided(_ outcome: MigrationOutcome, _ next: NextStep?, old: String, new: String?) -> NextStep? {
        guard next == nil, outcome.asksForDecision else { return next }
        return new.map { .status(old: old, new: $0) } ?? .inspect(path: old)
    }
}

extension ShareOutcome {
    /// The outcome of a run over several old stores: `merged` if only one of the others brought changes.
    fileprivate var changed: MigrationOutcome {
        outcome == .alreadyShared && others.contains { $0.outcome != .alreadyShared } ? .merged : outcome
    }
}
