public import ChangeMerging
public import StoreAccess
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

/// What a share writes; a run carries it out, and the plan's steps are derived from it.
package enum ShareWork: Hashable, Sendable {
    /// Publishes a copy of the old store at a free path.
    case publish(liftsFence: Bool)
    /// Replaces the content of the store at the new path with a copy of the old one.
    case replaceContent(liftsFence: Bool)
    /// Merges the old store into the new one.
    case merge
    /// Copies nothing: treats the old store, and records the run.
    case protect(Protection)

    /// A run without a copy.
    package struct Protection: Hashable, Sendable {
        /// The content of the old store that the decision relies on.
        package enum Content: Hashable, Sendable {
            /// The caller decided that the new store is kept, even if the old one has rows.
            case any
            case empty
            case equalToNew
            /// The content with the digest that an earlier run recorded.
            case unchanged(String)
        }

        let content: Content
        /// True when the old store refuses writes afterwards.
        let isFenced: Bool
        /// True when the new store never received the old one's content.
        let keepsNew: Bool
        /// True when the old store has rows that the new one lacks.
        let leavesRows: Bool

        /// True when the stores have a common state, so that a captured old store keeps it as the base of late writes.
        var hasCommonState: Bool { content == .equalToNew || content == .empty }
    }

    /// True when the old store is copied.
    var copies: Bool {
        switch self {
        case .publish, .replaceContent: true
        case .merge, .protect: false
        }
    }

    /// True when an existing store at the new path is written to.
    var changesNewStore: Bool {
        switch self {
        case .replaceContent, .merge: true
        case .publish, .protect: false
        }
    }

    /// True when a fence of the old store is removed before it is copied.
    var liftsFence: Bool {
        switch self {
        case .publish(let liftsFence), .replaceContent(let liftsFence): liftsFence
        case .merge, .protect: false
        }
    }

    /// True when the old store refuses writes afterwards, under the caller's treatment of it.
    func fences(_ treatment: ShareOptions.OldStorePolicy) -> Bool {
        switch self {
        case .publish, .replaceContent, .merge: treatment == .fence
        case .protect(let protection): protection.isFenced
        }
    }

    /// The actions in order.
    ///
    /// `displacesSidecars` is true when the new path has sidecars without a main file.
    func actions(_ treatment: ShareOptions.OldStorePolicy, displacesSidecars: Bool) -> [PlanStep.Action] {
        let copying: [PlanStep.Action] = (liftsFence ? [.liftFence] : []) + [.stage, .prove]
        let closing: [PlanStep.Action] = [fences(treatment) ? .fence : .keepBase, .writeReceipt]
        return switch self {
        case .publish: copying + (displacesSidecars ? [.moveSidecarsAside] : []) + [.publish] + closing
        case .replaceContent: copying + [.copyAside, .replaceContent] + closing
        case .merge: (fences(treatment) ? [.fence] : []) + [.merge, .keepBase, .writeReceipt]
        case .protect(let protection):
            (fences(treatment) ? [.fence] : protection.hasCommonState ? [.keepBase] : []) + [.writeReceipt]
        }
    }
}

extension PlanStep.Action {
    /// True for an action on the old store; the others act on the new one.
    var isOnOldStore: Bool { [.fence, .liftFence, .keepBase].contains(self) }
}

/// One step of a plan, for people and for `--json`.
public struct PlanStep: Hashable, Sendable, Codable, Identifiable {
    /// The actions of a share; nothing else writes to disk.
    public enum Action: String, Sendable, Codable, CaseIterable {
        /// Copies the old store into the staging folder.
        case stage
        /// Migrates the copy to another model version.
        case migrate
        /// Applies the strategies to the copy: journal mode, history tables, modes and groups.
        case describe
        /// Proves the copy before publication.
        case prove
        /// Displaces sidecars without a main file.
        case moveSidecarsAside
        /// Copies the store at the destination to the displaced files.
        case copyAside
        /// Moves external files and then the main file into place, each in one step.
        case publish
        /// Replaces the content of the store at the destination in one transaction.
        case replaceContent
        /// Merges the old store's content into the new one in one transaction.
        case merge
        /// Keeps a copy of the shared content as the base of a later merge.
        case keepBase
        /// Fences the old store.
        case fence
        /// Removes a fence whose new store is missing.
        case liftFence
        /// Writes the receipt beside the new store.
        case writeReceipt
        /// Renames the withdrawn store, once no program has it open.
        case withdraw
    }

    public let action: Action
    /// The file or folder it acts on.
    public let path: String
    public var id: String { action.rawValue }

    package init(_ action: Action, path: String) {
        self.action = action
        self.path = path
    }
}
