import ChangeMerging
import Logging
import SafeFiles
import StoreAccess
import StoreFormat
import StoreStrategies
import StoreVerification

/// The share from the new store to the old one, with its journal beside the new store.
struct ReverseShare {
    let old: StoreLocation
    let new: StoreLocation
    let settings: RunSettings
    /// The journal is beside the new store.
    let surroundings: Surroundings
    /// The runs of the old store's journal, whose fences an unshare removes.
    var runs: Set<String> = []

    private var stateFolder: StateFolder { surroundings.stateFolder(of: new) }
    private var gatherer: FactsGatherer { FactsGatherer(old: old, new: new, surroundings: surroundings) }

    /// Checked before the unshare is journalled: its journal may be in a folder of another member of the group.
    func requireJournal() throws {
        do {
            try stateFolder.requireWritable()
            _ = try stateFolder.state()
        } catch {
            let cause = MigrationError(error)
            guard cause.outcome == .notWritable else { throw cause }
            // Root becomes the owner of the old store, and has no more rights than that user.
            let isThere = try gatherer.folder(of: new)?.status(of: StateFolder.name) != nil
            throw MigrationError(
                .notWritable,
                "cannot create the unshare's journal beside the new store: \(cause.message)",
                path: isThere ? new.folder + "/" + StateFolder.name : new.folder,
                advice: "Nothing was changed. "
                    + (isThere
                        ? "Have the owner of this folder remove it, once no run of theirs needs it."
                        : "Let the owner of the old store write to this folder, with chmod or setfacl."),
                underlyingError: error
            )
        }
    }

    /// Keeps the old store's shared content as a base in `folder` when a killed attempt was followed by a late write.
    ///
    /// Nil otherwise, and when the displaced copy is not the journalled one. Called before that attempt is rolled back,
    /// which may remove its journal.
    func keepReplacedContent(_ transaction: String, in folder: Directory) throws -> JournalRecord.BaseFile? {
        guard case .interrupted(let run) = try stateFolder.state(), run.run.transaction == transaction,
            let replacement = run.replacement, let oldFolder = try gatherer.folder(of: old),
            let aside = try DisplacedFilesRestorer(of: transaction, identity: run.aside, in: oldFolder)
        else { return nil }
        let recovery = try RunRecovery(run, settings: settings, surroundings: surroundings)
        let copy = StoreLocation(folder: aside.folder.path, name: old.name)
        guard try recovery.decision() == .undecided, try aside.folder.status(of: copy.name).map({ $0.size > 0 }) == true
        else { return nil }
        return try gatherer.reader.withView(of: copy) { view in
            let digest = try StoreDigest(of: view.connection, externalFiles: nil, monitor: surroundings.monitor).value
            return digest == replacement.loserDigest ? try CapturedBase.keep(view, of: transaction, in: folder) : nil
        }
    }

    /// Copies the new store over the old one; nil when an earlier attempt did.
    ///
    /// Throws `DestinationWritten` when the old store no longer has the shared content, and `DestinationAppeared` when
    /// a retired store's path has a store with objects; nothing is replaced then.
    func bringBack(_ shared: RunState.SharedRun, _ transaction: String) throws -> RunResult? {
        try stateFolder.withJournal(deadline: surroundings.lockDeadline()) { journal in
            if case .interrupted(let run) = journal.state {
                try RunRecovery(run, settings: settings, surroundings: surroundings).recover(&journal)
            }
            switch journal.state {
            case .shared(let run), .retired(let run, _):
                if run.run.transaction == transaction { return nil }
            default: break
            }
            // Every member of the group may remove this journal. Late writes after a finished unshare must not be
            // replaced by a second one.
            if try unjournalled(transaction, of: shared) != nil { return nil }
            // An earlier attempt kept this folder because it found neither the former nor the new content: the store
            // was written to.
            let aside = DisplacedFiles.name(for: transaction)
            guard try gatherer.folder(of: old)?.status(of: aside) == nil else { throw DestinationWritten() }
            let condition = try inspector.inspect(new)
            if case .unreadable(let store) = condition { throw store }
            guard let inspection = condition.inspection else {
                throw MigrationError(.nothingFound, "the new store is missing", path: new.path)
            }
            try liftFence(of: transaction)
            // The copy checks this UUID again under the store's lock.
            guard inspection.uuid == shared.completion.newUUID else { throw notAtItsPlace }
            return try copy(inspection, back: shared, transaction, &journal)
        }
    }

    /// Removes the fence of an attempt that ended before it replaced anything, and that has no journal any more.
    ///
    /// A commit whose fsync failed is rolled back in that process, and later ones may find it in the log all the same.
    private func liftFence(of transaction: String) throws {
        guard try gatherer.status(of: new) != nil, try gatherer.fence(in: new)?.transaction == transaction else {
            return
        }
        try FenceWriter.lift(from: new, lockTimeout: surroundings.lockTimeout)
    }

    /// Removes what an interrupted run created; returns false if the run has replaced the old store's content.
    func rollBack(_ shared: RunState.SharedRun, _ transaction: String) throws -> Bool {
        if case .none = try stateFolder.state() {
            guard try unjournalled(transaction, of: shared) == nil, try keptAside(transaction) == nil else {
                return false
            }
            try liftFence(of: transaction)
            return true
        }
        return try stateFolder.withJournal(deadline: surroundings.lockDeadline()) { journal in
            if case .interrupted(let run) = journal.state, run.run.transaction == transaction {
                let recovery = try RunRecovery(run, settings: settings, surroundings: surroundings)
                guard try recovery.decision() == .back else { return false }
                try recovery.recover(&journal)
            }
            switch journal.state {
            case .shared(let run) where run.run.transaction == transaction: return false
            case .retired(let run, _) where run.run.transaction == transaction: return false
            default: return try keptAside(transaction) == nil
            }
        }
    }

    /// The copy of the old store that this run replaced; nil if the old path was vacant.
    func keptAside(_ transaction: String) throws -> StoreLocation? {
        try DisplacedFiles.store(displacedFrom: old, by: transaction)
    }

    /// The state that a lost journal of a finished unshare would have; nil if the new store shows no finished unshare.
    ///
    /// The new store's fence contains the transaction ID. It is committed before the content is published, so that the old
    /// store must differ from its displaced copy, too. The name of a withdrawn store contains the ID.
    func unjournalled(_ transaction: String, of shared: RunState.SharedRun) throws -> RunState.SharedRun? {
        guard case .none = try stateFolder.state(), let folder = try gatherer.folder(of: new),
            let placed = try gatherer.status(of: old)?.identity, try gatherer.fence(in: old) == nil
        else { return nil }
        let withdrawn = StoreLocation(
            folder: new.folder,
            name: RetirementDisposition.withdrawn.name(of: new, transaction: transaction)
        )
        for place in [new, withdrawn] {
            guard try folder.status(of: place.name) != nil else { continue }
            let reading = try OldStateRecorder.read(place, in: folder)
            guard let inspection = try inspector.inspect(place).inspection,
                inspection.fence?.transaction == transaction, try !isFormer(shared, transaction, not: place)
            else { return nil }
            let state = try reading.state(SettledDigest(copied: gatherer.digest(of: place)))
            return RunState.SharedRun(
                run: JournalRecord.RunIdentity(
                    transaction: transaction,
                    old: new,
                    oldIdentity: inspection.identity,
                    new: old,
                    policy: .fence
                ),
                completion: JournalRecord.Completion(
                    new: placed,
                    newUUID: inspection.uuid,
                    objects: nil,
                    oldState: state,
                    isFenced: true
                ),
                oldState: state
            )
        }
        return nil
    }

    /// True if the old store still has the content of the copy made of it, and not that of the store at `place`; without a copy,
    /// if this run has not written the receipt beside it.
    private func isFormer(_ shared: RunState.SharedRun, _ transaction: String, not place: StoreLocation) throws -> Bool
    {
        guard let kept = try keptAside(transaction) else {
            // At a retired store's path there was nothing to copy.
            guard shared.retiredTo == nil, let folder = try gatherer.folder(of: old) else { return false }
            return try Receipt(beside: old.name, in: folder)?.names(transaction) != true
        }
        let digest = try gatherer.rowDigest(of: old)
        return try digest == gatherer.rowDigest(of: kept) && digest != gatherer.rowDigest(of: place)
    }

    private func copy(
        _ inspection: StoreInspection,
        back shared: RunState.SharedRun,
        _ transaction: String,
        _ journal: inout MigrationJournal
    ) throws -> RunResult {
        var settings = settings
        // A store that an unshare withdrew was never the old store of a share: the choices are those of the other direction.
        settings.choices = shared.retiredTo != nil && shared.isWithdrawn ? nil : shared.run.choices
        // A store that was created at a retired store's path was never shared.
        if shared.retiredTo != nil { settings.onBoth = .fail }
        var context = try RunContext(
            transaction: transaction,
            old: new,
            new: old,
            settings: settings,
            surroundings: surroundings
        )
        context.descriptions = [.app: inspection.mirroredDescription(at: old)]
        guard try gatherer.status(of: old) != nil else {
            let run = CopyRun(context, inspection: inspection, to: VacantDestination(context))
            return try JournalledRun(run).carryOut(&journal)
        }
        let expected = shared.retiredTo == nil ? RequiredState(shared.oldState) : nil
        let place = OccupiedDestination(reverse: context, expecting: expected, lifting: runs)
        return try JournalledRun(CopyRun(context, inspection: inspection, to: place)).carryOut(&journal)
    }

    private var inspector: StoreInspector { surroundings.inspector(.counts) }

    var notAtItsPlace: MigrationError {
        MigrationError(
            .needsDecision,
            "the new path does not have the store that was shared",
            path: new.path,
            next: .status(old: old.path, new: new.path)
        )
    }
}
