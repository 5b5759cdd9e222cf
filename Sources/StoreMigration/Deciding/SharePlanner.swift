import StoreAccess
import StoreFormat
import SystemPackage

/// Decides what a share does: a pure function from facts and options to a plan.
package struct SharePlanner: Sendable {
    private let facts: PlanningFacts
    private let options: ShareOptions

    package init(facts: PlanningFacts, options: ShareOptions) {
        self.facts = facts
        self.options = options
    }

    /// The plan; the first rule that applies decides.
    package func plan() -> SharePlan {
        let plan = planWithoutMigration()
        return facts.migration.map(plan.migrating) ?? plan
    }

    private func planWithoutMigration() -> SharePlan {
        if let refusal = unreadable() ?? orphanSidecar() ?? outOfUse() ?? recordedElsewhere() ?? newerModel() {
            return refusal
        }
        guard let old = facts.oldCondition.inspection else { return withoutOldStore() }
        if let new = facts.newCondition.inspection, !facts.fit(old, new), !isMigratedSince {
            return incompatible(old, new)
        }
        if let earlier = facts.earlierRun { return again(earlier, old) }
        guard let new = facts.newCondition.inspection, !new.isBlank else { return ontoNoContent(old) }
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
            reason: "the main file of \(names.sorted().joined(separator: " and ")) is missing; the log may have rows",
            next: nil
        )
    }

    /// Refuses a new store that is fenced, or is the old store of the pair.
    private func outOfUse() -> SharePlan? {
        if facts.isOldRecordedNew || facts.succession?.store == facts.old {
            return plan(
                .needsDecision,
                reason: "the store at the new path was shared to the old one; move it back with the unshare command",
                next: .unshare(old: facts.new.path, new: facts.old.path)
            )
        }
        return facts.succession.map { movedOn(to: $0.store) }
    }

    private func movedOn(to store: StoreLocation) -> SharePlan {
        plan(
            .needsDecision,
            reason: "the store at the new path was shared to \(store.path) and is fenced",
            next: .share(old: facts.old.path, new: store.path)
        )
    }

    /// Refuses a second record of a pair: each would carry the same late writes.
    private func recordedElsewhere() -> SharePlan? {
        facts.recordedElsewhere.map { folder in
            plan(
                .needsDecision,
                reason: MigrationError.recordedElsewhere(folder),
                next: .inStateFolder(folder, .share(old: facts.old.path, new: facts.new.path))
            )
        }
    }

    private func newerModel() -> SharePlan? {
        guard let store = facts.newerThanModel else { return nil }
        return plan(
            .incompatible,
            reason: "the store was written with a newer model than the named one: \(store.path)",
            next: .inspect(path: store.path)
        )
    }

    private func incompatible(_ old: StoreInspection, _ new: StoreInspection) -> SharePlan {
        if let earlier = facts.earlierRun, earlier.newPlace == .ours, old.kind == new.kind {
            return plan(
                .incompatible,
                reason: "the old store was written to after it was shared, and the new one has another model version;"
                    + " merge carries what both versions have",
                next: .merge(into: facts.new.path, from: facts.old.path)
            )
        }
        if facts.canMigrateOld {
            let next = facts.shareThatMigrates(intoEmpty: new.isEmpty)
            return plan(.incompatible, reason: "the two stores have different versions of a model", next: next)
        }
        let reason =
            old.kind == new.kind
            ? "the two stores were written with different models"
            : "one store is Core Data's and the other is not"
        return plan(.incompatible, reason: reason, next: .inspect(path: facts.new.path))
    }

    /// True when the old store is shared and unchanged since, so that nothing depends on the new store's model version.
    private var isMigratedSince: Bool {
        facts.earlierRun.map { $0.newPlace == .ours && $0.isOldUnchanged } ?? false
    }

    // MARK: No old store

    private func withoutOldStore() -> SharePlan {
        var findings: [Finding] = []
        if case .emptyFile = facts.oldCondition {
            findings.append(.zeroByteFile(at: facts.old))
        }
        if case .store(let new) = facts.newCondition, !new.isBlank {
            return plan(.alreadyShared, findings: findings, reason: "only the new path has a store")
        }
        guard let place = facts.retiredTo, place != facts.new.path else {
            return plan(.nothingFound, findings: findings, reason: "neither path has a store")
        }
        return plan(
            .nothingFound,
            findings: findings,
            reason: "the old store was shared to \(place) and retired",
            next: .status(old: facts.old.path, new: place)
        )
    }

    // MARK: Shared before

    private func again(_ earlier: PlanningFacts.EarlierRun, _ old: StoreInspection) -> SharePlan {
        switch (earlier.newPlace, earlier.isOldUnchanged) {
        case (.ours, _) where earlier.leavesRows && options.onBoth.bringsRowsLeft:
            return decided(old)
        case (.ours, true):
            return plan(
                .alreadyShared,
                workOfSharedStore(earlier, old),
                findings: earlier.leavesRows ? [.rowsOnlyInOldStore(at: facts.old)] : [],
                reason: "the store is shared, and the old store is unchanged since",
                next: earlier.leavesRows
                    ? .status(old: facts.old.path, new: facts.new.path) : .retire(old: facts.old.path)
            )
        case (.ours, false) where options.onBoth == .keepNew:
            return plan(
                .alreadyShared,
                protect(old, leavesRows: true),
                findings: [.writtenLate(at: facts.old), .rowsOnlyInOldStore(at: facts.old)],
                reason: "the old store was written to after it was shared, and the new one is kept unchanged",
                next: .status(old: facts.old.path, new: facts.new.path)
            )
        case (.ours, false) where earlier.hasBase:
            return plan(
                .merged,
                .merge,
                findings: [.writtenLate(at: facts.old)],
                reason: "the old store was written to after it was shared",
                next: .retire(old: facts.old.path)
            )
        case (.ours, false):
            return plan(
                .lateWrites,
                findings: [.writtenLate(at: facts.old)],
                reason: "the old store was written to after it was shared, and no base was kept",
                next: .status(old: facts.old.path, new: facts.new.path)
            )
        case (.absent, _) where facts.newCondition.inspection?.isBlank == false:
            return anotherStoreAtNew
        case (.absent, _):
            return plan(
                .shared,
                publish(old),
                findings: [.sharedStoreGone(from: facts.new)] + sidecarFindings,
                reason: "the store was shared before, and the shared store is missing",
                next: .retire(old: facts.old.path)
            )
        case (.succeeded(let store), _):
            return movedOn(to: store)
        case (.elsewhere(let path), _):
            return plan(
                .needsDecision,
                reason: "the old store was shared to \(path), and not to the named path",
                next: .status(old: facts.old.path, new: path)
            )
        case (.notOurs, _):
            return anotherStoreAtNew
        }
    }

    private var anotherStoreAtNew: SharePlan {
        plan(
            .needsDecision,
            reason: "the old store was shared, and the new path has another or an older store",
            next: .status(old: facts.old.path, new: facts.new.path)
        )
    }

    /// A run without a copy writes a lost journal again, so that the old store can be retired.
    private func workOfSharedStore(_ earlier: PlanningFacts.EarlierRun, _ old: StoreInspection) -> ShareWork? {
        guard earlier.hasJournal, !earlier.followsChain else {
            let isFenced = old.fence != nil || options.treatment == .fence || !earlier.hasJournal
            return protect(old, isFenced: isFenced, leavesRows: earlier.leavesRows)
        }
        return old.fence != nil || options.treatment == .capture ? nil : protect(old, leavesRows: earlier.leavesRows)
    }

    // MARK: Shared for the first time

    private func ontoNoContent(_ old: StoreInspection) -> SharePlan {
        switch facts.newCondition {
        case .orphanSidecar where facts.isMainFileAtNew:
            return plan(
                .shared,
                replaceContent(old),
                findings: [.emptyStoreAside(at: facts.new)] + sidecarFindings,
                reason: "the new path has an empty database beside another database's log",
                next: .retire(old: facts.old.path)
            )
        case .absent, .orphanSidecar, .unreadable:
            return plan(
                .shared,
                publish(old),
                findings: sidecarFindings,
                reason: "the old path has a store and the new one has none",
                next: .retire(old: facts.old.path)
            )
        case .emptyFile, .store:
            return plan(
                .shared,
                replaceContent(old),
                findings: [.emptyStoreAside(at: facts.new)],
                reason: "the new path has an empty database",
                next: .retire(old: facts.old.path)
            )
        }
    }

    private func ontoStore(_ old: StoreInspection, _ new: StoreInspection) -> SharePlan {
        if old.isEmpty {
            return plan(
                .alreadyShared,
                protect(old),
                reason: "the old store has no objects",
                next: .retire(old: facts.old.path)
            )
        }
        if new.isEmpty {
            return plan(
                .shared,
                replaceContent(old),
                findings: [.emptyStoreAside(at: facts.new)],
                reason: "the new path has a store without objects",
                next: .retire(old: facts.old.path)
            )
        }
        if facts.areContentsEqual == true {
            return plan(
                .alreadyShared,
                protect(old),
                reason: "both stores have the same content",
                next: .retire(old: facts.old.path)
            )
        }
        return decided(old)
    }

    /// The caller's decision about two stores with objects; it may follow an earlier decision.
    private func decided(_ old: StoreInspection) -> SharePlan {
        switch options.onBoth {
        case .fail:
            return plan(
                .bothHoldObjects,
                reason: "both stores have objects, and their contents differ",
                next: .status(old: facts.old.path, new: facts.new.path)
            )
        case .keepOld:
            return plan(
                .shared,
                replaceContent(old),
                findings: [.storeAside(at: facts.new)],
                reason: "both stores have objects, and the old ones are kept",
                next: .retire(old: facts.old.path)
            )
        case .merge:
            return plan(
                .merged,
                .merge,
                reason: "both stores have objects and are merged",
                next: .retire(old: facts.old.path)
            )
        case .keepNew:
            return plan(
                .alreadyShared,
                protect(old, leavesRows: true),
                findings: [.rowsOnlyInOldStore(at: facts.old)],
                reason: "both stores have objects, and the new ones are kept",
                next: .status(old: facts.old.path, new: facts.new.path)
            )
        }
    }

    // MARK: Work

    // A void record may have left its fence, which must not be copied.
    private func publish(_ old: StoreInspection) -> ShareWork { .publish(liftsFence: old.fence != nil) }
    private func replaceContent(_ old: StoreInspection) -> ShareWork { .replaceContent(liftsFence: old.fence != nil) }

    /// A run without a copy.
    private func protect(
        _ old: StoreInspection,
        isFenced: Bool? = nil,
        leavesRows: Bool = false
    ) -> ShareWork {
        .protect(
            ShareWork.Protection(
                content: content(old),
                isFenced: isFenced ?? (options.treatment == .fence),
                // Late writes that stay in the old store remove nothing from what was shared.
                keepsNew: facts.areContentsEqual != true && facts.earlierRun?.keepsNew != false,
                leavesRows: leavesRows
            )
        )
    }

    /// The content of the old store that a run without a copy relies on.
    private func content(_ old: StoreInspection) -> ShareWork.Protection.Content {
        if facts.areContentsEqual == true { return .equalToNew }
        if let earlier = facts.earlierRun {
            return earlier.isOldUnchanged ? earlier.oldDigest.map { .unchanged($0) } ?? .any : .any
        }
        return old.isEmpty ? .empty : .any
    }

    private var sidecarFindings: [Finding] {
        if case .orphanSidecar(let names) = facts.newCondition { [.sidecarsAside(names, at: facts.new)] } else { [] }
    }

    private func steps(of work: ShareWork) -> [PlanStep] {
        let displacesSidecars = if case .orphanSidecar = facts.newCondition { true } else { false }
        return work.actions(options.treatment, displacesSidecars: displacesSidecars)
            .map { PlanStep($0, path: $0.isOnOldStore ? facts.old.path : facts.new.path) }
    }

    private func plan(
        _ outcome: MigrationOutcome,
        _ work: ShareWork? = nil,
        findings: [Finding] = [],
        reason: String,
        next: NextStep? = nil
    ) -> SharePlan {
        let copies = work?.copies == true
        let exposure = copies ? facts.exposedFolder.map { [Finding.exposed($0)] } ?? [] : []
        let treatment = outcome.isRefusal ? nil : treatment(after: work)
        let stays = treatment == .fence && options.treatment == .capture ? [Finding.fenceStays(at: facts.old)] : []
        return SharePlan(
            outcome: outcome,
            old: facts.old,
            new: facts.new,
            work: work,
            steps: work.map(steps) ?? [],
            findings: findings + exposure + stays + (copies ? extensionFindings : []),
            reason: reason,
            next: next,
            oldStore: treatment
        )
    }

    /// A name without an extension is probably that of a folder.
    private var extensionFindings: [Finding] {
        let (old, new) = (FilePath(facts.old.path).extension, FilePath(facts.new.path).extension)
        guard let old, old != new else { return [] }
        return [
            Finding(
                .otherExtension,
                new == nil ? .warning : .info,
                level: .files,
                "the new store's name lacks the old one's extension .\(old); end the path with a slash to name a folder",
                path: facts.new.path
            )
        ]
    }

    /// The treatment of the old store after the work; nil without an old store.
    private func treatment(after work: ShareWork?) -> ShareOptions.OldStorePolicy? {
        guard let old = facts.oldCondition.inspection else { return nil }
        if work?.fences(options.treatment) == true { return .fence }
        return old.fence == nil || work?.liftsFence == true ? .capture : .fence
    }
}
