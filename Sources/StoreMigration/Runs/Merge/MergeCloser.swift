import ChangeMerging
import ChangeRelay
import SafeFiles
import StoreAccess
import StoreFormat
import StoreVerification

/// Finishes a run whose merge is committed: proves the merged store, copies change notices, and has `RunEnding` record it.
struct MergeCloser {
    private let context: RunContext
    private let merging: JournalRecord.Merging
    private let leftMark: Bool

    /// `leftMark` is false for a merge without changes, which wrote nothing.
    init(_ context: RunContext, _ merging: JournalRecord.Merging, leftMark: Bool = true) {
        self.context = context
        self.merging = merging
        self.leftMark = leftMark
    }

    /// The store that received the changes.
    private var into: StoreLocation { merging.takesNew == true ? context.old : context.new }

    /// Everything after the commit point; `summary` and `records` are nil when recovery finishes the merge.
    func close(
        _ journal: inout MigrationJournal,
        _ summary: MergeSummary?,
        _ records: MergeRecords?,
        _ findings: [Finding]
    ) throws -> RunResult {
        guard case .interrupted(let run) = journal.state else {
            throw MigrationError(.failed, "the journal was closed by another run", path: context.stateFolder.path)
        }
        let folder = try context.stateFolder.open()
        let (proof, failure) = try prove(in: folder)
        let store = try identify(isCounted: failure == nil && merging.takesNew != true)
        var findings = findings + proof.findings
        if merging.takesNew == true {
            findings += MergeAnnouncement(into, epoch: merging.epoch).post()
            try RunEnding.close(&journal, completionOfOldStore(run), in: context.stateFolder)
        } else {
            findings += try endNewStore(run, store, hasFailed: failure != nil, in: folder, &journal)
        }
        findings += MergeSettlement(of: into, context.surroundings).forget(merging.epoch)
        if let failure { throw failure }
        return RunResult(
            transaction: context.transaction,
            digest: merging.oldState?.digest ?? store.digest,
            newDigest: store.digest,
            objects: store.objects,
            report: proof.report,
            work: nil,
            findings: findings,
            descriptions: context.descriptions,
            merge: summary.map {
                ShareOutcome.Merge(
                    summary: $0,
                    epoch: merging.epoch,
                    into: merging.into.path,
                    from: merging.from.path,
                    parkedRows: records?.path(of: .parked),
                    rekeyedObjects: records?.path(of: .rekeyed)
                )
            }
        )
    }

    private struct MergedStore {
        let uuid: String?
        let schemaCookie: UInt32?
        let digest: String
        /// Nil if they were not or could not be counted.
        let objects: Int64?
    }

    /// Copies change notices, and ends the run over a new store that received the old one's changes.
    private func endNewStore(
        _ run: RunState.InterruptedRun,
        _ store: MergedStore,
        hasFailed: Bool,
        in folder: Directory,
        _ journal: inout MigrationJournal
    ) throws -> [Finding] {
        guard let identity = try context.container.status(of: context.new.name)?.identity,
            let oldState = merging.oldState
        else { throw MigrationError(.interrupted, "the new store is missing", path: context.new.path) }
        if hasFailed { try liftFence(run) }
        let addresses = try RekeyedAddresses(of: merging, in: folder, stores: (oldUUID(), store.uuid))
        let findings =
            context.relayCarriage.carry(through: addresses) + MergeAnnouncement(into, epoch: merging.epoch).post()
        try RunEnding(
            context: context,
            new: RunEnding.NewStore(
                identity: identity,
                uuid: store.uuid,
                schemaCookie: store.schemaCookie,
                digest: store.digest
            ),
            // An earlier run's fence names that run, which the receipt must list in case the journal is lost.
            origins: .present(except: run.isFenced ? run.former?.run.transaction : nil),
            isFenced: !hasFailed && (run.isFenced || run.former?.completion.isFenced == true)
        )
        .finish(&journal, content: oldState.digest) { _ in oldState }
        return findings
    }

    /// The new store was only read, so its identity and receipt stay.
    private func completionOfOldStore(_ run: RunState.InterruptedRun) throws -> JournalRecord.Completion {
        guard let former = run.former?.completion, let oldState = merging.oldState else {
            throw MigrationError(.failed, "the record of the pair is missing", path: context.stateFolder.path)
        }
        return JournalRecord.Completion(
            new: former.new,
            newUUID: former.newUUID,
            newSchemaCookie: former.newSchemaCookie,
            newBirth: former.newBirth,
            objects: nil,
            oldState: oldState,
            isFenced: former.isFenced
        )
    }

    private func oldUUID() throws -> String? {
        try context.surroundings.reader.read(context.old) { try StoreMetadata(reading: $0.connection)?.uuid }
    }

    /// Proves the merged store including concurrent writes; a defect that the old store had already is not a failure of
    /// the merge.
    ///
    /// A failed proof does not stop the run from ending, so that the merge can be undone.
    private func prove(in folder: Directory) throws -> (StoreProof, failure: MigrationError?) {
        let prover = StoreProver(level: context.settings.level, probe: context.mergeProbe, monitor: context.monitor)
        let before = try merging.base.map {
            try StoreConnection(StoreLocation(folder: folder.path, name: $0.name), access: .immutable)
        }
        do {
            let proof = try context.surroundings.reader.readForProof(into, upTo: context.settings.level) { view in
                try prover.prove(
                    view.connection,
                    at: into,
                    as: into,
                    externalData: view.externalData,
                    comparingWith: before
                )
            }
            return (proof, nil)
        } catch let error as MigrationError where error.outcome == .verificationFailed {
            return (StoreProof(findings: error.findings), failure(error))
        }
    }

    /// Identifies the merged store.
    ///
    /// Since the commit, another process may have replaced the store or removed its log: without the mark of this
    /// merge, the result is not vouched for.
    private func identify(isCounted: Bool) throws -> MergedStore {
        try context.surroundings.reader.read(into) { view in
            guard try !leftMark || StoreMerger.hasSeen(merging.epoch, in: view.connection) else {
                throw MigrationError(
                    .interrupted,
                    "the store lacks the merge that was committed to it",
                    path: into.path,
                    next: .resume(old: context.old.path)
                )
            }
            let uuid = try StoreMetadata(reading: view.connection)?.uuid
            let inspector = context.surroundings.silent.inspector(.counts)
            return MergedStore(
                uuid: uuid,
                schemaCookie: uuid == nil ? try StoreHeader(reading: view.connection).schemaCookie : nil,
                digest: try StoreDigest(
                    of: view.connection,
                    externalData: view.externalData,
                    monitor: context.monitor
                )
                .value,
                // The number is for the report: the run ends without it.
                objects: isCounted ? try? inspector.inspection(of: into, through: view).objectCount : nil
            )
        }
    }

    /// Makes the old store writable again if this run fenced it.
    private func liftFence(_ run: RunState.InterruptedRun) throws {
        guard run.isFenced else { return }
        try FenceWriter.lift(from: context.old, lockTimeout: context.surroundings.lockTimeout)
    }

    private func failure(_ error: MigrationError) -> MigrationError {
        MigrationError(
            .verificationFailed,
            "the merged store failed verification: \(error.message)",
            path: error.path.isEmpty ? into.path : error.path,
            advice: "Undo the merge with the unmerge command. Both stores were kept, and the old one is writable.",
            next: .unmerge(into: into.path),
            findings: error.findings,
            report: error.report,
            underlyingError: error
        )
    }
}

/// Notifies programs that have the merged store open.
struct MergeAnnouncement {
    private let store: StoreLocation
    private let epoch: String
    private let number: Int64

    /// `number` distinguishes the events of one merge.
    init(_ store: StoreLocation, epoch: String, number: Int64 = 1) {
        self.store = store
        self.epoch = epoch
        self.number = number
    }

    /// Posts to an existing relay and wake file; creates neither.
    ///
    /// Idempotent: the relay keeps each key once.
    func post() -> [Finding] {
        do {
            let folder = try Directory.open(path: store.folder)
            if let queue = try RelayQueue.existing(beside: store) {
                try queue.post(
                    ChangeNotice(
                        key: .init(writer: "store-migrate-\(epoch)", number: number),
                        author: "store-migrate",
                        content: .everything
                    )
                )
            }
            if try folder.status(of: RemoteChangeNotification.name(for: store.name)) != nil {
                try RemoteChangeNotification(beside: store).post()
            }
            return []
        } catch {
            return [
                Finding(
                    .relayNotCarried,
                    .warning,
                    level: .merging,
                    "posting the merge's change notice failed, so every program should refresh all it shows: \(error)",
                    path: store.path
                )
            ]
        }
    }
}
