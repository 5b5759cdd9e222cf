public import ModelMigration
import StoreFormat

extension SharePlan {
    /// The migration of the copy.
    public struct Migration: Hashable, Sendable {
        public let target: MigrationTarget
        public let mapping: InferredMapping
    }

    /// This plan with the migration that the caller asked for: of the copy, if there is one.
    ///
    /// A shared store is migrated in place by a command of its own, because programs have it open.
    func migrating(_ facts: MigrationFacts) -> SharePlan {
        let target = facts.target
        if work?.copies == true {
            if !facts.refusals.isEmpty {
                return refused(
                    .incompatible,
                    reason: facts.refusals.sentence,
                    findings: facts.refusals.findings(at: old.path),
                    next: .inspect(path: old.path)
                )
            }
            guard let mapping = facts.mapping else { return self }
            return migrating(Migration(target: target, mapping: mapping))
        }
        guard facts.newStanding == .older, !outcome.isRefusal else { return self }
        return refused(
            .needsDecision,
            reason: "the store at the new path has an older model version; migrate it, then share again",
            next: .migrate(store: new.path, model: target.path, version: target.versionName)
        )
    }

    private func migrating(_ migration: Migration) -> SharePlan {
        var steps = steps
        let index = steps.firstIndex { $0.action == .prove } ?? steps.endIndex
        steps.insert(PlanStep(.migrate, path: new.path), at: index)
        return SharePlan(
            outcome: outcome,
            old: old,
            new: new,
            work: work,
            steps: steps,
            findings: findings,
            reason: reason,
            next: following,
            oldStore: oldStore,
            roles: roles,
            migration: migration
        )
    }

    private func refused(
        _ outcome: MigrationOutcome,
        reason: String,
        findings: [Finding] = [],
        next: NextStep
    ) -> SharePlan {
        SharePlan(outcome: outcome, old: old, new: new, findings: findings, reason: reason, next: next)
    }
}

extension PlanningFacts {
    /// The share that migrates the old store's rows to the new store's model version.
    func shareThatMigrates(intoEmpty isEmpty: Bool) -> NextStep {
        .share(old: old.path, new: new.path, onBoth: isEmpty ? nil : .merge, migratingTo: new.path)
    }
}
