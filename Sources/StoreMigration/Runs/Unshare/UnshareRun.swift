import Logging
import MergeProbing
import SafeFiles
import StoreAccess
import StoreStrategies
import StoreVerification

/// Brings the new store's content back to the old one, and withdraws the new store.
///
/// Late writes to the old store are merged first. Then an unshare is a share in the other direction, with its journal beside
/// the new store: the copy of the new store is completed under the new store's lock, the new store is fenced, with the old path
/// in the error, and the proved copy replaces the old store's content in one transaction. A write to either store between
/// these steps is noticed, and the unshare rolled back.
struct UnshareRun {
    let old: StoreLocation
    let new: StoreLocation
    let options: ShareOptions
    let surroundings: Surroundings

    private var logger: Logger { surroundings.logger }
    private var stateFolder: StateFolder { surroundings.stateFolder(of: old) }
    var reverseShare: ReverseShare {
        ReverseShare(old: old, new: new, settings: backwards, surroundings: surroundings.besideStores)
    }
    private var gatherer: FactsGatherer { FactsGatherer(old: old, new: new, surroundings: surroundings) }

    func run() throws -> ShareOutcome {
        try PlacesCheck(old: old, new: new).require()
        if case .none = try stateFolder.state() { throw try notShared() }
        try startWithdrawalOver()
        try requireMergeNames()
        try RunRecovery.recover(runOver: new, settings: options.runSettings, surroundings: surroundings) {
            try $0.new == old || isReverseShare($0)
        }
        try requireNotSharedOn()
        try recover()
        if try gatherer.voidIfOtherStore(stateFolder.state(), in: stateFolder) { throw try notShared() }
        try requireBeforeMerging()
        let late = try mergeLateWrites()
        return try stateFolder.withJournal(deadline: surroundings.lockDeadline()) { journal in
            let (shared, transaction) = try begin(&journal)
            let result = try bringBack(shared, transaction, &journal)
            return try afterBringingBack {
                let withdrawal = try withdraw(shared, transaction)
                try requireTakesWrites()
                // Until the new store is renamed, the next run repeats the withdrawal.
                guard case .done = withdrawal else { return outcome(result, transaction, withdrawal, late) }
                let findings = Finding.warning(ifNotRemoved: stateFolder.path) {
                    try CapturedBase.removeAll(except: [], in: stateFolder.open())
                }
                try journal.append(.unshared)
                return outcome(result, transaction, withdrawal, late, findings)
            }
        }
    }

    /// Throws before late writes are merged if the unshare could not be carried out after that.
    private func requireBeforeMerging() throws {
        let state = try stateFolder.state()
        switch state {
        case .shared(let shared), .retired(let shared, _):
            try requireShared(shared, state)
            try requireWritableStores()
        case .none, .voided, .interrupted, .unsharing: break
        }
    }

    /// Runs a step after the old store got the content.
    func afterBringingBack<R>(_ body: () throws -> R) throws -> R {
        let next = NextStep.unshare(old: old.path, new: new.path)
        return try MigrationError.ifInterrupted(after: "the old store has the content again", next: next, body)
    }

    /// Throws if a merge setting names an entity or property that the store lacks.
    private func requireMergeNames() throws {
        guard try gatherer.status(of: new)?.kind == .regular else { return }
        try surroundings.require(options.mergeSettings, in: new)
    }

    /// Rolls back an interrupted unshare that has replaced nothing yet; returns false if it can only be finished.
    func rollBack() throws -> Bool {
        try stateFolder.withJournal(deadline: surroundings.lockDeadline()) { journal in
            guard case .unsharing(let shared, let transaction) = journal.state else { return true }
            guard try reverseShare.rollBack(shared, transaction) else { return false }
            logger.notice("rolling back an unshare that was interrupted before it replaced anything")
            try journal.append(.rolledBack)
            return true
        }
    }

    /// Throws when the data is no longer at the new path, or the store there is in a pair with a third one.
    ///
    /// A chain is unshared store by store, the last one first.
    private func requireNotSharedOn() throws {
        var next: StoreLocation?
        if let succession = try Succession(of: new, surroundings), succession.store != old {
            next = succession.passed.dropFirst().first ?? succession.store
        } else if case .shared(let shared)? = try surroundings.besideStores.stateFolder(of: new)
            .ifUsable({ try $0.state() }),
            try shared.run.new != old && !isReverseShare(shared.run)
        {
            next = shared.run.new
        }
        // A killed unshare leaves both stores fenced, each with the other one's path.
        guard let next, next != old else { return }
        throw sharedOn(to: next.path)
    }

    private func sharedOn(to path: String) -> MigrationError {
        MigrationError(
            .needsDecision,
            "the store at the new path was shared on to \(path)",
            path: new.path,
            advice: "Nothing was changed. Unshare that store first, then run the command again.",
            next: .unshare(old: new.path, new: path)
        )
    }

    /// Removes the second name that a power failure during the new store's rename left.
    private func startWithdrawalOver() throws {
        guard case .unsharing = try stateFolder.state() else { return }
        try stateFolder.withJournal(deadline: surroundings.lockDeadline()) { journal in
            guard case .unsharing(_, let transaction) = journal.state else { return }
            try withdrawal(unjournalled: nil).removeSecondNames(of: transaction)
        }
    }

    /// True for the unshare that began before, and may record a former path of the old store.
    private func isReverseShare(_ run: JournalRecord.RunIdentity) throws -> Bool {
        guard case .unsharing(_, let transaction) = try stateFolder.state() else { return false }
        return run.transaction == transaction
    }

    /// What an unshare would do now, and its outcome; nothing is written.
    func plan() throws -> SharePlan {
        try PlacesCheck(old: old, new: new).require()
        try requireNotSharedOn()
        try requireMergeNames()
        let (recorded, holders) = try stateFolder.observed()
        let state = try gatherer.standing(recorded)
        if !holders.isEmpty, let run = state.run {
            return SharePlan(atWork: run.transaction, holders, old: old, new: new)
        }
        let shared: RunState.SharedRun
        switch state {
        case .none, .voided: throw try notShared()
        case .interrupted(let run): return SharePlan(interrupted: run, old: old, new: new)
        case .shared(let run), .retired(let run, _), .unsharing(let run, _): shared = run
        }
        try requireShared(shared, state)
        try requireOwnSupportFolder()
        if !state.isUnsharing { try requireWritableStores() }
        var steps: [PlanStep] = []
        var findings: [Finding] = []
        if case .shared = state, try !gatherer.isUnchanged(shared.oldState) {
            let merge = try lateMerge.plan()
            guard merge.outcome.exitStatus == 0 else { return merge }
            (steps, findings) = (merge.steps, merge.findings)
        }
        let bringing: [PlanStep.Action] =
            try gatherer.status(of: old) == nil ? [.publish] : [.copyAside, .replaceContent, .liftFence]
        steps += bringing.map { PlanStep($0, path: old.path) }
        steps += [.fence, .withdraw].map { PlanStep($0, path: new.path) }
        return SharePlan(
            outcome: .unshared,
            old: old,
            new: new,
            steps: steps,
            findings: findings,
            reason: "the old store gets the new one's content and becomes writable again"
        )
    }

    /// Recovers an interrupted share first.
    private func recover() throws {
        let retirement = RetireRun(old: old, options, surroundings)
        try retirement.liftLeftMarker(includingUnjournalled: true)
        if try retirement.finishInterrupted() { logger.notice("an interrupted retirement was finished first") }
        guard case .interrupted = try stateFolder.state() else { return }
        try stateFolder.withJournal(deadline: surroundings.lockDeadline()) { journal in
            guard case .interrupted(let run) = journal.state else { return }
            try RunRecovery(run, settings: options.runSettings, surroundings: surroundings).recover(&journal)
        }
    }

    /// Merges late writes into the new store; nil when there are none.
    private func mergeLateWrites() throws -> ShareOutcome? {
        guard case .shared(let shared) = try stateFolder.state(), try !gatherer.isUnchanged(shared.oldState) else {
            return nil
        }
        let outcome = try lateMerge.share()
        guard outcome.outcome.exitStatus == 0 else {
            throw MigrationError(outcome.outcome, outcome.message, path: old.path, next: outcome.next)
        }
        return outcome
    }

    /// The share that merges late writes; it keeps the recorded treatment of the old store.
    private var lateMerge: ShareEngine {
        ShareEngine(
            old: old,
            new: new,
            options: options,
            pipeline: StrategyPipeline(),
            surroundings: surroundings,
            probeWriter: CoordinatorProbeWriter()
        )
    }

    /// The shared run and the transaction ID of the unshare, journalled before it begins.
    private func begin(_ journal: inout MigrationJournal) throws -> (RunState.SharedRun, String) {
        var shared: RunState.SharedRun
        switch journal.state {
        case .unsharing(let run, let transaction):
            try requireSamePlace(run)
            return (run, transaction)
        case .shared(let run), .retired(let run, _): shared = run
        default: throw try notShared()
        }
        try requireShared(shared, journal.state)
        if case .shared = journal.state { try renew(&shared, &journal) }
        try requireOwnSupportFolder()
        let transaction = RunContext.drawTransaction()
        try journal.append(.unsharing(transaction: transaction))
        if case .unsharing(let begun, _) = journal.state { return (begun, transaction) }
        return (shared, transaction)
    }

    /// Checks the old store again, so that under its lock the token alone proves that there was no write.
    private func renew(_ shared: inout RunState.SharedRun, _ journal: inout MigrationJournal) throws {
        let reading = try gatherer.folder(of: old).map { try OldStateRecorder.read(old, in: $0) }
        guard try gatherer.isUnchanged(shared.oldState) else {
            throw MigrationError(.busy, "the old store keeps changing", path: old.path)
        }
        guard let reading, reading.token != shared.oldState.token else { return }
        shared.oldState = shared.oldState.renewed(reading)
        try journal.append(.renewed(shared.oldState))
    }

    /// Checked first, so that the new store can be renamed in the end.
    private func requireOwnSupportFolder() throws {
        guard let folder = try gatherer.folder(of: new) else { return }
        try withdrawal(unjournalled: nil).requireOwnSupportFolder(in: folder)
    }

    /// Throws unless this user can write both stores, and create files beside them.
    private func requireWritableStores() throws {
        for store in [old, new] {
            guard let folder = try gatherer.folder(of: store) else { continue }
            let refusal = { (reason: String) in
                MigrationError(
                    .notWritable,
                    "cannot write to the \(store == old ? "old" : "new") store: \(reason)",
                    path: store.path,
                    advice: "Run as its owner, or give this user write access: chmod, setfacl, chattr -i -a."
                )
            }
            try ShareRequirements.requireWritable(store, in: folder, removing: true, else: refusal)
        }
        try DisplacedStore.requirePageSize(of: new, in: old, surroundings.reader)
    }

    /// Throws unless the new path has the shared store, and the unshare's journal can be created beside it.
    private func requireShared(_ shared: RunState.SharedRun, _ state: RunState) throws {
        try requireSamePlace(shared)
        guard try gatherer.newPlace(of: shared) == .ours else { throw reverseShare.notAtItsPlace }
        if !state.isUnsharing, let fence = try gatherer.fence(in: new) { throw sharedOn(to: fence.newPath) }
        if case .shared = state { try gatherer.requireMergesStand(shared) }
        try reverseShare.requireJournal()
    }

    private func requireSamePlace(_ shared: RunState.SharedRun) throws {
        guard shared.run.new != new else { return }
        throw MigrationError(
            .needsDecision,
            "the old store was shared to \(shared.run.new.path), and not to the named path",
            path: new.path,
            next: .unshare(old: old.path, new: shared.run.new.path)
        )
    }

    private func notShared() throws -> MigrationError {
        if case .voided = try stateFolder.state() {
            return .commonStateUnknown(old: old, new: new)
        }
        if let folder = try gatherer.recordedElsewhere() {
            return .recorded(in: folder, path: old.path, next: .unshare(old: old.path, new: new.path))
        }
        return MigrationError(
            .needsDecision,
            "no run has shared this store",
            path: old.path,
            advice: "There is nothing to unshare.",
            next: .status(old: old.path, new: new.path)
        )
    }

    // MARK: Unshare

    /// Checks the store itself before the outcome reports that it is writable.
    private func requireTakesWrites() throws {
        guard try gatherer.status(of: old) != nil else {
            throw MigrationError(.interrupted, "the old store is missing", path: old.path)
        }
        try gatherer.reader.read(old) { try StoreFence.requireNone(in: $0.connection) }
        guard try !ReadOnlyMarker(store: old, lockTimeout: surroundings.lockTimeout).isSet() else {
            throw MigrationError(
                .interrupted,
                "the old store is still marked as read-only",
                path: old.path,
                next: .unshare(old: old.path, new: new.path)
            )
        }
    }

    /// Copies the new store over the old one; nil when an earlier attempt did.
    private func bringBack(
        _ shared: RunState.SharedRun,
        _ transaction: String,
        _ journal: inout MigrationJournal
    ) throws -> RunResult? {
        // The merge of late writes needs the common state, and a fenced share keeps no base.
        if shared.base == nil, shared.retiredTo == nil,
            let base = try reverseShare.keepReplacedContent(transaction, in: stateFolder.open())
        {
            try journal.append(.base(base))
        }
        var reverseShare = reverseShare
        for case .begin(let run) in journal.records { reverseShare.runs.insert(run.transaction) }
        do {
            return try reverseShare.bringBack(shared, transaction)
        } catch is DestinationWritten {
            try journal.append(.rolledBack)
            throw MigrationError(
                .busy,
                "the old store changed before the new one's content could replace it",
                path: old.path,
                advice: "Nothing was replaced. Run the command again: it merges the late writes first.",
                next: .unshare(old: old.path, new: new.path)
            )
        } catch is OldStoreWritten {
            try journal.append(.rolledBack)
            throw MigrationError(
                .busy,
                "the new store's tables were changed while it was brought back",
                path: new.path,
                advice: "Nothing was replaced. Run the command again.",
                next: .unshare(old: old.path, new: new.path)
            )
        } catch is DestinationAppeared where shared.retiredTo != nil {
            try journal.append(.rolledBack)
            throw MigrationError(
                .needsDecision,
                "the retired store's path has another store with objects",
                path: old.path,
                advice:
                    "Nothing was replaced. Merge it into the new store or move it away, then run the command again.",
                next: .merge(into: new.path, from: old.path)
            )
        }
    }

    /// The settings of the copy back: the old content is replaced if it is still the shared one, and a copy of it is
    /// kept.
    private var backwards: RunSettings {
        var settings = RunSettings(
            treatment: .fence,
            onBoth: .keepOld,
            level: options.level,
            merging: options.mergeSettings
        )
        settings.fencesFirst = true
        return settings
    }

    // MARK: The new store

    /// Renames the new store, if no process has it open.
    private func withdraw(_ shared: RunState.SharedRun, _ transaction: String) throws -> Withdrawal {
        do {
            let outcome = try withdrawal(unjournalled: reverseShare.unjournalled(transaction, of: shared)).run()
            return .done(path: outcome.old?.path ?? new.path, outcome.findings.filter { $0.code == .leftoverKept })
        } catch let error as MigrationError where [.busy, .notWritable, .failed].contains(error.outcome) {
            // The content is back, and the new store is fenced: nothing is lost until another run can rename it.
            return .refused(error)
        } catch let error as FileError where error.errno.isRefusal {
            // Only its owner gets a lease on a file.
            return .refused(MigrationError(error))
        }
    }

    private func withdrawal(unjournalled: RunState.SharedRun?) -> RetireRun {
        RetireRun(withdrawing: new, backwards, surroundings.besideStores, unjournalled: unjournalled)
    }
}
