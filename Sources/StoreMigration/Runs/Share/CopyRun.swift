import Logging
import SafeFiles
import StoreAccess
import StoreFormat
import StoreStrategies
import StoreVerification
import SystemPackage

/// Carries out a plan that copies the old store to the new path.
///
/// The commit protocol orders the steps: stage, prove, lock, complete, publish, fence, unlock, prove the rest, close. A
/// captured store gets no fence, so its lock is released when the copy is complete, and the rest of the proof precedes
/// publication. A run that brings a store back fences before it publishes.
struct CopyRun<Destination: CopyDestination>: RunWork {
    /// How often a copy is migrated again because programs wrote to the old store meanwhile.
    private static var mostMigrations: Int { 4 }

    let context: RunContext
    private let inspection: StoreInspection
    private let destination: Destination
    private let view: StoreView?
    private var progress = CopyProgress()

    /// Prepares the run; with `view`, the old store is read only, neither locked nor fenced.
    init(_ context: RunContext, inspection: StoreInspection, to destination: Destination, view: StoreView? = nil) {
        self.context = context
        self.inspection = inspection
        self.destination = destination
        self.view = view
    }

    var identity: JournalRecord.RunIdentity {
        get throws { try context.identity(over: inspection.identity, context.described?.descriptions) }
    }

    var isCommitted: Bool? { destination.placed != nil }
    var mayHaveFenced: Bool { progress.isFencedFirst }

    mutating func commit(_ journal: inout MigrationJournal) throws { try publish(stage(&journal), &journal) }

    mutating func release() { progress.lock?.rollback() }

    mutating func finish(_ journal: inout MigrationJournal) throws -> RunResult {
        if let copy = progress.copy { try destination.tidy(after: copy) }
        return try RunCloser(context, progress, placed: destination.placed, inspection: inspection).close(&journal)
    }

    /// Copies, proves and catches up with writers, all without a lock.
    private mutating func stage(_ journal: inout MigrationJournal) throws -> StagedCopy {
        // The ending records them; a receipt that cannot be read must stop the run while it can be rolled back.
        _ = try context.predecessors()
        let staging = try StagingFolder(creating: context.transaction, in: context.container)
        progress.staging = staging
        try journal.append(.nest(staging.identity))
        let stateFolder = context.surroundings.stateFolder.map { StoreLocation(url: $0).path }
        try StagingOrigin.write(
            Receipt.Origin(transaction: context.transaction, old: context.old.path, state: stateFolder),
            to: staging.folder
        )
        let copy = try StagedCopy(context, staging: staging, mode: inspection.mode, view: view)
        progress.copy = copy
        TriggerPoint.copying.pass()
        try copy.build()
        TriggerPoint.proving.pass()
        try copy.prove()
        try copy.catchUp()
        if let target = context.target, migratesBeforeLock, copy.isConsistent { try copy.migrate(to: target) }
        try context.monitor.checkCancellation()
        context.monitor.report(.publishing, 0, of: 1)
        TriggerPoint.publishing.pass()
        return copy
    }

    /// Completes the copy under the old store's lock and publishes it.
    private mutating func publish(_ copy: StagedCopy, _ journal: inout MigrationJournal) throws {
        var start = ContinuousClock.now
        if let view {
            progress.oldStore = CopiedStoreState(of: view)
        } else {
            let lock = try context.openOldStore()
            progress.lock = lock
            start = try complete(copy, under: lock)
            progress.oldStore = try CopiedStoreState(under: lock, at: context.old, in: context.oldFolder)
        }
        guard let oldToken = progress.oldStore?.reading.token else {
            throw MigrationError(.failed, "the old store's state is not known", path: context.old.path)
        }
        switch context.settings.treatment {
        case .fence:
            if let migration = copy.migration { try copy.adopt(migration) }
            try copy.treat()
            if context.settings.fencesFirst { try fenceFirst() }
            try destination.publish(copy, oldToken: oldToken, digest: copy.provedDigest, &journal)
            TriggerPoint.placed.pass()
            if context.settings.fencesFirst { progress.lock?.rollback() } else { try commitFence() }
            progress.lockHold = start.duration(to: .now)
            try journal.append(.fenced)
        case .capture:
            progress.lock?.rollback()
            if progress.lock != nil { progress.lockHold = start.duration(to: .now) }
            try copy.proveCompleted()
            let digest = try copy.contentDigest()
            let folder = try context.stateFolder.open()
            try journal.append(.base(CapturedBase.keep(copy.main, of: context.transaction, in: folder)))
            if let target = context.target {
                try copy.migrate(to: target)
                if let migration = copy.migration { try copy.adopt(migration) }
            }
            try copy.treat()
            try destination.publish(copy, oldToken: oldToken, digest: digest, &journal)
            TriggerPoint.placed.pass()
            progress.digest = digest
        }
        context.monitor.report(.publishing, 1, of: 1)
        TriggerPoint.published.pass()
    }

    /// True if the copy must be migrated while programs may write: a fence needs the lock until the copy is published.
    private var migratesBeforeLock: Bool { context.settings.treatment == .fence }

    /// Takes the old store's write lock and completes the copy; returns when the lock was taken.
    ///
    /// A copy that was migrated before must not change any more. If it does, the lock is released, and the copy is migrated
    /// again.
    private func complete(_ copy: StagedCopy, under lock: StoreConnection) throws -> ContinuousClock.Instant {
        for _ in 1...Self.mostMigrations {
            if let target = context.target, migratesBeforeLock, copy.isConsistent, copy.migration == nil {
                try copy.migrate(to: target)
            }
            try lock.beginWriting(deadline: context.lockDeadline(), monitor: context.monitor)
            let start = ContinuousClock.now
            try context.requireInspectedStore(inspection, lock, copy.source)
            try copy.complete(under: lock)
            guard context.target != nil, migratesBeforeLock, copy.migration == nil else { return start }
            lock.rollback()
            context.logger.notice("the old store was written to while its copy was migrated; migrating again")
        }
        throw OldStoreWritten(path: context.old.path)
    }

    /// Fences the old store and releases its lock.
    private mutating func commitFence() throws {
        guard let lock = progress.lock else { return }
        progress.findings += try FenceWriter(lock).set(transaction: context.transaction, newPath: context.new.path)
        try lock.commit(deadline: context.lockDeadline())
    }

    /// Fences the old store and takes its lock again, so that it stays as it was copied.
    private mutating func fenceFirst() throws {
        guard let lock = progress.lock else { return }
        // A rollback lifts the fence, which must be the run's own.
        try StoreFence.requireNone(in: lock)
        progress.isFencedFirst = true
        try commitFence()
        try lock.beginWriting(deadline: context.lockDeadline(), monitor: context.monitor)
        // A fence does not refuse new tables.
        guard try progress.oldStore?.isUndisturbed() == true else { throw OldStoreWritten(path: context.old.path) }
    }
}

/// What a run has made so far, for the later steps.
struct CopyProgress {
    var staging: StagingFolder?
    var copy: StagedCopy?
    /// The connection that held the old store's write lock; it stays open to the end of the run.
    var lock: StoreConnection?
    /// The old store's state when its copy was completed.
    var oldStore: CopiedStoreState?
    /// How long the old store's write lock was held.
    var lockHold: Duration?
    /// The content digest of the completed copy, if taken before publication.
    var digest: String?
    /// True once a fence may be committed in the old store although nothing is published.
    var isFencedFirst = false
    var findings: [Finding] = []
}
