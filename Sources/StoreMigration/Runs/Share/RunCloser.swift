import ChangeMerging
import FoundationEssentials
import SafeFiles
public import StoreAccess
import StoreFormat
import StoreStrategies
import StoreVerification

extension Finding.Code {
    /// A program wrote to the new store before it was compared; its pages were proved before.
    public static let writtenWhileProving = Finding.Code(rawValue: "writtenWhileProving")
    /// The files have the old store's mode, which excludes other members of the group.
    public static let notGroupReadable = Finding.Code(rawValue: "notGroupReadable")
}

/// Completes the proof of a published store, and gathers what `RunEnding` records.
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
            try progress.staging?.remove()
            // The stores are independent from here on: no later run may treat the new one as a proved copy.
            try journal.append(.unfenced)
            throw MigrationError(
                .verificationFailed,
                error.message,
                path: error.path.isEmpty ? context.new.path : error.path,
                advice: "Use \(context.old.path), which is writable again, not the new store. Both were kept.",
                next: .verify(store: context.new.path),
                findings: error.findings,
                report: error.report,
                underlyingError: error
            )
        }
        let digest = try progress.digest ?? copy.provedDigest ?? proof.digest?.value ?? contentDigest(of: copy)
        try journal.append(.proved(digest: digest))
        let bytes = try byteCount(copy)
        let externalFiles = copy.external.count
        try copy.closeSource()
        let isCounted = copy.migration == nil && oldStore.isAsInspected(inspection)
        let objects = isCounted ? inspection.objectCount : try countedObjects()

        let relay = context.relayCarriage.carry()
        let isFenced = context.settings.treatment == .fence
        try RunEnding(
            context: context,
            new: RunEnding.NewStore(
                identity: placed.identity,
                uuid: inspection.uuid,
                schemaCookie: inspection.uuid == nil ? context.gatherer.schemaCookie(of: context.new) : nil,
                digest: newDigest(copy, proof) ?? digest,
                token: placed.token
            ),
            origins: .copied(isRecovered: false),
            isFenced: isFenced,
            objects: objects
        )
        .finish(&journal, content: digest, removing: progress.staging) { _ in
            let reading = try oldStore.youngestReading(of: context.old, in: context.oldFolder)
            try progress.lock?.close()
            return reading.state(SettledDigest(copied: digest))
        }
        return RunResult(
            transaction: context.transaction,
            digest: digest,
            newDigest: copy.migration?.digest,
            objects: objects,
            report: proof.report,
            work: ShareOutcome.Work(
                bytes: bytes,
                externalFiles: externalFiles,
                lockHold: progress.lockHold,
                isFenced: isFenced,
                migration: copy.migration.flatMap { migrated in
                    context.target.map { ShareOutcome.Migration(target: $0, migrated.mapping, migrated.result) }
                }
            ),
            findings: progress.findings + proof.findings + modeFindings + relay,
            descriptions: context.descriptions
        )
    }

    /// The proof from before publication, if still valid; otherwise the published store is proved for what is missing.
    private func prove(_ copy: StagedCopy, _ placed: PlacedStore) throws -> StoreProof {
        if let migration = copy.migration { return try prove(migration, copy) }
        if let proof = copy.proof, !copy.changedSinceProof, proof.digest != nil || context.settings.level < .content {
            return proof
        }
        let prover = StoreProver(level: context.settings.level, probe: context.mergeProbe, monitor: context.monitor)
        return try context.surroundings.reader.readForProof(context.new, upTo: context.settings.level) { view in
            let isComparable =
                try context.settings.level >= .content && isUntouched(placed, in: view)
            // Read now: consumers may change these files any moment, which does not invalidate the copy.
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
            if context.settings.level >= .content, !isComparable {
                proof.findings.append(.writtenWhileProving(at: context.new))
            }
            return proof
        }
    }

    /// The proof of a migrated copy from before publication, once the copy that was migrated equals the old store.
    private func prove(_ migration: MigratedCopy, _ copy: StagedCopy) throws -> StoreProof {
        let isProved = !copy.changedSinceProof && copy.proof?.digest != nil
        guard !isProved, context.settings.level >= .content else { return migration.proof }
        let files = try externalDigest(named: migration.sourceFiles)
        let digest = try StoreDigest(of: copy.source, externalFiles: files, monitor: context.monitor)
        guard digest.value != migration.sourceDigest else { return migration.proof }
        throw MigrationError(
            .verificationFailed,
            "the copy that was migrated differs from the old store",
            path: context.new.path
        )
    }

    /// The digest of the new store at the end; nil if it has the old store's content.
    private func newDigest(_ copy: StagedCopy, _ proof: StoreProof) throws -> String? {
        if let migration = copy.migration { return migration.digest }
        guard context.addedHistory != nil else { return nil }
        return try proof.copyDigest?.value ?? context.gatherer.digest(of: context.new)
    }

    /// False when a consumer has changed the published store, which then cannot be compared.
    private func isUntouched(_ placed: PlacedStore, in view: StoreView) throws -> Bool {
        guard let token = placed.token, view.token.holdsSameContent(as: token) else { return false }
        return try context.container.token(of: context.new.name).holdsSameContent(as: token)
    }

    /// The digest of the shared content, taken from the old store, whose content is pinned or fenced.
    private func contentDigest(of copy: StagedCopy) throws -> String {
        try StoreDigest(of: copy.source, externalFiles: externalDigest(of: copy), monitor: context.monitor).value
    }

    /// The digest of the copied external files only; a refused writer may have left others.
    private func externalDigest(of copy: StagedCopy) throws -> String? {
        try externalDigest(named: copy.external.identities.names)
    }

    private func externalDigest(named files: NameList) throws -> String? {
        try context.oldFolder.externalData(of: context.old)
            .flatMap { folder in
                try StoreDigest.digest(
                    ofFilesIn: folder,
                    named: { files.place(of: $0) != nil },
                    monitor: context.monitor
                )
            }
    }

    /// Makes the old store writable again, because the published store cannot be trusted.
    private func liftFence() throws {
        progress.copy?.source.rollback()
        guard let lock = progress.lock, context.settings.treatment == .fence else { return }
        try lock.beginWriting(deadline: context.lockDeadline())
        try FenceWriter(lock).lift()
        try lock.commit(deadline: context.lockDeadline())
    }

    /// Counts again when writers changed the old store after it was inspected.
    private func countedObjects() throws -> Int64? {
        try context.surroundings.silent.inspector(.counts).inspect(context.new).inspection?.objectCount
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
                "the new store has the old one's mode, so other users of the group cannot write to it",
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
            "a program wrote to the new store before it was compared; its pages were proved before publication",
            path: location.path
        )
    }
}
