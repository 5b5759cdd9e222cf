import Logging
import SafeFiles
import StoreFormat
import StoreStrategies
import StoreVerification

/// Brings the content of the new place back to the old one, and withdraws the new store.
///
/// The way back is a share in the other direction, with its journal beside the new store: the copy of the new store is
/// proved, replaces the old store's content in one transaction, and the new store's writers are refused and told the old
/// place, all under the new store's lock.
struct UnshareRun {
    let old: StoreLocation
    let new: StoreLocation
    let options: ShareOptions
    let monitor: WorkMonitor
    let logger: Logger

    private var stateFolder: StateFolder { StateFolder(of: old, stateFolder: options.stateFolder) }
    private var wayBack: WayBack {
        WayBack(old: old, new: new, options: backwards, monitor: monitor, logger: logger)
    }
    private var gatherer: FactsGatherer { FactsGatherer(old: old, new: new, options: options, monitor: monitor) }

    func run() throws -> ShareOutcome {
        try PlacesCheck(old: old, new: new).require()
        if case .none = try stateFolder.state() { throw try notShared() }
        try RunRecovery.recover(runOver: new, options: options, monitor: monitor, logger: logger) {
            try $0.new == old || isWayBack($0)
        }
        try requireNotSharedOn()
        try recover()
        let late = try mergeLateWrites()
        return try stateFolder.withJournal(deadline: Deadline(after: options.effectiveLockTimeout)) { journal in
            let (shared, transaction) = try begin(&journal)
            let result = try bringBack(shared, transaction, &journal)
            let withdrawal = try withdraw(transaction)
            try requireTakesWrites()
            // As long as the new store stands in its place, this is to be done again.
            if case .done = withdrawal {
                try CapturedBase.removeAll(except: [], in: stateFolder.open())
                try journal.append(.unshared)
            }
            return outcome(result, transaction, withdrawal, late)
        }
    }

    /// Takes an interrupted unshare back that has replaced nothing yet; false where it can only be finished.
    func takeBack() throws -> Bool {
        try stateFolder.withJournal(deadline: Deadline(after: options.effectiveLockTimeout)) { journal in
            guard case .unsharing(_, let transaction) = journal.state else { return true }
            guard try wayBack.isTakenBack(transaction) else { return false }
            logger.notice("an unshare that was interrupted before it replaced anything is taken back")
            try journal.append(.rolledBack)
            return true
        }
    }

    /// Throws where the data is no longer at the new place, or the store there has a record of its own with a third one.
    ///
    /// The way back goes store by store, the last hop of a chain first.
    private func requireNotSharedOn() throws {
        var next: StoreLocation?
        if let succession = try Succession(of: new, options: options), succession.store != old {
            next = succession.passed.dropFirst().first ?? succession.store
        } else if case .shared(let shared)? = try? StateFolder(of: new, stateFolder: nil).state(),
            try shared.run.new != old && !isWayBack(shared.run)
        {
            next = shared.run.new
        }
        guard let next else { return }
        throw MigrationError(
            .needsDecision,
            "the store at the new place was shared on to \(next.path)",
            path: new.path,
            advice: "Nothing was changed. Bring that back first, then run the command again.",
            next: .unshare(old: new.path, new: next.path)
        )
    }

    /// True for the run that brings the content back, which began before and may name the old store by a former path.
    private func isWayBack(_ run: JournalRecord.RunIdentity) throws -> Bool {
        guard case .unsharing(_, let transaction) = try stateFolder.state() else { return false }
        return run.transaction == transaction
    }

    /// What an unshare would do now, and how it would end; nothing is written.
    func plan() throws -> SharePlan {
        try PlacesCheck(old: old, new: new).require()
        try requireNotSharedOn()
        let (state, holders) = try stateFolder.observed()
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
        var steps: [PlanStep] = []
        var findings: [Finding] = []
        if case .shared = state, try !gatherer.isUnchanged(shared.oldState) {
            let merge = try lateMerge(of: shared).plan()
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
            reason: "the old place gets what the new one holds, and takes writes again"
        )
    }

    /// Ends an interrupted share first, forward or back.
    private func recover() throws {
        let retirement = RetireRun(old: old, options: options, logger: logger)
        try retirement.liftLeftSeal(evenUntold: true)
        if try retirement.finishInterrupted() { logger.notice("an interrupted retirement was finished first") }
        guard case .interrupted = try stateFolder.state() else { return }
        try stateFolder.withJournal(deadline: Deadline(after: options.effectiveLockTimeout)) { journal in
            guard case .interrupted(let run) = journal.state else { return }
            try RunRecovery(run, options: options, monitor: monitor, logger: logger).recover(&journal)
        }
    }

    /// Merges what was written to the old place since it was shared into the new one; nil when nothing was.
    private func mergeLateWrites() throws -> ShareOutcome? {
        guard case .shared(let shared) = try stateFolder.state(), try !gatherer.isUnchanged(shared.oldState) else {
            return nil
        }
        let outcome = try lateMerge(of: shared).share()
        guard outcome.outcome.exitStatus == 0 else {
            throw MigrationError(outcome.outcome, outcome.message, path: old.path, next: outcome.next)
        }
        return outcome
    }

    /// The share that merges late writes, under the policy that the store was shared with.
    private func lateMerge(of shared: RunState.SharedRun) -> ShareEngine {
        var sharing = options
        sharing.oldStore = shared.run.policy
        return ShareEngine(
            old: old,
            new: new,
            options: sharing,
            pipeline: StrategyPipeline(),
            monitor: monitor,
            logger: logger,
            probeWriter: CoordinatorProbeWriter()
        )
    }

    /// What was shared, and the number of the run that brings it back, journalled before it begins.
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

    /// Looks at the old store once more, so that the token alone tells under its lock that nobody wrote to it.
    private func renew(_ shared: inout RunState.SharedRun, _ journal: inout MigrationJournal) throws {
        let reading = try gatherer.folder(of: old).map { try OldStateRecorder.read(old, in: $0) }
        guard try gatherer.isUnchanged(shared.oldState) else {
            throw MigrationError(.busy, "the old store keeps being written to", path: old.path)
        }
        guard let reading, reading.token != shared.oldState.token else { return }
        shared.oldState = shared.oldState.renewed(reading)
        try journal.append(.renewed(shared.oldState))
    }

    /// Asked before anything is brought back, so that the new store can be withdrawn afterwards.
    private func requireOwnSupportFolder() throws {
        guard let folder = try gatherer.folder(of: new) else { return }
        try withdrawal(unjournalled: nil).requireOwnSupportFolder(in: folder)
    }

    /// Throws unless the new place holds what was shared, and the journal of the way back can be kept there.
    private func requireShared(_ shared: RunState.SharedRun, _ state: RunState) throws {
        try requireSamePlace(shared)
        guard try gatherer.newPlace(of: shared) == .ours else { throw wayBack.notAtItsPlace }
        if case .shared = state { try gatherer.requireMergesStand(shared) }
        try wayBack.requireJournal()
    }

    private func requireSamePlace(_ shared: RunState.SharedRun) throws {
        guard shared.run.new != new else { return }
        throw MigrationError(
            .needsDecision,
            "the old store was shared to another place, \(shared.run.new.path)",
            path: old.path,
            next: .unshare(old: old.path, new: shared.run.new.path)
        )
    }

    private func notShared() throws -> MigrationError {
        if case .voided = try stateFolder.state() {
            return .commonStateUnknown(old: old, new: new)
        }
        return MigrationError(
            .needsDecision,
            "no run has shared this store",
            path: old.path,
            advice: "There is nothing to go back from.",
            next: .status(old: old.path, new: new.path)
        )
    }

    // MARK: The way back

    /// Asked of the store itself before anything says that it takes writes again.
    private func requireTakesWrites() throws {
        guard try gatherer.status(of: old) != nil else {
            throw MigrationError(.interrupted, "the old store is gone", path: old.path)
        }
        try gatherer.reader.withView(of: old) { try StoreFence.requireNone(in: $0.connection) }
        guard try !StoreSeal(store: old, lockTimeout: options.effectiveLockTimeout).isSet() else {
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
        // The merge of what was written since asks for what both places held, and a fence alone keeps none of it.
        if shared.base == nil, shared.retiredTo == nil,
            let base = try wayBack.keepReplacedContent(transaction, in: stateFolder.open())
        {
            try journal.append(.base(base))
        }
        var wayBack = wayBack
        for case .begin(let run) in journal.records { wayBack.runs.insert(run.transaction) }
        do {
            return try wayBack.bringBack(shared, transaction)
        } catch is DestinationWritten {
            try journal.append(.rolledBack)
            throw MigrationError(
                .busy,
                "the old store was written to before the new one's content could replace it",
                path: old.path,
                advice: "Nothing was replaced. Run the command again: it merges what was written first.",
                next: .unshare(old: old.path, new: new.path)
            )
        } catch is DestinationAppeared where shared.retiredTo != nil {
            try journal.append(.rolledBack)
            throw MigrationError(
                .needsDecision,
                "a store with objects stands where the old store was before it was retired",
                path: old.path,
                advice:
                    "Nothing was replaced. Merge it into the new store or move it away, then run the command again.",
                next: .merge(into: new.path, from: old.path)
            )
        }
    }

    /// The old store's content is what gives way, if it is what was shared; a copy of it is kept aside.
    private var backwards: ShareOptions {
        var options = options
        options.oldStore = .fence
        options.onBoth = .keepOld
        options.stateFolder = nil
        options.descriptionsFile = nil
        options.backupFolder = nil
        options.legacyChanges = []
        return options
    }

    // MARK: The new store

    private enum Withdrawal {
        case done(path: String)
        case refused(MigrationError)
    }

    /// Renames the new store, when nobody can have it open.
    private func withdraw(_ transaction: String) throws -> Withdrawal {
        do {
            let outcome = try withdrawal(unjournalled: wayBack.unjournalled(transaction)).run()
            return .done(path: outcome.old?.path ?? new.path)
        } catch let error as MigrationError where error.outcome == .busy {
            return .refused(error)
        }
    }

    private func withdrawal(unjournalled: RunState.SharedRun?) -> RetireRun {
        RetireRun(old: new, fate: .withdrawn, options: backwards, logger: logger, unjournalled: unjournalled)
    }

    private func outcome(
        _ result: RunResult?,
        _ transaction: String,
        _ withdrawal: Withdrawal,
        _ late: ShareOutcome?
    ) -> ShareOutcome {
        var findings = (late?.findings ?? []) + (result?.findings ?? [])
        if let former = wayBack.keptAside(transaction) {
            let message = "what the old place held is kept aside whole"
            findings.append(Finding(.storeKeptAside, .info, level: .files, message, path: former.path))
        }
        var place = new.path
        var next: NextStep?
        switch withdrawal {
        case .done(let path): place = path
        case .refused(let error):
            next = .unshare(old: old.path, new: new.path)
            findings.append(
                Finding(
                    .notWithdrawn,
                    .warning,
                    level: .files,
                    "the new store stays where it is and takes no writes: \(error.message)",
                    path: new.path
                )
            )
        }
        return ShareOutcome(
            outcome: .unshared,
            transaction: transaction,
            old: ShareOutcome.Side(path: old.path, uuid: nil, objects: result?.objects, digest: result?.digest),
            new: ShareOutcome.Side(path: place, uuid: nil, objects: nil, digest: nil),
            merge: late?.merge,
            report: result?.report,
            findings: findings,
            message: "the old place holds what the new one held, and takes writes again",
            next: next
        )
    }
}
