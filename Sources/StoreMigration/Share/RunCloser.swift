import ChangeMerging
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
    private let progress: CopyProgress
    private let placed: PlacedStore?
    private let inspection: StoreInspection

    init(_ context: RunContext, _ progress: CopyProgress, placed: PlacedStore?, inspection: StoreInspection) {
        self.context = context
        self.progress = progress
        self.placed = placed
        self.inspection = inspection
    }

    /// Everything after the commit point.
    func close(_ journal: inout MigrationJournal) throws -> RunResult {
        guard let copy = progress.copy, let placed, let oldStore = progress.oldStore else {
            throw MigrationError(.failed, "no store was published", path: context.new.path)
        }
        let proof: StoreProof
        do {
            proof = try prove(copy, placed)
        } catch let error as MigrationError where error.outcome == .verificationFailed {
            try liftFence()
            try progress.nest?.remove()
            // From here on the two stores are two stores: no later run may take the new one for a proved copy.
            try journal.append(.unfenced)
            throw MigrationError(
                .verificationFailed,
                error.message,
                path: error.path.isEmpty ? context.new.path : error.path,
                advice: "Both stores were kept, and \(context.old.path) takes writes again; use it, not the new one.",
                next: .verify(store: context.new.path),
                findings: error.findings,
                report: error.report,
                underlyingError: error
            )
        }
        let digest = try progress.digest ?? proof.digest?.value ?? contentDigest(of: copy)
        try journal.append(.proved(digest: digest))
        let bytes = try byteCount(copy)
        let externalFiles = copy.external.count
        try copy.closeSource()
        let objects = oldStore.isAsInspected(inspection) ? inspection.objectCount : try countedObjects()

        let relay = RelayCarriage(old: context.old, new: context.new, options: context.options).carry()
        let newDigest = try context.addedHistory != nil ? proof.copyDigest?.value ?? newStoreDigest() : digest
        try Receipt(
            transaction: context.transaction,
            old: context.old.path,
            storeUUID: inspection.uuid,
            digest: newDigest,
            oldDigest: newDigest == digest ? nil : digest,
            token: placed.token,
            descriptions: context.descriptions.byRoleName
        )
        .remembering(predecessorsOf: context.old, in: context.oldFolder, policy: context.options.oldStore)
        .write(beside: context.new.name, in: context.container)
        try progress.nest?.remove()
        // As late as can be: a token is trusted once its timestamps are older than the kernel's tick.
        let reading = try oldStore.youngestReading(of: context.old, in: context.oldFolder)
        try progress.lock?.close()
        try journal.append(
            .done(
                JournalRecord.Completion(
                    new: placed.identity,
                    newUUID: inspection.uuid,
                    objects: objects,
                    oldState: reading.state(SettledDigest(copied: digest)),
                    isFenced: context.options.oldStore == .fence
                )
            )
        )
        CapturedBase.removeUnneeded(for: journal.state, in: try context.stateFolder.open())
        return RunResult(
            transaction: context.transaction,
            digest: digest,
            objects: objects,
            report: proof.report,
            work: ShareOutcome.Work(
                bytes: bytes,
                externalFiles: externalFiles,
                lockHold: progress.lockHold,
                isFenced: context.options.oldStore == .fence
            ),
            findings: progress.findings + proof.findings + modeFindings + relay,
            descriptions: context.descriptions
        )
    }

    /// The proof made before the copy appeared when it still holds; what is missing is proved on the store in place.
    private func prove(_ copy: StagedCopy, _ placed: PlacedStore) throws -> StoreProof {
        if let proof = copy.proof, !copy.changedSinceProof, proof.digest != nil || context.options.level < .content {
            return proof
        }
        let prover = StoreProver(options: context.options, probe: context.mergeProbe, monitor: context.monitor)
        let reader = StoreReader(
            lockTimeout: context.options.effectiveLockTimeout,
            allowsNetworkFileSystem: context.options.allowsNetworkFileSystem,
            monitor: context.monitor
        )
        return try reader.withView(of: context.new) { view in
            let isComparable =
                try context.options.level >= .content && isUntouched(placed, in: view)
            // Consumers may be at work in a moment: what they do later is not held against the copy.
            let differing =
                isComparable ? try copy.external.differingFiles(from: context.new, in: context.container) : []
            var proof =
                try prover.prove(
                    view.connection,
                    at: context.new,
                    as: context.new,
                    externalData: view.externalData,
                    comparingWith: copy.source,
                    continuing: copy.proof?.withoutContent,
                    content: isComparable
                        ? .comparison(original: copy.source, differingFiles: { differing }) : .nothing,
                    externalFiles: externalDigest(of: copy),
                    leavingOut: context.addedHistory
                )
            if context.options.level >= .content, !isComparable {
                proof.findings.append(.writtenWhileProving(at: context.new))
            }
            return proof
        }
    }

    /// False when a consumer has begun to change the store in place: it cannot be compared any more.
    private func isUntouched(_ placed: PlacedStore, in view: StoreView) throws -> Bool {
        guard let token = placed.token, view.token.holdsSameContent(as: token) else { return false }
        return try context.container.token(of: context.new.name).holdsSameContent(as: token)
    }

    /// The digest of what was shared, taken from the old store: it is pinned to that, or writers are refused.
    private func contentDigest(of copy: StagedCopy) throws -> String {
        try StoreDigest(of: copy.source, externalFiles: externalDigest(of: copy), monitor: context.monitor).value
    }

    /// The content digest of the new store, where the proof did not take it.
    private func newStoreDigest() throws -> String {
        try FactsGatherer(old: context.old, new: context.new, options: context.options, monitor: context.monitor)
            .digest(of: context.new)
    }

    /// The digest of the external files that were copied; a writer that was refused may have left others.
    private func externalDigest(of copy: StagedCopy) throws -> String? {
        let files = copy.external.identities.names
        return try context.oldFolder.externalData(of: context.old)
            .flatMap { folder in
                try StoreDigest.digest(
                    ofFilesIn: folder,
                    named: { files.place(of: $0) != nil },
                    monitor: context.monitor
                )
            }
    }

    /// Gives the old store back to its writers, because what was published cannot be trusted.
    private func liftFence() throws {
        progress.copy?.source.rollback()
        guard let lock = progress.lock, context.options.oldStore == .fence else { return }
        try lock.beginWriting(deadline: context.lockDeadline())
        try FenceWriter(lock).lift()
        try lock.commit(deadline: context.lockDeadline())
    }

    /// Counts again when writers changed the old store after it was inspected.
    private func countedObjects() throws -> Int64? {
        let lockTimeout = context.options.effectiveLockTimeout
        return try StoreInspector(depth: .counts, lockTimeout: lockTimeout, listsExternalFiles: false)
            .inspect(context.new).inspection?
            .objectCount
    }

    private func byteCount(_ copy: StagedCopy) throws -> Int64 {
        try (context.container.status(of: context.new.name)?.size ?? 0) + copy.external.bytes
    }

    private var modeFindings: [Finding] {
        guard context.described?.treatment.mode == nil, inspection.mode & 0o060 != 0o060 else { return [] }
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
