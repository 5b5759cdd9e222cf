import FoundationEssentials
import Logging
import SafeFiles
public import StoreFormat
import StoreStrategies
import StoreVerification

/// The whole of a share: recover, look, decide, carry out, tell.
struct ShareEngine {
    private static let mostAttempts = 3

    let old: StoreLocation
    let new: StoreLocation
    let options: ShareOptions
    let pipeline: StrategyPipeline
    let monitor: WorkMonitor
    let logger: Logger

    private var stateFolder: StateFolder { StateFolder(of: old, stateFolder: options.stateFolder) }
    var gatherer: FactsGatherer {
        FactsGatherer(old: old, new: new, options: options, monitor: monitor)
    }

    /// What a share would do now; an interrupted run is told as a finding.
    func plan() throws -> SharePlan {
        try PlacesCheck(old: old, new: new).require()
        let state = try stateFolder.state()
        if case .interrupted(let run) = state {
            return SharePlan(
                outcome: .interrupted,
                old: old,
                new: new,
                findings: [.interrupted(run, at: old)],
                reason: "an earlier run was interrupted; a share finishes or takes back that run first",
                next: .resume(old: old.path)
            )
        }
        if let shared = try unchangedSince(state) {
            return SharePlan(
                outcome: .alreadyShared,
                old: old,
                new: new,
                reason: "the store is shared, and nothing was written to the old place since",
                next: .retire(old: shared.run.old.path)
            )
        }
        let facts = try gatherer.facts(state: state)
        let plan = SharePlanner(facts: facts, options: options).plan()
        guard !plan.steps.isEmpty else { return plan }
        _ = try describedStore(facts, plan, in: RunContext.openContainer(new))
        return plan
    }

    /// Shares the store unless that is done.
    func share() throws -> ShareOutcome { try describing(shareUndescribed()) }

    private func shareUndescribed() throws -> ShareOutcome {
        try PlacesCheck(old: old, new: new).require()
        let state = try stateFolder.state()
        if let shared = try unchangedSince(state) { return .already(shared) }
        if case .interrupted = state {
            logger.notice("an interrupted run is recovered first")
        } else {
            let facts = try gatherer.facts(state: state)
            let plan = SharePlanner(facts: facts, options: options).plan()
            // Another run may have begun between the looks; what they show then belongs to no one moment.
            if plan.steps.isEmpty, !needsRenewal(plan, state), try stateFolder.state() == state {
                return try outcome(of: plan, facts: facts, state: state)
            }
        }
        return try stateFolder.withJournal(deadline: Deadline(after: options.effectiveLockTimeout)) { journal in
            try shareExclusively(&journal)
        }
    }

    /// The last complete run, when two looks at file names prove that there is nothing to do.
    private func unchangedSince(_ state: RunState) throws -> RunState.SharedRun? {
        guard case .shared(let shared) = state, shared.run.new == new, shared.retiringTo == nil,
            options.oldStore == .capture || shared.completion.isFenced,
            let folder = try gatherer.folder(of: old),
            try OldStateRecorder.isUnchanged(shared.oldState, at: old, in: folder),
            try gatherer.status(of: new)?.identity == shared.completion.new,
            case .ours? = try? gatherer.newPlace(of: shared)
        else { return nil }
        return shared
    }

    /// True when only the token of a shared and unchanged store has to be renewed.
    private func needsRenewal(_ plan: SharePlan, _ state: RunState) -> Bool {
        if case .shared = state { plan.outcome == .alreadyShared } else { false }
    }

    // MARK: Under the journal's lock

    private func shareExclusively(_ journal: inout MigrationJournal) throws -> ShareOutcome {
        if case .interrupted(let run) = journal.state {
            try RunRecovery(run, new: new, options: options, monitor: monitor, logger: logger).recover(&journal)
        }
        for attempt in 1...Self.mostAttempts {
            if let shared = try unchangedSince(journal.state) { return .already(shared) }
            let facts = try gatherer.facts(state: journal.state)
            let plan = SharePlanner(facts: facts, options: options).plan()
            do {
                return try carryOut(plan, facts: facts, &journal)
            } catch is DestinationAppeared where attempt < Self.mostAttempts {
                logger.notice("the destination appeared while the copy was made; planning again")
            }
        }
        throw MigrationError(.busy, "the destination keeps changing", path: new.path)
    }

    private func carryOut(
        _ plan: SharePlan,
        facts: PlanningFacts,
        _ journal: inout MigrationJournal
    ) throws -> ShareOutcome {
        guard let inspection = facts.oldCondition.inspection, !plan.steps.isEmpty else {
            try renewToken(plan, facts, &journal)
            return try outcome(of: plan, facts: facts, state: journal.state)
        }
        var context = try RunContext(
            transaction: RunContext.drawTransaction(),
            old: old,
            new: new,
            options: options,
            monitor: monitor,
            logger: logger
        )
        try requireTrustedFileSystem(context)
        context.described = try describedStore(facts, plan, in: context.container)
        let actions = Set(plan.steps.map(\.action))
        if actions.contains(.liftFence) { try FenceLifting(context).lift(&journal) }
        let result: RunResult
        if actions.contains(.publish) {
            result = try publish(context, inspection, &journal)
        } else if actions.contains(.replaceContent) {
            result = try CopyRun(context, inspection: inspection).run(to: OccupiedPlace(context), &journal)
        } else {
            result = try ProtectRun(context, inspection: inspection)
                .run(
                    &journal,
                    requiresEqualContent: facts.areContentsEqual == true
                )
        }
        return try outcome(of: plan, inspection: inspection, result: result)
    }

    private func publish(
        _ context: RunContext,
        _ inspection: StoreInspection,
        _ journal: inout MigrationJournal
    ) throws -> RunResult {
        guard options.oldStore == .capture, try !context.canLockOldStore() else {
            return try CopyRun(context, inspection: inspection).run(to: VacantPlace(context), &journal)
        }
        var result: RunResult?
        return try gatherer.reader.withView(of: old) { view in
            if let result { return result }
            guard view.kind != .live else {
                throw MigrationError(.busy, "the old store is written to and cannot be locked", path: old.path)
            }
            let made = try CopyRun(context, inspection: inspection, view: view).run(to: VacantPlace(context), &journal)
            result = made
            return made
        }
    }

    /// After a checkpoint the files differ and the content does not; the next look is cheap again.
    private func renewToken(_ plan: SharePlan, _ facts: PlanningFacts, _ journal: inout MigrationJournal) throws {
        guard plan.outcome == .alreadyShared, case .shared(let shared) = journal.state,
            let reading = facts.earlierRun?.oldReading
        else { return }
        try journal.append(.renewed(reading.state(digest: shared.oldState.digest)))
    }

    // MARK: Strategies

    /// The store as the strategies describe it, once it is known that it can become so; nil when none was asked for.
    private func describedStore(
        _ facts: PlanningFacts,
        _ plan: SharePlan,
        in container: Directory
    ) throws -> DescribedStore? {
        guard !pipeline.isEmpty, let inspection = facts.oldCondition.inspection else { return nil }
        let described = try DescribedStore(pipeline, of: inspection, at: new, in: container)
        if plan.steps.contains(where: { $0.action == .replaceContent }),
            let status = try container.status(of: new.name)
        {
            try described.requireFit(of: facts.newCondition.inspection, with: status, at: new)
        }
        return described
    }

    // MARK: Requirements

    private func requireTrustedFileSystem(_ context: RunContext) throws {
        guard !options.allowsNetworkFileSystem, try context.container.isOnNetworkFileSystem() else { return }
        throw UnreadableStore(
            .networkFileSystem,
            path: new.folder,
            detail: "the container is on a network file system"
        )
    }

    // MARK: Outcomes

    private func outcome(of plan: SharePlan, facts: PlanningFacts, state: RunState) throws -> ShareOutcome {
        switch plan.outcome {
        case .shared, .alreadyShared, .nothingFound, .bothHoldObjects, .needsDecision, .lateWrites:
            var transaction: String?
            if case .shared(let shared) = state { transaction = shared.run.transaction }
            return ShareOutcome(
                outcome: plan.outcome,
                transaction: transaction,
                old: facts.oldCondition.side(old),
                new: facts.newCondition.side(new),
                findings: plan.findings,
                message: plan.reason,
                next: plan.next
            )
        default:
            if case .unreadable(let store) = facts.oldCondition { throw store }
            if case .unreadable(let store) = facts.newCondition { throw store }
            throw MigrationError(
                plan.outcome,
                plan.reason,
                path: plan.outcome == .orphanSidecar ? old.path : new.path,
                next: plan.next,
                findings: plan.findings
            )
        }
    }

    private func outcome(of plan: SharePlan, inspection: StoreInspection, result: RunResult) throws -> ShareOutcome {
        ShareOutcome(
            outcome: plan.outcome,
            transaction: result.transaction,
            old: ShareOutcome.Side(
                path: old.path,
                uuid: inspection.uuid,
                objects: result.objects ?? inspection.objectCount,
                digest: result.digest
            ),
            new: ShareOutcome.Side(
                path: new.path,
                uuid: inspection.uuid,
                objects: result.objects ?? inspection.objectCount,
                digest: result.digest
            ),
            work: result.work,
            report: result.report,
            findings: plan.findings + result.findings,
            message: plan.reason,
            next: plan.next,
            descriptions: result.descriptions
        )
    }
}

extension StoreCondition {
    fileprivate func side(_ location: StoreLocation) -> ShareOutcome.Side? {
        inspection.map {
            ShareOutcome.Side(
                path: location.path,
                uuid: $0.uuid,
                objects: $0.objectCount,
                digest: $0.digest?.value
            )
        }
    }
}

extension ShareOutcome {
    /// The outcome when nothing happened since the store was shared.
    fileprivate static func already(_ shared: RunState.SharedRun) -> ShareOutcome {
        ShareOutcome(
            outcome: .alreadyShared,
            transaction: shared.run.transaction,
            old: Side(
                path: shared.run.old.path,
                uuid: shared.completion.newUUID,
                objects: shared.completion.objects,
                digest: shared.oldState.digest
            ),
            new: Side(path: shared.run.new.path, uuid: shared.completion.newUUID, objects: nil, digest: nil),
            message: "the store is shared, and nothing was written to the old place since",
            next: .retire(old: shared.run.old.path)
        )
    }
}

extension Finding.Code {
    /// A run ended between its beginning and its end.
    public static let interruptedRun = Finding.Code(rawValue: "interruptedRun")
}

extension Finding {
    static func interrupted(_ run: RunState.InterruptedRun, at location: StoreLocation) -> Finding {
        Finding(
            .interruptedRun,
            .warning,
            level: .files,
            "run \(run.run.transaction) over this store was interrupted",
            path: location.path
        )
    }
}
