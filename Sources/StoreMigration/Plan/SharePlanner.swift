public import StoreFormat

extension Finding.Code {
    /// Rows of the old store are in no other store, since a person decided to keep the new one as it is.
    public static let rowsOnlyInOldStore = Finding.Code(rawValue: "rowsOnlyInOldStore")
    /// An empty store stood at the destination and was copied aside.
    public static let emptyStoreKeptAside = Finding.Code(rawValue: "emptyStoreKeptAside")
    /// The store at the destination was copied aside whole before its content was replaced.
    public static let storeKeptAside = Finding.Code(rawValue: "storeKeptAside")
    /// A file of zero bytes stands where a store is expected.
    public static let emptyFile = Finding.Code(rawValue: "emptyFile")
    /// Sidecars without a main file stood at the destination and were moved aside.
    public static let sidecarsMovedAside = Finding.Code(rawValue: "sidecarsMovedAside")
    /// The store was shared before, and the shared store is gone.
    public static let sharedStoreMissing = Finding.Code(rawValue: "sharedStoreMissing")
    /// Writes were made to the old store after it was copied.
    public static let lateWrites = Finding.Code(rawValue: "lateWrites")
}

/// Decides what a share does: a pure function from facts and options to a plan.
package struct SharePlanner: Sendable {
    private let facts: PlanningFacts
    private let options: ShareOptions

    package init(facts: PlanningFacts, options: ShareOptions) {
        self.facts = facts
        self.options = options
    }

    /// The plan; its rules stand in the order in which they are asked.
    package func plan() -> SharePlan {
        if let refusal = unreadable() ?? orphanSidecar() ?? outOfUse() ?? newerModel() { return refusal }
        guard let old = facts.oldCondition.inspection else { return withoutOldStore() }
        if let new = facts.newCondition.inspection, !old.fits(new) { return incompatible(old, new) }
        if let earlier = facts.earlierRun { return again(earlier, old) }
        guard let new = facts.newCondition.inspection, !new.isBlank else { return intoEmptyPlace(old) }
        return ontoStore(old, new)
    }

    // MARK: Refusals

    private func unreadable() -> SharePlan? {
        for condition in [facts.oldCondition, facts.newCondition] {
            if case .unreadable(let store) = condition {
                return plan(MigrationError(store).outcome, reason: store.description, next: nil)
            }
        }
        return nil
    }

    private func orphanSidecar() -> SharePlan? {
        guard case .orphanSidecar(let names) = facts.oldCondition else { return nil }
        return plan(
            .orphanSidecar,
            reason: "there is no main file beside \(names.sorted().joined(separator: " and ")), which may hold rows",
            next: .inspect(path: facts.old.folder)
        )
    }

    /// The store at the new place takes no writes, or its record of the pair says that it is the old one.
    private func outOfUse() -> SharePlan? {
        if facts.isOldRecordedNew || facts.succession?.store == facts.old {
            return plan(
                .needsDecision,
                reason: "the store at the new place was shared to the old one; it comes back with the unshare command",
                next: .unshare(old: facts.new.path, new: facts.old.path)
            )
        }
        return facts.succession.map { movedOn(to: $0.store) }
    }

    private func movedOn(to store: StoreLocation) -> SharePlan {
        plan(
            .needsDecision,
            reason: "the store at the new place was moved to \(store.path), and takes no writes",
            next: .share(old: facts.old.path, new: store.path, flags: options.policyFlags)
        )
    }

    private func newerModel() -> SharePlan? {
        guard let store = facts.newerThanModel else { return nil }
        return plan(
            .incompatible,
            reason: "the store was written with a newer model than the one that is named: \(store.path)",
            next: .inspect(path: store.path)
        )
    }

    private func incompatible(_ old: StoreInspection, _ new: StoreInspection) -> SharePlan {
        let reason =
            old.kind == new.kind
            ? "the two stores were written with different models"
            : "one store is Core Data's and the other is not"
        return plan(.incompatible, reason: reason, next: .inspect(path: facts.new.path))
    }

    // MARK: Nothing at the old place

    private func withoutOldStore() -> SharePlan {
        var findings: [Finding] = []
        if case .emptyFile = facts.oldCondition {
            findings.append(.zeroByteFile(at: facts.old))
        }
        if case .store(let new) = facts.newCondition, !new.isBlank {
            return plan(.alreadyShared, findings: findings, reason: "only the new place holds a store")
        }
        return plan(.nothingFound, findings: findings, reason: "neither place holds a store")
    }

    // MARK: Shared before

    private func again(_ earlier: PlanningFacts.EarlierRun, _ old: StoreInspection) -> SharePlan {
        switch (earlier.newPlace, earlier.isOldUnchanged) {
        case (.ours, true):
            return plan(
                .alreadyShared,
                steps: stepsOfSharedStore(earlier, old),
                findings: earlier.leavesRows ? [.rowsOnlyInOldStore(at: facts.old)] : [],
                reason: "the store is shared, and nothing was written to the old place since",
                next: earlier.leavesRows
                    ? .status(old: facts.old.path, new: facts.new.path) : .retire(old: facts.old.path)
            )
        case (.ours, false) where options.onBoth == .keepNew:
            return plan(
                .alreadyShared,
                steps: (options.oldStore == .fence ? [step(.fence, facts.old)] : []) + [step(.writeReceipt, facts.new)],
                findings: [.writtenLate(at: facts.old), .rowsOnlyInOldStore(at: facts.old)],
                reason: "the old store was written to after it was shared, and the new one is to stay as it is",
                next: .status(old: facts.old.path, new: facts.new.path)
            )
        case (.ours, false) where earlier.hasBase:
            return plan(
                .merged,
                steps: mergingSteps,
                findings: [.writtenLate(at: facts.old)],
                reason: "the old store was written to after it was shared",
                next: .retire(old: facts.old.path)
            )
        case (.ours, false):
            return plan(
                .lateWrites,
                findings: [.writtenLate(at: facts.old)],
                reason: "the old store was written to after it was shared, and nobody kept what both places held then",
                next: .merge(into: facts.new.path, from: facts.old.path)
            )
        case (.absent, _) where facts.newCondition.inspection?.isBlank == false:
            return anotherStoreAtNew
        case (.absent, _):
            let lift = old.fence == nil ? [] : [step(.liftFence, facts.old)]
            return plan(
                .shared,
                steps: lift + publishingSteps,
                findings: [.sharedStoreGone(from: facts.new)] + sidecarFindings,
                reason: "the store was shared before, and the shared store is gone",
                next: .retire(old: facts.old.path)
            )
        case (.succeeded(let store), _):
            return movedOn(to: store)
        case (.elsewhere(let path), _):
            return plan(
                .needsDecision,
                reason: "the old store was shared to another place, \(path)",
                next: .status(old: facts.old.path, new: path)
            )
        case (.notOurs, _):
            return anotherStoreAtNew
        }
    }

    private var anotherStoreAtNew: SharePlan {
        plan(
            .needsDecision,
            reason: "the old store was shared, and the new place holds another or an older store",
            next: .status(old: facts.old.path, new: facts.new.path)
        )
    }

    /// A lost journal is written anew with a run that copies nothing, so that the old place can be retired.
    private func stepsOfSharedStore(_ earlier: PlanningFacts.EarlierRun, _ old: StoreInspection) -> [PlanStep] {
        guard earlier.hasJournal, !earlier.followsChain else {
            let protect = old.fence != nil || options.oldStore == .fence || !earlier.hasJournal
            return (protect ? [step(.fence, facts.old)] : []) + [step(.writeReceipt, facts.new)]
        }
        return old.fence != nil || options.oldStore == .capture ? [] : [step(.fence, facts.old)]
    }

    // MARK: Shared for the first time

    private func intoEmptyPlace(_ old: StoreInspection) -> SharePlan {
        let lift = old.fence == nil ? [] : [step(.liftFence, facts.old)]
        switch facts.newCondition {
        case .orphanSidecar where facts.isMainFileAtNew:
            return plan(
                .shared,
                steps: lift + replacingSteps,
                findings: [.emptyStoreAside(at: facts.new)] + sidecarFindings,
                reason: "the new place holds an empty database beside a log that is not its own",
                next: .retire(old: facts.old.path)
            )
        case .absent, .orphanSidecar, .unreadable:
            return plan(
                .shared,
                steps: lift + publishingSteps,
                findings: sidecarFindings,
                reason: "the old place holds a store and the new one none",
                next: .retire(old: facts.old.path)
            )
        case .emptyFile, .store:
            return plan(
                .shared,
                steps: lift + replacingSteps,
                findings: [.emptyStoreAside(at: facts.new)],
                reason: "the new place holds an empty database",
                next: .retire(old: facts.old.path)
            )
        }
    }

    private func ontoStore(_ old: StoreInspection, _ new: StoreInspection) -> SharePlan {
        let protect = options.oldStore == .fence ? [step(.fence, facts.old)] : []
        let receipt = [step(.writeReceipt, facts.new)]
        if old.isEmpty {
            return plan(
                .alreadyShared,
                steps: protect + receipt,
                reason: "the old store holds no object",
                next: .retire(old: facts.old.path)
            )
        }
        // A record that is void may have left its fence, which no copy is to take along.
        let lift = old.fence == nil ? [] : [step(.liftFence, facts.old)]
        if new.isEmpty {
            return plan(
                .shared,
                steps: lift + replacingSteps,
                findings: [.emptyStoreAside(at: facts.new)],
                reason: "the new place holds a store without objects",
                next: .retire(old: facts.old.path)
            )
        }
        if facts.areContentsEqual == true {
            return plan(
                .alreadyShared,
                steps: protect + receipt,
                reason: "both places hold the same content",
                next: .retire(old: facts.old.path)
            )
        }
        switch options.onBoth {
        case .fail:
            return plan(
                .bothHoldObjects,
                reason: "both places hold objects, and not the same ones",
                next: .status(old: facts.old.path, new: facts.new.path)
            )
        case .keepOld:
            return plan(
                .shared,
                steps: lift + replacingSteps,
                findings: [.storeAside(at: facts.new)],
                reason: "both places hold objects, and the old ones are to be kept",
                next: .retire(old: facts.old.path)
            )
        case .merge:
            return plan(
                .merged,
                steps: mergingSteps,
                reason: "both places hold objects, and are to be merged",
                next: .retire(old: facts.old.path)
            )
        case .keepNew:
            return plan(
                .alreadyShared,
                steps: protect + receipt,
                findings: [.rowsOnlyInOldStore(at: facts.old)],
                reason: "both places hold objects, and the new ones are to be kept",
                next: .status(old: facts.old.path, new: facts.new.path)
            )
        }
    }

    // MARK: Steps

    private var publishingSteps: [PlanStep] {
        var steps = [step(.stage, facts.new), step(.prove, facts.new)]
        if case .orphanSidecar = facts.newCondition { steps.append(step(.moveSidecarsAside, facts.new)) }
        return steps + [step(.publish, facts.new)] + closingSteps
    }

    private var replacingSteps: [PlanStep] {
        [
            step(.stage, facts.new), step(.prove, facts.new), step(.copyAside, facts.new),
            step(.replaceContent, facts.new),
        ]
            + closingSteps
    }

    private var mergingSteps: [PlanStep] {
        (options.oldStore == .fence ? [step(.fence, facts.old)] : [])
            + [step(.merge, facts.new), step(.keepBase, facts.old), step(.writeReceipt, facts.new)]
    }

    private var closingSteps: [PlanStep] {
        [
            options.oldStore == .fence ? step(.fence, facts.old) : step(.keepBase, facts.old),
            step(.writeReceipt, facts.new),
        ]
    }

    private var sidecarFindings: [Finding] {
        if case .orphanSidecar(let names) = facts.newCondition { [.sidecarsAside(names, at: facts.new)] } else { [] }
    }

    private func step(_ action: PlanStep.Action, _ location: StoreLocation) -> PlanStep {
        PlanStep(action, path: location.path)
    }

    private func plan(
        _ outcome: MigrationOutcome,
        steps: [PlanStep] = [],
        findings: [Finding] = [],
        reason: String,
        next: NextStep? = nil
    ) -> SharePlan {
        let copies = steps.contains { $0.action == .publish || $0.action == .replaceContent }
        let exposure = copies ? facts.exposedFolder.map { [Finding.exposed($0)] } ?? [] : []
        return SharePlan(
            outcome: outcome,
            old: facts.old,
            new: facts.new,
            steps: steps,
            findings: findings + exposure,
            reason: reason,
            next: next
        )
    }
}

extension Finding {
    static func rowsOnlyInOldStore(at location: StoreLocation) -> Finding {
        Finding(
            .rowsOnlyInOldStore,
            .warning,
            level: .content,
            "rows of the old store are in no other store, since the new one was kept as it is: after a retire they are only in"
                + " its archive; merge the old store into the new one to carry them",
            path: location.path
        )
    }

    fileprivate static func zeroByteFile(at location: StoreLocation) -> Finding {
        Finding(.emptyFile, .info, level: .files, "a file of zero bytes counts as no store", path: location.path)
    }

    fileprivate static func emptyStoreAside(at location: StoreLocation) -> Finding {
        Finding(
            .emptyStoreKeptAside,
            .info,
            level: .files,
            "the empty store at the new place is kept aside",
            path: location.path
        )
    }

    fileprivate static func storeAside(at location: StoreLocation) -> Finding {
        Finding(
            .storeKeptAside,
            .info,
            level: .files,
            "the store at the new place is kept aside whole",
            path: location.path
        )
    }

    fileprivate static func sidecarsAside(_ names: [String], at location: StoreLocation) -> Finding {
        Finding(
            .sidecarsMovedAside,
            .info,
            level: .files,
            "\(names.sorted().joined(separator: " and ")) had no main file and is moved aside",
            path: location.path
        )
    }

    fileprivate static func sharedStoreGone(from location: StoreLocation) -> Finding {
        Finding(
            .sharedStoreMissing,
            .error,
            level: .files,
            "the store that was shared is gone; the old store is shared again",
            path: location.path
        )
    }

    fileprivate static func writtenLate(at location: StoreLocation) -> Finding {
        Finding(
            .lateWrites,
            .warning,
            level: .content,
            "the old store was written to after it was shared",
            path: location.path
        )
    }
}
