import ChangeMerging
import SafeFiles
import StoreFormat
import StoreVerification

/// Ends a run whose merge is committed: proves the merged store, takes change notices along, writes the receipt.
struct MergeCloser {
    private let context: RunContext
    private let merging: JournalRecord.Merging

    init(_ context: RunContext, _ merging: JournalRecord.Merging) {
        self.context = context
        self.merging = merging
    }

    /// Everything after the commit point; `summary` and `records` are nil when another process made the merge.
    func close(
        _ journal: inout MigrationJournal,
        _ summary: MergeSummary?,
        _ records: MergeRecords?,
        _ findings: [Finding]
    ) throws -> RunResult {
        guard let identity = try context.container.status(of: context.new.name)?.identity,
            let oldState = merging.oldState
        else { throw MigrationError(.interrupted, "the new store is gone", path: context.new.path) }
        let (proof, uuid, objects, digest) = try prove()
        let folder = try context.stateFolder.open()
        let addresses = try RekeyedAddresses(of: merging.epoch, in: folder, stores: (oldUUID(), uuid))
        var findings = findings + proof.findings
        findings += RelayCarriage(old: context.old, new: context.new, options: context.options)
            .carry(through: addresses)
        findings += MergeAnnouncement(context.new, epoch: merging.epoch).post()
        try Receipt(
            transaction: context.transaction,
            old: context.old.path,
            storeUUID: uuid,
            digest: digest,
            oldDigest: oldState.digest,
            token: nil,
            descriptions: context.descriptions.byRoleName
        )
        .write(beside: context.new.name, in: context.container)
        guard case .interrupted(let run) = journal.state else {
            throw MigrationError(.failed, "the journal was closed by another run", path: context.stateFolder.path)
        }
        try journal.append(
            .done(
                JournalRecord.Completion(
                    new: identity,
                    newUUID: uuid,
                    objects: objects,
                    oldState: oldState,
                    isFenced: run.isFenced || run.former?.completion.isFenced == true
                )
            )
        )
        try forgetEpoch()
        // The former base serves again when the merge is taken back.
        try CapturedBase.removeAll(except: [merging.base, run.former?.base], in: folder)
        return RunResult(
            transaction: context.transaction,
            digest: digest,
            objects: objects,
            report: proof.report,
            work: nil,
            findings: findings,
            descriptions: context.descriptions,
            merge: summary.map { ShareOutcome.Merge(summary: $0, parkedRows: records?.path(of: .parked)) }
        )
    }

    /// The journal knows of the merge now; a store that is none of Core Data's need not keep a table for it.
    private func forgetEpoch() throws {
        let connection = try StoreConnection(
            context.new,
            access: .liveWriting,
            lockTimeout: context.options.effectiveLockTimeout
        )
        try StoreMerger.forgetEpoch(in: connection, deadline: context.lockDeadline())
        try connection.close()
    }

    private func oldUUID() throws -> String? {
        try FactsGatherer(old: context.old, new: context.new, options: context.options, monitor: .silent).reader
            .withView(of: context.old) { try StoreMetadata(reading: $0.connection)?.uuid }
    }

    /// Proves the merged store as it is; what others write to it meanwhile is proved with it.
    private func prove() throws -> (StoreProof, uuid: String?, objects: Int64?, digest: String) {
        let prover = StoreProver(options: context.options, probe: context.mergeProbe, monitor: context.monitor)
        return try FactsGatherer(old: context.old, new: context.new, options: context.options, monitor: context.monitor)
            .reader
            .withView(of: context.new) { view in
                var proof: StoreProof
                do {
                    proof = try prover.prove(
                        view.connection,
                        at: context.new,
                        as: context.new,
                        externalData: view.externalData,
                        comparingWith: nil,
                        content: .digest,
                        externalFiles: try view.externalData
                            .flatMap { try StoreDigest.digest(ofFilesIn: $0, monitor: context.monitor) }
                    )
                } catch let error as MigrationError where error.outcome == .verificationFailed {
                    throw failure(error)
                }
                // The digest was taken, and compared with nothing.
                proof.levels.removeAll { $0.level == .content }
                let digest =
                    try proof.digest
                    ?? StoreDigest(
                        of: view.connection,
                        externalData: view.externalData,
                        monitor: context.monitor
                    )
                return (
                    proof,
                    uuid: try StoreMetadata(reading: view.connection)?.uuid,
                    objects: nil,
                    digest: digest.value
                )
            }
    }

    private func failure(_ error: MigrationError) -> MigrationError {
        MigrationError(
            .verificationFailed,
            error.message,
            path: error.path.isEmpty ? context.new.path : error.path,
            advice: "Both stores were kept. What the merge did can be taken back.",
            next: .unmerge(into: context.new.path),
            findings: error.findings,
            report: error.report,
            underlyingError: error
        )
    }
}
