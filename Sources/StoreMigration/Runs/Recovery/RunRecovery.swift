import ChangeMerging
import Logging
import SafeFiles
import StoreAccess
import StoreFormat
import StoreStrategies
import StoreVerification

/// Finishes an interrupted run after its commit point, and rolls it back before.
///
/// Recovery is idempotent: each step checks the state before it acts, so that a crash only needs another recovery.
struct RunRecovery {
    let run: RunState.InterruptedRun
    private let settings: RunSettings
    private let surroundings: Surroundings
    /// The run's open container; nil if it is opened by its path.
    private var opened: Directory?

    /// Prepares to recover a run; `new` is the caller's new path, used if the run's container has moved.
    init(
        _ run: RunState.InterruptedRun,
        new: StoreLocation? = nil,
        settings: RunSettings,
        surroundings: Surroundings
    ) throws(FileError) {
        var run = run
        // An unreadable container has not moved: it contains the published store.
        if let new, try Directory.openIfPresent(path: run.run.new.folder) == nil { run.run = run.run.to(new) }
        self.run = run
        self.surroundings = surroundings
        var settings = settings
        settings.treatment = run.run.policy
        settings.choices = run.run.choices
        self.settings = settings
    }

    /// Prepares to roll back a run that failed in this process; the rollback is not cancelled with it.
    init(_ run: RunState.InterruptedRun, in context: RunContext) throws(FileError) {
        try self.init(run, settings: context.settings, surroundings: context.surroundings.silent)
        opened = context.container
    }

    /// Recovers an interrupted run in the journal of a store that another run is about to write to: what the journal says
    /// of that store would not be true any more.
    ///
    /// Leaves a run that `isOwn` accepts to its own command, and a journal that cannot be read or trusted.
    static func recover(
        runOver store: StoreLocation,
        settings: RunSettings,
        surroundings: Surroundings,
        unless isOwn: (JournalRecord.RunIdentity) throws -> Bool = { _ in false }
    ) throws {
        let surroundings = surroundings.besideStores
        let folder = surroundings.stateFolder(of: store)
        guard case .interrupted(let run)? = try folder.ifUsable({ try $0.state() }), try !isOwn(run.run) else { return }
        surroundings.logger.notice("an interrupted run of the store that is written to is recovered first")
        try folder.withJournal(deadline: surroundings.lockDeadline()) { journal in
            guard case .interrupted(let run) = journal.state, try !isOwn(run.run) else { return }
            try RunRecovery(run, settings: settings, surroundings: surroundings).recover(&journal)
        }
    }

    var gatherer: FactsGatherer {
        FactsGatherer(old: run.run.old, new: run.run.new, surroundings: surroundings)
    }

    /// How the run would end, decided without changing anything.
    func decision() throws -> RecoveryDecision {
        let main = try gatherer.status(of: run.run.new)
        var (digest, isReplaced): (String?, Bool?)
        if let replacement = run.replacement, run.published == nil, let main,
            main.identity.mayBe(recorded: replacement.main), main.size > 0
        {
            do {
                digest = replacement.digest == nil ? nil : try gatherer.rowDigest(of: run.run.new)
                isReplaced = try self.isReplaced()
            } catch let error as StoreError where error.code == .emptyFile {
                // The file was empty, and its first writer was killed: it is empty again.
                (digest, isReplaced) = (nil, nil)
            } catch let error as StoreError where [.damaged, .notADatabase].contains(error.code) {
                // The content is unknown: the caller decides which store to keep.
                return .undecided
            }
        }
        var epoch: String?
        if let merging = run.merging {
            let into = merging.takesNew == true ? run.run.old : run.run.new
            let isMerged =
                try gatherer.status(of: into).map { $0.size > 0 } == true
                && gatherer.reader.read(into) {
                    try StoreMerger.hasSeen(merging.epoch, in: $0.connection)
                }
            epoch = isMerged ? merging.epoch : nil
        }
        return RecoveryDecision(
            run,
            RecoveryDecision.Observation(
                main: main?.identity,
                digest: digest,
                epoch: epoch,
                isReplaced: isReplaced
            )
        )
    }

    /// Whether the content was replaced in a store that programs wrote to since; nil if nothing shows it.
    private func isReplaced() throws -> Bool? {
        let place = run.run.new
        let kept = try DisplacedFiles.store(displacedFrom: place, by: run.run.transaction)
        if run.run.migratesTo != nil {
            // The displaced copy is missing only if it was removed by hand.
            guard let kept, let former = try inspector.inspect(kept).inspection?.metadata else { return true }
            return try inspector.inspect(place).inspection?.metadata
                .map {
                    $0.entityVersionHashes != former.entityVersionHashes
                }
        }
        // A fenced store takes writes only once its content, with the fence, is replaced; only an unshare replaces one.
        if let kept, try gatherer.fence(in: kept) != nil { return try gatherer.fence(in: place) == nil ? true : nil }
        guard settings.fencesFirst, let kept else { return nil }
        // A replacement raises the schema cookie by one, rows do not.
        let (former, now) = try (gatherer.schemaCookie(of: kept), gatherer.schemaCookie(of: place))
        guard now == former &+ 1 else { return nil }
        return try gatherer.definitions(of: place) == gatherer.definitions(of: run.run.old) ? true : nil
    }

    /// Recovers the run and returns the decision.
    @discardableResult
    func recover(_ journal: inout MigrationJournal) throws -> RecoveryDecision {
        if let container = try gatherer.folder(of: run.run.new) {
            try stagingFolder(in: container)?.releasePlacedFiles(of: run.run.new)
        }
        let decision = try decision()
        logger.notice("recovering", metadata: ["run": "\(run.run.transaction)", "decision": "\(decision)"])
        switch decision {
        case .back: try goBack(&journal)
        case .forward:
            if let merging = run.merging {
                try finish(merging, &journal)
            } else if run.run.isInPlace {
                try finishInPlace(&journal)
            } else {
                try goForward(&journal)
            }
        case .undecided where settings.onBoth != .fail:
            // The caller has chosen one of the stores; the next plan applies the choice.
            try goBack(&journal, keepsAside: true)
            return .back
        case .undecided:
            throw MigrationError(
                .needsDecision,
                "an interrupted run left neither the former nor the new content",
                path: run.run.new.path,
                advice:
                    "The former content is in \(DisplacedFiles.name(for: run.run.transaction)) beside it; share again, and"
                    + " decide which store's content to keep.",
                next: .share(old: run.run.old.path, new: run.run.new.path, onBoth: .keepOld)
            )
        }
        return decision
    }

    /// What the recovered run kept: the store that it replaced, and the rows that lost in its merge.
    var findings: [Finding] {
        let displaced = try? DisplacedFiles.store(displacedFrom: run.run.new, by: run.run.transaction)
        let losing = run.merging.flatMap { merging in
            let name = MergeRecords.name(of: .parked, merging.epoch)
            return (try? stateFolder.losingRows())?.first { $0.hasSuffix("/" + name) }
        }
        return [displaced.map(Finding.storeKept(at:)), losing.map(Finding.losingRows(at:))].compactMap(\.self)
    }

    // MARK: Back

    private var logger: Logger { surroundings.logger }
    private var inspector: StoreInspector { surroundings.silent.inspector(.layout) }

    /// Rolls back what the run made before its commit point.
    ///
    /// With `keepsAside`, the store's former content stays in the displaced files. `mayHaveFenced` is false for a run that
    /// certainly set no fence: the old store is not read then.
    func goBack(_ journal: inout MigrationJournal, keepsAside: Bool = false, mayHaveFenced: Bool = true) throws {
        let new = run.run.new
        if let container = try opened ?? gatherer.folder(of: new) {
            // A store that was written to since may have the run's content, which refers to these files.
            if !keepsAside {
                let externalFiles = run.publication?.externalFiles ?? run.replacement?.externalFiles ?? [:]
                try StagedExternalFiles.takeBack(externalFiles, of: new, in: container)
            }
            if let aside = try asideFolder(in: container) {
                if run.publication != nil {
                    try aside.putBack(to: new)
                } else {
                    try ExternalFilesOfDisplacedStore.restore(from: aside.folder, to: new, in: container)
                    if !keepsAside { try aside.remove() }
                }
            }
            try stagingFolder(in: container)?.remove()
        }
        // The fence of an earlier run stays, because that run is in force again.
        if mayHaveFenced, run.former?.completion.isFenced != true, !run.run.isInPlace { try liftOwnFence() }
        try MergeRecords.remove(run.run.transaction, in: journal.folder)
        try journal.append(.rolledBack)
        CapturedBase.removeUnneeded(for: journal.state, in: journal.folder)
    }

    private var stateFolder: StateFolder { surroundings.stateFolder(of: run.run.old) }

    /// The displaced files of the run at the destination.
    func asideFolder(in container: Directory) throws -> DisplacedFilesRestorer? {
        try DisplacedFilesRestorer(of: run.run.transaction, identity: run.aside, in: container)
    }

    private func liftOwnFence() throws {
        guard let status = try gatherer.status(of: run.run.old),
            status.identity.mayBe(recorded: run.run.oldIdentity), status.size > 0,
            try gatherer.fence(in: run.run.old)?.transaction == run.run.transaction
        else { return }
        try FenceWriter.lift(from: run.run.old, lockTimeout: surroundings.lockTimeout)
    }

    // MARK: Forward

    private func context() throws -> RunContext {
        var context = try RunContext(
            transaction: run.run.transaction,
            old: run.run.old,
            new: run.run.new,
            settings: settings,
            surroundings: surroundings
        )
        context.descriptions = [StoreRole: PersistentStoreDescription](byRoleName: run.run.descriptions ?? [:])
        return context
    }

    /// Finishes a committed merge.
    private func finish(_ merging: JournalRecord.Merging, _ journal: inout MigrationJournal) throws {
        for finding in try MergeCloser(context(), merging).close(&journal, nil, nil, []).findings {
            logger.notice("\(finding.message)")
        }
    }

    /// Makes a published copy durable, and records it.
    func secure(_ identity: FileIdentity, in container: Directory, _ journal: inout MigrationJournal) throws {
        guard run.published == nil else { return }
        try container.synchronize()
        try journal.append(.published(identity))
    }

    /// Removes external files that only the displaced store used.
    func tidy(_ container: Directory) throws {
        guard let replacement = run.replacement, let aside = try asideFolder(in: container) else { return }
        try ExternalFilesOfDisplacedStore.remove(
            replacement.removal,
            keptIn: aside.folder,
            of: run.run.new,
            in: container
        )
    }

    func stagingFolder(in container: Directory) throws -> StagingFolder? {
        try StagingFolder(of: run.run.transaction, identity: run.staging, in: container)
    }

    private func goForward(_ journal: inout MigrationJournal) throws {
        var context = try context()
        guard let identity = try context.container.status(of: run.run.new.name)?.identity,
            let oldToken = run.publication?.oldToken ?? run.replacement?.oldToken
        else { throw MigrationError(.interrupted, "the new store is missing", path: run.run.new.path) }
        let condition = try inspector.inspect(run.run.old)
        if case .unreadable(let store) = condition { throw MigrationError(store).asInterrupted }
        let inspection = condition.inspection
        try secure(identity, in: context.container, &journal)
        let isUntouched = try context.oldFolder.token(of: run.run.old.name) == oldToken
        let isFenced = run.isFenced || inspection?.fence?.transaction == run.run.transaction
        if let inspection { try fence(context, inspection, &journal) }
        let proof = RecoveryProof(run, level: settings.level, surroundings: surroundings)
        let content: RecoveryProof.Content
        do {
            content = try proof.content(hasOldContent: inspection != nil && (isUntouched || isFenced))
        } catch let error as MigrationError where error.outcome == .verificationFailed {
            try liftOwnFence()
            try stagingFolder(in: context.container)?.remove()
            // The stores are independent from here on: no later run may treat the new one as a proved copy.
            try journal.append(.unfenced)
            throw error
        }
        try journal.append(.proved(digest: content.old))
        guard let newStore = try inspector.inspect(run.run.new).inspection else {
            throw MigrationError(.interrupted, "the new store cannot be read", path: run.run.new.path)
        }
        try tidy(context.container)
        for finding in context.relayCarriage.carry() { logger.notice("\(finding.message)") }
        if run.run.descriptions == nil {
            context.descriptions = [.app: (inspection ?? newStore).mirroredDescription(at: run.run.new)]
        }
        try RunEnding(
            context: context,
            new: RunEnding.NewStore(
                identity: identity,
                uuid: newStore.uuid,
                schemaCookie: newStore.uuid == nil ? newStore.header.schemaCookie : nil,
                digest: content.new
            ),
            origins: .copied(isRecovered: true),
            isFenced: inspection != nil && run.run.policy == .fence
        )
        .finish(&journal, content: content.old, removing: stagingFolder(in: context.container)) { journal in
            let oldState = try oldState(context, hasOld: inspection != nil, digest: content.old, token: oldToken)
            // After late writes, only the new store still has the common state.
            if inspection != nil, oldState.takenAt == 0, let base = try untouchedBase(proof) {
                try journal.append(.base(base))
            }
            return oldState
        }
    }

    /// A copy of the new store, if its content is exactly the shared one.
    private func untouchedBase(_ proof: RecoveryProof) throws -> JournalRecord.BaseFile? {
        guard try proof.isUntouched() else { return nil }
        let folder = try stateFolder.open()
        let base = try gatherer.reader.withView(of: run.run.new) {
            try CapturedBase.keep($0, of: run.run.transaction, in: folder)
        }
        guard try !proof.isUntouched() else { return base }
        try CapturedBase.removeAll(except: [], in: folder)
        return nil
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
                lockTimeout: surroundings.lockTimeout
            )
            try connection.inTransaction(until: context.lockDeadline()) {
                let writer = FenceWriter(connection)
                try writer.lift()
                _ = try writer.set(transaction: run.run.transaction, newPath: run.run.new.path)
            }
            try connection.close()
        }
        try journal.append(.fenced)
    }

    /// The old store's state; its token is valid only if it still has the shared content.
    private func oldState(
        _ context: RunContext,
        hasOld: Bool,
        digest: String,
        token: FileToken
    ) throws -> JournalRecord.OldState {
        let settled = SettledDigest(copied: digest)
        guard hasOld else { return JournalRecord.OldState(token: token, takenAt: 0, settled) }
        let reading = try OldStateRecorder.read(run.run.old, in: context.oldFolder)
        if try gatherer.digest(of: run.run.old) == digest { return reading.state(settled) }
        return JournalRecord.OldState(token: token, takenAt: 0, settled)
    }
}

extension RunRecovery {
    /// Finishes a restore or a migration whose content is in place: there is no old store to fence and no receipt to
    /// write.
    func finishInPlace(_ journal: inout MigrationJournal) throws {
        let place = run.run.new
        guard let container = try gatherer.folder(of: place), let status = try container.status(of: place.name) else {
            throw MigrationError(.interrupted, "the published store is missing", path: place.path)
        }
        try secure(status.identity, in: container, &journal)
        // A file that a program has written to since may differ; an untouched file must equal the backup.
        if let digest = run.run.restores, let publication = run.publication, status.size == publication.size,
            status.modified == publication.modified, try !container.token(of: place.name).hasUnfinishedWork,
            try gatherer.digest(of: place) != digest
        {
            throw MigrationError(
                .verificationFailed,
                "the restored store differs from the backup",
                path: place.path,
                advice: "Check the disk, then restore again with the overwrite policy always.",
                next: .verify(store: place.path)
            )
        }
        try tidy(container)
        try RunEnding.closeInPlace(
            migrating: run.run.migratesInPlace,
            removing: stagingFolder(in: container),
            &journal
        )
    }
}
