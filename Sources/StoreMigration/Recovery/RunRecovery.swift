import Logging
import SafeFiles
import StoreFormat
import StoreVerification

/// Brings an interrupted run to its end, forward after the commit point and back before it.
///
/// A crash inside it is an ordinary input of the next one: every step looks before it acts.
struct RunRecovery {
    private let run: RunState.InterruptedRun
    private let options: ShareOptions
    private let monitor: WorkMonitor
    private let logger: Logger

    init(_ run: RunState.InterruptedRun, options: ShareOptions, monitor: WorkMonitor, logger: Logger) {
        self.run = run
        self.options = options
        self.monitor = monitor
        self.logger = logger
    }

    private var gatherer: FactsGatherer {
        FactsGatherer(old: run.run.old, new: run.run.new, options: options, monitor: monitor)
    }

    /// What would become of the run, decided without changing anything.
    func decision() throws -> RecoveryDecision {
        let main = try gatherer.status(of: run.run.new)
        var digest: String?
        if let replacement = run.replacement, run.published == nil, let main, main.identity == replacement.main,
            main.size > 0
        {
            digest = try gatherer.digest(of: run.run.new)
        }
        return RecoveryDecision(run, RecoveryDecision.Observation(main: main?.identity, digest: digest))
    }

    /// Recovers the run and says which way it went.
    @discardableResult
    func recover(_ journal: inout MigrationJournal) throws -> RecoveryDecision {
        let decision = try decision()
        logger.notice("recovering", metadata: ["run": "\(run.run.transaction)", "decision": "\(decision)"])
        switch decision {
        case .back: try goBack(&journal)
        case .forward: try goForward(&journal)
        case .undecided:
            throw MigrationError(
                .needsDecision,
                "an interrupted run left neither the former nor the new content",
                path: run.run.new.path,
                advice: "The former content lies in the folder .store-migrate-aside-\(run.run.transaction) beside it.",
                next: .status(old: run.run.old.path, new: run.run.new.path)
            )
        }
        return decision
    }

    // MARK: Back

    private func goBack(_ journal: inout MigrationJournal) throws {
        let new = run.run.new
        if let container = try gatherer.folder(of: new) {
            let externalFiles = run.publication?.externalFiles ?? run.replacement?.externalFiles ?? [:]
            try StagedExternalFiles.takeBack(externalFiles, of: new, in: container)
            if run.replacement != nil || run.publication == nil, let aside = try asideFolder(in: container) {
                try ExternalFilesOfDisplacedStore.restore(from: aside.folder, to: new, in: container)
                try aside.remove()
            }
            try Nest(of: run.run.transaction, identity: run.nest, in: container)?.remove()
        }
        try liftOwnFence()
        try journal.append(.rolledBack)
    }

    /// The folder with copies of the displaced store; one with things that were moved into it is left alone.
    private func asideFolder(in container: Directory) throws -> AsideRemains? {
        try AsideRemains(of: run.run.transaction, identity: run.aside, in: container)
    }

    private func liftOwnFence() throws {
        guard let status = try gatherer.status(of: run.run.old), status.identity == run.run.oldIdentity,
            status.size > 0, try fenceInOld()?.transaction == run.run.transaction
        else { return }
        let connection = try StoreConnection(
            run.run.old,
            access: .liveWriting,
            lockTimeout: options.effectiveLockTimeout
        )
        try connection.beginWriting(deadline: Deadline(after: options.effectiveLockTimeout))
        try FenceWriter(connection).lift()
        try connection.commit(deadline: Deadline(after: options.effectiveLockTimeout))
        try connection.close()
    }

    private func fenceInOld() throws -> StoreFence? {
        try StoreReader(
            lockTimeout: options.effectiveLockTimeout,
            allowsNetworkFileSystem: options.allowsNetworkFileSystem
        )
        .withView(of: run.run.old) { try StoreFence(reading: $0.connection) }
    }

    // MARK: Forward

    private func goForward(_ journal: inout MigrationJournal) throws {
        let context = try RunContext(
            transaction: run.run.transaction,
            old: run.run.old,
            new: run.run.new,
            options: runOptions,
            monitor: monitor,
            logger: logger
        )
        guard let identity = try context.container.status(of: run.run.new.name)?.identity,
            let oldToken = run.publication?.oldToken ?? run.replacement?.oldToken,
            let inspection = try StoreInspector(depth: .layout, lockTimeout: options.effectiveLockTimeout)
                .inspect(run.run.old).inspection
        else {
            throw MigrationError(.interrupted, "the old store cannot be read", path: run.run.old.path)
        }
        if run.published == nil {
            try context.container.synchronize()
            try journal.append(.published(identity))
        }
        let isUntouched = try context.oldFolder.token(of: run.run.old.name) == oldToken
        try fence(context, inspection, &journal)
        let digest = try provedDigest(context, isUntouched: isUntouched)
        try journal.append(.proved(digest: digest))
        if run.replacement != nil, let aside = try asideFolder(in: context.container) {
            try ExternalFilesOfDisplacedStore.remove(
                except: (run.replacement?.externalFiles).map { Array($0.keys) } ?? [],
                keptIn: aside.folder,
                of: run.run.new,
                in: context.container
            )
        }
        try Receipt(
            transaction: run.run.transaction,
            old: run.run.old.path,
            storeUUID: inspection.uuid,
            digest: digest,
            token: nil,
            descriptions: context.mirroredDescriptions(of: inspection)
        )
        .write(beside: run.run.new.name, in: context.container)
        try Nest(of: run.run.transaction, identity: run.nest, in: context.container)?.remove()
        try journal.append(
            .done(
                JournalRecord.Completion(
                    new: identity,
                    newUUID: inspection.uuid,
                    objects: nil,
                    oldState: oldState(context, digest: digest, token: oldToken),
                    isFenced: run.run.policy == .fence
                )
            )
        )
    }

    /// The run goes on as it began.
    private var runOptions: ShareOptions {
        var options = options
        options.oldStore = run.run.policy
        return options
    }

    private func fence(
        _ context: RunContext,
        _ inspection: StoreInspection,
        _ journal: inout MigrationJournal
    ) throws {
        guard run.run.policy == .fence, !run.isFenced else { return }
        if inspection.fence?.transaction != run.run.transaction {
            let connection = try StoreConnection(
                run.run.old,
                access: .liveWriting,
                lockTimeout: options.effectiveLockTimeout
            )
            try connection.beginWriting(deadline: context.lockDeadline())
            let writer = FenceWriter(connection)
            try writer.lift()
            _ = try writer.set(transaction: run.run.transaction, newPath: run.run.new.path)
            try connection.commit(deadline: context.lockDeadline())
            try connection.close()
        }
        try journal.append(.fenced)
    }

    /// The digest of what was shared: as it was proved, or proved now.
    ///
    /// When nobody wrote to the old store since the copy was completed, its content is what was shared. Otherwise what
    /// stands at the new place is the best witness, and the difference is told as late writes.
    private func provedDigest(_ context: RunContext, isUntouched: Bool) throws -> String {
        if let digest = run.provedDigest ?? run.publication?.digest ?? run.replacement?.digest { return digest }
        let new = try gatherer.digest(of: run.run.new)
        guard isUntouched || run.isFenced else { return new }
        return try gatherer.digest(of: run.run.old)
    }

    /// The old store's state, with a token only where it still holds what was shared.
    private func oldState(
        _ context: RunContext,
        digest: String,
        token: FileToken
    ) throws -> JournalRecord.OldState {
        let reading = try OldStateRecorder.read(run.run.old, in: context.oldFolder)
        if try gatherer.digest(of: run.run.old) == digest { return reading.state(digest: digest) }
        return JournalRecord.OldState(token: token, takenAt: 0, digest: digest)
    }
}
