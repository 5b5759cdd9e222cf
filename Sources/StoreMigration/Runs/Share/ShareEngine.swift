import ChangeMerging
import FoundationEssentials
import Logging
import MergeProbing
import ModelMigration
import SafeFiles
import StoreAccess
import StoreFormat
import StoreStrategies
import StoreVerification

/// A whole share: recover, inspect, ask strategies, decide, carry out, report.
///
/// Strategies run before the journal is locked, because they may be slow. Under the lock everything is read again. If a
/// strategy's input has changed, the lock is released and the strategies run again.
struct ShareEngine {
    static let mostAttempts = 3

    let old: StoreLocation
    let new: StoreLocation
    let options: ShareOptions
    /// The model version that the copy is migrated to; nil for a share without a migration.
    var target: MigrationTarget?
    let pipeline: StrategyPipeline
    let surroundings: Surroundings
    let probeWriter: any ProbeWriter

    var logger: Logger { surroundings.logger }
    private var stateFolder: StateFolder { surroundings.stateFolder(of: old) }
    var gatherer: FactsGatherer { FactsGatherer(old: old, new: new, surroundings: surroundings) }

    /// What a share would do now, and its outcome; an unfinished run is a finding.
    func plan() throws -> SharePlan {
        try PlacesCheck(old: old, new: new).require()
        try descriptionsFile()?.requireWritable()
        let (recorded, holders) = try stateFolder.observed()
        if !holders.isEmpty, let run = recorded.run {
            return SharePlan(atWork: run.transaction, holders, old: old, new: new)
        }
        let state = try gatherer.standing(recorded)
        if case .interrupted(let run) = state { return SharePlan(interrupted: run, old: old, new: new) }
        let journalOfNew = surroundings.besideStores.stateFolder(of: new)
        if case .interrupted(let run)? = try journalOfNew.ifUsable({ try $0.state(isShownOnly: true) }),
            !isToOldPlace(run.run)
        {
            return SharePlan(interrupted: run, over: new, old: old, new: new)
        }
        try requireNotUnsharing(state)
        return try keepingChoices(of: state).plan(state)
    }

    private func plan(_ state: RunState) throws -> SharePlan {
        let prospect = try prospect(state)
        if let voided = decided(prospect, state) { return try plan(voided) }
        return try completed(prospect, state)
    }

    /// The whole plan: checked, with what its merge would do and remarks.
    private func completed(_ prospect: Prospect, _ state: RunState) throws -> SharePlan {
        if prospect.plan.work != nil { try require(prospect) }
        var merge: MergeSummary?
        if prospect.plan.outcome == .merged {
            let preview = PairMergePreview(
                base: state.base.map { .kept($0) },
                from: old,
                into: new,
                keepsKeys: false,
                folder: stateFolder,
                settings: options.mergeSettings,
                migrates: target != nil,
                surroundings: surroundings
            )
            do {
                merge = try preview.summary()
            } catch let error as MigrationError {
                throw error.sharing(old: old, new: new)
            }
        }
        let lost = try prospect.plan.migration.map { try gatherer.lostValues(to: $0.target).findings(at: new.path) }
        let findings = legacyPreview(forStore: prospect.uuid) + openFindings(prospect.plan) + (lost ?? [])
        return prospect.plan.merging(merge, adding: findings)
    }

    /// Shares the store unless that is done.
    func share() throws -> ShareOutcome {
        // Reading a store removes abandoned folders, but a share with nothing to do reads none.
        TemporaryDirectory.removeAbandoned()
        try PlacesCheck(old: old, new: new).require()
        let file = try descriptionsFile()
        try file?.requireWritable()
        let consent = PlanConsent(self)
        var recovered: [Finding] = []
        for _ in 1...Self.mostAttempts {
            let state = try stateFolder.state()
            if case .interrupted = state {
                logger.notice("an interrupted run is recovered first")
                recovered += try recover()
                continue
            }
            if case .unsharing(let shared, _) = state, try rollBackUnshare(from: shared.run.new) { continue }
            finishRetirement(state)
            try requireNotUnsharing(state)
            if try gatherer.voidIfOtherStore(state, in: stateFolder) { continue }
            try RunRecovery.recover(
                runOver: new,
                settings: options.runSettings,
                surroundings: surroundings,
                unless: isToOldPlace
            )
            let engine = try keepingChoices(of: state)
            let states = try consent?.states()
            let prospect = try engine.prospect(state)
            let ask = { (plan: SharePlan) in if let states { try consent?.require(plan, states) } }
            if try engine.voidIfDecided(prospect, state, ask) { continue }
            if let outcome = try engine.settled(prospect, state) {
                return try writing(importingLegacyChanges(namingLosingRows(outcome, recovered), prospect), to: file)
            }
            if prospect.plan.work != nil { try engine.require(prospect) }
            // A resolver decides here, before the old store is fenced.
            let isDecided = options.resolver != nil && prospect.plan.outcome == .merged
            if prospect.plan.work != nil, consent != nil || isDecided { try ask(engine.completed(prospect, state)) }
            let outcome = try stateFolder.withJournal(deadline: surroundings.lockDeadline()) {
                try keepingChoices(of: $0.state).shareExclusively(prospect, file, consent, &$0)
            }
            if let outcome { return importingLegacyChanges(namingLosingRows(outcome, recovered), prospect) }
            logger.notice("the stores changed since they were inspected; inspecting again")
        }
        throw MigrationError(.busy, "both stores keep changing", path: old.path, advice: "Run the command again.")
    }

    /// Adds the findings of the recovery, and names the rows that lost in earlier merges: a merge that was killed after its
    /// last record did not.
    private func namingLosingRows(_ outcome: ShareOutcome, _ recovered: [Finding]) -> ShareOutcome {
        guard [.alreadyShared, .merged].contains(outcome.outcome) else { return outcome.adding(recovered) }
        let named = recovered.map(\.path) + [outcome.merge?.parkedRows]
        // The run has ended: a folder that cannot be read now does not make it a failure.
        let losing = ((try? stateFolder.losingRows()) ?? []).filter { !named.contains($0) }
        return outcome.adding(recovered + losing.map(Finding.losingRows(at:)))
    }

    /// The state without the pair's record, if another or an older store is at the new path and the caller decided what
    /// becomes of both.
    private func decided(_ prospect: Prospect, _ state: RunState) -> RunState? {
        guard case .shared(let shared) = state, options.onBoth != .fail,
            let facts = prospect.facts, facts.earlierRun?.newPlace == .notOurs, facts.newCondition.inspection != nil
        else { return nil }
        return .voided(shared)
    }

    /// Voids the record of such a pair; returns true if it did.
    ///
    /// The share is planned first: one that is refused leaves the record and the base.
    private func voidIfDecided(
        _ prospect: Prospect,
        _ state: RunState,
        _ ask: (SharePlan) throws -> Void
    ) throws -> Bool {
        guard let voided = decided(prospect, state) else { return false }
        try ask(plan(voided))
        return try gatherer.void(state, because: "another store is at the new path", in: stateFolder)
    }

    /// The same share, with the recorded choices where the caller makes none.
    private func keepingChoices(of state: RunState) throws -> ShareEngine {
        ShareEngine(
            old: old,
            new: new,
            options: options.keeping(try gatherer.choices(state)),
            target: target,
            pipeline: pipeline,
            surroundings: surroundings,
            probeWriter: probeWriter
        )
    }

    /// True for a share in the other direction, which the plan refuses with the command that goes back.
    private func isToOldPlace(_ run: JournalRecord.RunIdentity) -> Bool { run.new == old && !run.isInPlace }

    private func require(_ prospect: Prospect) throws {
        try ShareRequirements(
            old: old,
            new: new,
            treatment: options.treatment,
            backupFolder: options.backupFolder,
            surroundings: surroundings
        )
        .require(prospect.plan, prospect.described, occupant: prospect.facts?.newCondition.inspection)
    }

    /// Rolls back an interrupted unshare that has replaced nothing yet; returns false if it can only be finished.
    private func rollBackUnshare(from new: StoreLocation) throws -> Bool {
        try UnshareRun(old: old, new: new, options: options, surroundings: surroundings).rollBack()
    }

    private func requireNotUnsharing(_ state: RunState) throws {
        guard case .unsharing(let shared, _) = state else { return }
        throw MigrationError(
            .interrupted,
            "an unshare to the old path was interrupted",
            path: old.path,
            advice: "Finish it with the unshare command.",
            next: .unshare(old: old.path, new: shared.run.new.path)
        )
    }

    /// Finishes an interrupted retirement; a failure is logged, because it does not affect the share.
    private func finishRetirement(_ state: RunState) {
        var surroundings = surroundings
        // Cleaning up must not delay the share.
        surroundings.lockTimeout = min(surroundings.lockTimeout, .seconds(1))
        let retirement = RetireRun(old: old, options, surroundings)
        do {
            guard try retirement.isInterrupted(state) || retirement.isLeftMarked(state) else { return }
            logger.notice("an interrupted retirement is finished first")
            _ = try retirement.finishInterrupted()
        } catch {
            logger.warning("the retired store was not removed", metadata: ["error": "\(error)"])
        }
    }

    /// Recovers the interrupted run, and reports the store that it replaced.
    private func recover() throws -> [Finding] {
        try stateFolder.withJournal(deadline: surroundings.lockDeadline()) { journal in
            guard case .interrupted(let run) = journal.state else { return [] }
            let recovery = try RunRecovery(run, new: new, settings: options.runSettings, surroundings: surroundings)
            try recovery.recover(&journal)
            return recovery.findings
        }
    }

    /// The outcome of a share with nothing to do, without a lock; nil when there is work.
    private func settled(_ prospect: Prospect, _ state: RunState) throws -> ShareOutcome? {
        if let shared = prospect.shared {
            return try describing(.already(shared, prospect.plan, openFindings(prospect.plan)), prospect.described)
        }
        // Another run may have begun between the reads; they then describe no single state.
        guard let facts = prospect.facts, prospect.plan.work == nil, !needsRenewal(prospect.plan, state),
            try stateFolder.state() == state
        else { return nil }
        return try describing(outcome(of: prospect.plan, facts: facts, state: state), prospect.described)
    }

    /// The last complete run, if the status of both files proves that there is nothing to do.
    func unchangedSince(_ state: RunState) throws -> RunState.SharedRun? {
        guard case .shared(let shared) = state, shared.run.new == new, shared.retiringTo == nil,
            (options.treatment == .fence) == shared.completion.isFenced, options.merging == shared.run.choices.merging,
            shared.completion.leavesRows != true || !options.onBoth.bringsRowsLeft,
            let folder = try gatherer.folder(of: old),
            try OldStateRecorder.isUnchanged(shared.oldState, at: old, in: folder),
            try gatherer.status(of: new)?.identity.mayBe(recorded: shared.completion.new) == true,
            case .ours? = try? gatherer.newPlace(of: shared), (try? gatherer.requireMergesStand(shared)) != nil,
            try !mayBeOutOfUse(new), try target.map(gatherer.hasVersion) ?? true
        else { return nil }
        return shared
    }

    /// True when the new store may have been shared on, so that it must be inspected in full.
    private func mayBeOutOfUse(_ store: StoreLocation) throws -> Bool {
        if Succession.isApparent(at: store) { return true }
        // A fence in the log is visible only through SQLite. A store without a journal of its own was never an old
        // store.
        let log = StoreLocation(folder: store.folder, name: store.writeAheadLogName)
        guard try gatherer.status(of: log).map({ $0.size > 0 }) == true else { return false }
        return try !surroundings.besideStores.stateFolder(of: store).records().isEmpty
    }

    /// True when only the token of a shared and unchanged store must be renewed.
    private func needsRenewal(_ plan: SharePlan, _ state: RunState) -> Bool {
        if case .shared = state { plan.outcome == .alreadyShared } else { false }
    }
}
