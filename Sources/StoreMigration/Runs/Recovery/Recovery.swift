public import FoundationEssentials
public import Logging
import SafeFiles
import StoreAccess

/// Finishes or rolls back an interrupted run, from the journal beside the old store.
public struct Recovery: Sendable {
    private let old: URL
    private let options: ShareOptions
    private let logger: Logger?

    /// Creates a recovery of the last run over the store at `old`.
    public init(of old: URL, options: ShareOptions = ShareOptions(), logger: Logger? = nil) {
        self.old = old
        self.options = options
        self.logger = logger
    }

    /// Finishes the run after the commit point, rolls it back before; does nothing when no run was interrupted.
    ///
    /// With its task, the recovery is cancelled; the next call goes on.
    @discardableResult
    public func resume() async throws(MigrationError) -> ShareOutcome {
        try await AsynchronousRun.result { () throws(MigrationError) in try resumeAndWait() }
    }

    /// Finishes or rolls back the run, while the caller waits; `isCancelled` is called at any time.
    @discardableResult
    public func resumeAndWait(isCancelled: (@Sendable () -> Bool)? = nil) throws(MigrationError) -> ShareOutcome {
        try recover(only: nil, isCancelled)
    }

    /// Rolls the run back; after the commit point it does nothing and ends as `needsDecision`.
    ///
    /// With its task, the rollback is cancelled; the next call goes on.
    @discardableResult
    public func abort() async throws(MigrationError) -> ShareOutcome {
        try await AsynchronousRun.result { () throws(MigrationError) in try abortAndWait() }
    }

    /// Rolls the run back, while the caller waits; `isCancelled` is called at any time.
    @discardableResult
    public func abortAndWait(isCancelled: (@Sendable () -> Bool)? = nil) throws(MigrationError) -> ShareOutcome {
        try recover(only: .back, isCancelled)
    }

    private func recover(
        only wanted: RecoveryDecision?,
        _ isCancelled: (@Sendable () -> Bool)?
    ) throws(MigrationError) -> ShareOutcome {
        do {
            let surroundings = options.surroundings(WorkMonitor(isCancelled: isCancelled), logger)
            return try RequestedRecovery(
                old: StoreLocation(url: old),
                wanted: wanted,
                options: options,
                surroundings: surroundings
            )
            .run()
        } catch {
            throw MigrationError(error)
        }
    }
}

/// A recovery that a caller asked for; `wanted` is the only decision that the caller accepts, if it names one.
private struct RequestedRecovery {
    let old: StoreLocation
    let wanted: RecoveryDecision?
    let options: ShareOptions
    let surroundings: Surroundings

    func run() throws -> ShareOutcome {
        let folder = surroundings.stateFolder(of: old)
        let state = try folder.state()
        if case .unsharing(let shared, _) = state { return try goOnUnsharing(shared) }
        let retirement = RetireRun(old: old, options, surroundings)
        if try retirement.isInterrupted(state) { return try goOnRetiring(retirement) }
        try retirement.liftLeftMarker()
        guard case .interrupted = state else { return try nothingInterrupted(folder) }
        return try folder.withJournal(deadline: surroundings.lockDeadline()) { journal in
            guard case .interrupted(let run) = journal.state else { return try nothingInterrupted(folder) }
            return try recover(run, &journal)
        }
    }

    private func goOnUnsharing(_ shared: RunState.SharedRun) throws -> ShareOutcome {
        let (old, new) = (shared.run.old, shared.run.new)
        let unshare = UnshareRun(old: old, new: new, options: options, surroundings: surroundings)
        guard wanted != nil else { return try unshare.run() }
        guard try unshare.rollBack() else {
            throw MigrationError(
                .needsDecision,
                "an unshare to the old path was interrupted and cannot be aborted",
                path: old.path,
                advice: "Finish it with the unshare command; the store can be shared again afterwards.",
                next: .unshare(old: old.path, new: new.path)
            )
        }
        return ShareOutcome(
            outcome: .rolledBack,
            transaction: shared.run.transaction,
            old: ShareOutcome.Side(path: old.path, uuid: nil, objects: nil, digest: nil),
            new: ShareOutcome.Side(path: new.path, uuid: nil, objects: nil, digest: nil),
            message: "the interrupted unshare was rolled back; the store is shared as before",
            next: .status(old: old.path, new: new.path)
        )
    }

    private func goOnRetiring(_ retirement: RetireRun) throws -> ShareOutcome {
        guard wanted == nil else {
            throw MigrationError(
                .needsDecision,
                "the old store is archived and already renamed",
                path: retirement.old.path,
                advice: "Finish the retirement with the resume command; the archive can be restored afterwards.",
                next: .resume(old: retirement.old.path)
            )
        }
        return try retirement.run()
    }

    /// Names what merges kept: a run that was killed after its last record could not report it.
    private func nothingInterrupted(_ folder: StateFolder) throws -> ShareOutcome {
        ShareOutcome(outcome: .done, message: "no run over this store was interrupted")
            .adding(try folder.losingRows().map(Finding.losingRows(at:)))
    }

    private func recover(
        _ run: RunState.InterruptedRun,
        _ journal: inout MigrationJournal
    ) throws -> ShareOutcome {
        let recovery = try RunRecovery(run, settings: options.runSettings, surroundings: surroundings)
        if wanted == .back, try recovery.decision() == .forward {
            throw MigrationError(
                .needsDecision,
                "the copy is published, so the run cannot be rolled back",
                path: run.run.new.path,
                advice: run.run.isInPlace
                    ? "Finish the run with the resume command."
                    : "Finish the run with the resume command; or run the unshare command, which finishes it first.",
                next: run.run.isInPlace
                    ? .resume(old: run.run.old.path) : .unshare(old: run.run.old.path, new: run.run.new.path)
            )
        }
        let decision = try recovery.recover(&journal)
        return ShareOutcome(
            outcome: decision == .forward ? run.run.finishedOutcome : .rolledBack,
            transaction: run.run.transaction,
            old: ShareOutcome.Side(path: run.run.old.path, uuid: nil, objects: nil, digest: nil),
            new: ShareOutcome.Side(path: run.run.new.path, uuid: nil, objects: nil, digest: nil),
            findings: recovery.findings,
            message: decision == .forward ? "the interrupted run was finished" : "the interrupted run was rolled back",
            next: run.run.isInPlace
                ? nil
                : decision == .forward
                    ? .retire(old: run.run.old.path) : .share(old: run.run.old.path, new: run.run.new.path)
        )
    }
}

extension JournalRecord.RunIdentity {
    /// The outcome once recovery has finished the run.
    fileprivate var finishedOutcome: MigrationOutcome {
        restores != nil ? .restored : migratesInPlace ? .migrated : .shared
    }
}
