import FoundationEssentials
import SafeFiles
public import StoreFormat
import StoreStrategies
import StoreVerification

extension Finding.Code {
    /// Somebody wrote to the new store before it could be compared; what was copied had been proved page by page.
    public static let writtenWhileProving = Finding.Code(rawValue: "writtenWhileProving")
    /// The files carry the old store's mode, which leaves other members of the group out.
    public static let notGroupReadable = Finding.Code(rawValue: "notGroupReadable")
}

/// Ends a run whose store is in place: proves what could not be proved before, writes the receipt, cleans up.
struct RunCloser {
    private let context: RunContext
    private let published: PublishedStore
    private let inspection: StoreInspection

    init(_ context: RunContext, published: PublishedStore, inspection: StoreInspection) {
        self.context = context
        self.published = published
        self.inspection = inspection
    }

    /// Everything after the commit point.
    func close(_ journal: inout MigrationJournal) throws -> RunResult {
        guard let copy = published.copy, let identity = published.identity else {
            throw MigrationError(.failed, "no store was published", path: context.new.path)
        }
        var findings = published.findings
        let proof: StoreProof
        do {
            proof = try prove(copy, findings: &findings)
        } catch let error as MigrationError where error.outcome == .verificationFailed {
            try liftFence()
            throw error
        }
        let digest = try proof.digest?.value ?? contentDigest(of: copy)
        try journal.append(.proved(digest: digest))
        let bytes = try byteCount(copy)
        let externalFiles = copy.external.identities.count
        try published.lock?.close()
        try copy.closeSource()
        let objects = copy.changedSinceProof ? try countedObjects() : inspection.objectCount

        let descriptions = context.mirroredDescriptions(of: inspection)
        try Receipt(
            transaction: context.transaction,
            old: context.old.path,
            storeUUID: inspection.uuid,
            digest: digest,
            descriptions: descriptions
        )
        .write(beside: context.new.name, in: context.container)
        try published.nest?.remove()
        try journal.append(
            .done(
                JournalRecord.Completion(
                    new: identity,
                    newUUID: inspection.uuid,
                    objects: objects,
                    oldState: OldStateRecorder.state(of: context.old, in: context.oldFolder, digest: digest),
                    isFenced: context.options.oldStore == .fence
                )
            )
        )
        return RunResult(
            transaction: context.transaction,
            digest: digest,
            objects: objects,
            report: proof.report,
            work: ShareOutcome.Work(
                bytes: bytes,
                externalFiles: externalFiles,
                lockHold: published.lockHold,
                isFenced: context.options.oldStore == .fence
            ),
            findings: findings + proof.findings + modeFindings,
            descriptions: descriptions
        )
    }

    /// The proof made before the lock when it still holds; what is missing is proved on the store in place.
    private func prove(_ copy: StagedCopy, findings: inout [Finding]) throws -> StoreProof {
        if let proof = copy.proof, !copy.changedSinceProof, proof.digest != nil || context.options.level < .content {
            return proof
        }
        let prover = StoreProver(options: context.options, monitor: context.monitor)
        let reader = StoreReader(
            lockTimeout: context.options.effectiveLockTimeout,
            allowsNetworkFileSystem: context.options.allowsNetworkFileSystem,
            monitor: context.monitor
        )
        return try reader.withView(of: context.new) { view in
            var proof =
                try copy.proof?.withoutContent
                ?? prover.prove(
                    view.connection,
                    at: context.new,
                    externalData: view.externalData,
                    comparingWith: copy.source
                )
            guard context.options.level >= .content else { return proof }
            guard let token = published.token, view.token.holdsSameContent(as: token) else {
                findings.append(.writtenWhileProving(at: context.new))
                return proof
            }
            guard copy.journalMode == .wal || context.options.oldStore == .fence else {
                // Nothing pins a store in rollback mode that stays writable; the bytes were compared under its lock.
                try prover.takeDigest(&proof, of: view.connection, externalData: view.externalData)
                return proof
            }
            try prover.compare(
                &proof,
                copy: view.connection,
                externalData: view.externalData,
                original: copy.source,
                originalExternalData: context.oldFolder.externalData(of: context.old)
            )
            return proof
        }
    }

    private func contentDigest(of copy: StagedCopy) throws -> String {
        try StoreDigest(
            of: copy.source,
            externalData: context.oldFolder.externalData(of: context.old),
            monitor: context.monitor
        )
        .value
    }

    /// Gives the old store back to its writers, because what was published cannot be trusted.
    private func liftFence() throws {
        published.copy?.source.rollback()
        guard let lock = published.lock, context.options.oldStore == .fence else { return }
        try lock.beginWriting(deadline: context.lockDeadline())
        try FenceWriter(lock).lift()
        try lock.commit(deadline: context.lockDeadline())
    }

    /// Counts again when writers changed the old store after it was inspected.
    private func countedObjects() throws -> Int64? {
        try StoreInspector(depth: .counts, lockTimeout: context.options.effectiveLockTimeout)
            .inspect(context.new).inspection?
            .objectCount
    }

    private func byteCount(_ copy: StagedCopy) throws -> Int64 {
        try (context.container.status(of: context.new.name)?.size ?? 0) + copy.external.bytes
    }

    private var modeFindings: [Finding] {
        guard inspection.mode & 0o060 != 0o060 else { return [] }
        return [
            Finding(
                .notGroupReadable,
                .info,
                level: .files,
                "the new store keeps the old one's mode, with which other users of the group cannot write it",
                path: context.new.path
            )
        ]
    }
}

extension Finding {
    fileprivate static func writtenWhileProving(at location: StoreLocation) -> Finding {
        Finding(
            .writtenWhileProving,
            .info,
            level: .content,
            "the new store was written to before it was compared; its pages had been proved when it appeared",
            path: location.path
        )
    }
}
