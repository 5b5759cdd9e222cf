import StoreFormat
import StoreMigration

extension Reporter {
    /// Shows how a share ended: the result, or the one line that says what has to be decided.
    func show(_ outcome: ShareOutcome, _ missing: MissingPolicy, _ places: PlacesArguments, took: Duration) -> Ending {
        show(outcome, missing, old: places.old.path, new: places.newPath, took: took)
    }

    /// The same for verbs that work on the old place alone.
    func show(
        _ outcome: ShareOutcome,
        _ missing: MissingPolicy,
        old: String,
        new: String?,
        took: Duration
    ) -> Ending {
        let path = outcome.outcome == .nothingFound ? old : outcome.new?.path ?? outcome.old?.path ?? old
        let next = decided(outcome.outcome, outcome.next, old: old, new: outcome.new?.path ?? new)
        let ending = Ending(
            outcome.outcome,
            findings: outcome.findings.count,
            members: ShareMembers.all(outcome, next: next.map(command))
        )
        .forgivingMissing(missing)
        report(outcome.findings)
        if ending.exitStatus != 0 {
            let error = MigrationError(outcome.outcome, outcome.message, path: path, next: next)
            report(Failure(error))
        } else {
            result(outcome.text(style, seconds: took, command: command), record: nil)
        }
        return ending
    }

    /// Shows a plan, and ends as the run would.
    func show(_ plan: SharePlan, _ missing: MissingPolicy) -> Ending {
        let next = decided(plan.outcome, plan.next, old: plan.old.path, new: plan.new.path)
        let ending = Ending(
            plan.outcome,
            findings: plan.findings.count,
            members: ShareMembers.all(plan, next: next.map(command))
        )
        .forgivingMissing(missing)
        result(plan.text(style, command: command), record: plan.record(command))
        if isJSON { report(plan.findings) }
        if ending.exitStatus != 0 {
            let path = plan.outcome == .nothingFound ? plan.old.path : plan.new.path
            report(Failure(MigrationError(plan.outcome, plan.reason, path: path, next: next)))
        }
        return ending
    }

    /// What needs a decision always names a command, be it only the one that looks.
    private func decided(_ outcome: MigrationOutcome, _ next: NextStep?, old: String, new: String?) -> NextStep? {
        guard next == nil, outcome.exitStatus == MigrationOutcome.needsDecision.exitStatus else { return next }
        return new.map { .status(old: old, new: $0) } ?? .inspect(path: old)
    }
}
