public import ChangeMerging
public import StoreFormat
public import StoreStrategies

/// What a share would do, decided from two inspections and the caller's options.
public struct SharePlan: Hashable, Sendable {
    /// The outcome if the plan is carried out without a failure.
    public let outcome: MigrationOutcome
    /// The main file of the old store.
    public let old: StoreLocation
    /// The main file of the new store.
    public let new: StoreLocation
    /// What a share writes; nil when it writes nothing, and in the plans of other commands.
    package let work: ShareWork?
    /// The steps in order; empty when there is nothing to do.
    public let steps: [PlanStep]
    public let findings: [Finding]
    /// One sentence that says why.
    public let reason: String
    /// The step after this plan is carried out.
    package let following: NextStep?
    /// The command that carries the plan out; with nothing to carry out, the step that follows.
    public var next: NextStep? {
        guard !steps.isEmpty, !outcome.isRefusal else { return following }
        return outcome == .unshared
            ? .unshare(old: old.path, new: new.path) : .share(old: old.path, new: new.path)
    }
    /// The treatment of the old store that is in force once the plan is carried out; nil when the plan shares nothing.
    public let oldStore: ShareOptions.OldStorePolicy?
    /// How strategies describe the store for each role; empty when none was named.
    public let roles: [RoleDescription]
    /// The migration of the copy to another model version; nil without one.
    public let migration: Migration?
    /// What the merge of the old store would do; nil for a plan without a merge.
    public let merge: MergeSummary?

    package init(
        outcome: MigrationOutcome,
        old: StoreLocation,
        new: StoreLocation,
        work: ShareWork? = nil,
        steps: [PlanStep] = [],
        findings: [Finding] = [],
        reason: String,
        next: NextStep? = nil,
        oldStore: ShareOptions.OldStorePolicy? = nil,
        roles: [RoleDescription] = [],
        migration: Migration? = nil,
        merge: MergeSummary? = nil
    ) {
        self.outcome = outcome
        self.old = old
        self.new = new
        self.work = work
        self.steps = steps
        self.findings = findings
        self.reason = reason
        following = next
        self.oldStore = oldStore
        self.roles = roles
        self.migration = migration
        self.merge = merge
    }

    /// The plan when an earlier run was interrupted.
    ///
    /// `place` is the store whose journal records the run: the old one by default.
    init(
        interrupted run: RunState.InterruptedRun,
        over place: StoreLocation? = nil,
        old: StoreLocation,
        new: StoreLocation
    ) {
        let place = place ?? old
        self.init(
            outcome: .interrupted,
            old: old,
            new: new,
            findings: [.interrupted(run, at: place)],
            reason: "an earlier run was interrupted; a share finishes it or rolls it back first",
            next: .resume(old: place.path)
        )
    }

    /// The plan while the processes `holders` work on a run.
    init(atWork transaction: String, _ holders: [Int32], old: StoreLocation, new: StoreLocation) {
        self.init(
            outcome: .busy,
            old: old,
            new: new,
            findings: [.atWork(transaction, holders, at: old)],
            reason: "another run over this store is at work",
            next: .status(old: old.path, new: new.path)
        )
    }

    /// The same plan with more findings.
    func adding(_ more: [Finding]) -> SharePlan { describing(roles, steps: steps, findings: more) }

    /// The same plan with what its merge would do, and more findings.
    func merging(_ merge: MergeSummary?, adding more: [Finding]) -> SharePlan {
        describing(roles, steps: steps, findings: more, merge: merge)
    }

    /// The same plan with the roles, steps and findings of strategies.
    func describing(
        _ roles: [RoleDescription],
        steps: [PlanStep],
        findings more: [Finding],
        merge: MergeSummary? = nil
    ) -> SharePlan {
        SharePlan(
            outcome: outcome,
            old: old,
            new: new,
            work: work,
            steps: steps,
            findings: findings + more,
            reason: reason,
            next: following,
            oldStore: oldStore,
            roles: roles,
            migration: migration,
            merge: merge ?? self.merge
        )
    }
}
