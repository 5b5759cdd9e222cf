import ChangeMerging
import Logging
import SafeFiles
import StoreFormat
import StoreVerification

/// Carries out a plan that copies nothing: the old store is fenced, and the run recorded.
struct ProtectRun {
    private let context: RunContext
    private let inspection: StoreInspection
    private let keepsNew: Bool
    private let leavesRows: Bool

    /// Prepares the run.
    ///
    /// `keepsNew` is true when the new store never received the old one's content, `leavesRows` when the old store has
    /// rows that the new one lacks.
    init(_ context: RunContext, inspection: StoreInspection, keepsNew: Bool, leavesRows: Bool) {
        self.context = context
        self.inspection = inspection
        self.keepsNew = keepsNew
        self.leavesRows = leavesRows
    }

    /// Fences the old store; `requiresEqualContent` is true when the plan relies on equal content of both stores.
    func run(_ journal: inout MigrationJournal, requiresEqualContent: Bool) throws -> RunResult {
        guard let identity = try context.container.status(of: context.new.name)?.identity else {
            throw DestinationAppeared(path: context.new.path)
        }
        // Opened before the journal begins, so that a store that cannot be opened leaves no run behind.
        let connection = try context.openOldStore()
        try journal.append(
            .begin(
                JournalRecord.RunIdentity(
                    transaction: context.transaction,
                    old: context.old,
                    oldIdentity: inspection.identity,
                    new: context.new,
                    policy: context.options.treatment,
                    descriptions: context.descriptions.byRoleName
                )
            )
        )
        var findings: [Finding] = []
        do {
            if context.options.treatment == .fence {
                try connection.beginWriting(deadline: context.lockDeadline(), monitor: context.monitor)
                try context.requireInspectedStore(inspection, connection)
                try FenceWriter(connection).lift()
                findings = try FenceWriter(connection)
                    .set(
                        transaction: context.transaction,
                        newPath: context.new.path
                    )
                try connection.commit(deadline: context.lockDeadline())
                try journal.append(.fenced)
            }
            // Read before the content, so that the token covers no write that the digest missed.
            let reading = try OldStateRecorder.read(context.old, in: context.oldFolder)
            let digest = try StoreDigest(
                of: connection,
                externalData: context.oldFolder.externalData(of: context.old),
                monitor: context.monitor
            )
            let newToken = requiresEqualContent ? try context.container.token(of: context.new.name) : nil
            if requiresEqualContent, try gatherer.digest(of: context.new) != digest.value {
                throw MigrationError(
                    .busy,
                    "the stores were written to while they were compared",
                    path: context.old.path,
                    advice: "Run the command again."
                )
            }
            try connection.close()
            return try finish(
                &journal,
                identity: identity,
                newUUID: gatherer.reader.withView(of: context.new) { try StoreMetadata(reading: $0.connection)?.uuid },
                digest: digest,
                oldState: reading.state(
                    requiresEqualContent
                        ? SettledDigest(copied: digest.value) : SettledDigest(leftByDecision: digest.value)
                ),
                newToken: newToken,
                findings: findings
            )
        } catch {
            try takeBack(connection, &journal, cause: error)
            throw error
        }
    }

    private var gatherer: FactsGatherer {
        FactsGatherer(old: context.old, new: context.new, options: context.options, monitor: context.monitor)
    }

    private func finish(
        _ journal: inout MigrationJournal,
        identity: FileIdentity,
        newUUID: String?,
        digest: StoreDigest,
        oldState: JournalRecord.OldState,
        newToken: FileToken?,
        findings: [Finding]
    ) throws -> RunResult {
        try Receipt(
            transaction: context.transaction,
            old: context.old.path,
            storeUUID: newUUID,
            digest: digest.value,
            token: newToken,
            keepsNew: keepsNew ? true : nil,
            descriptions: context.descriptions.byRoleName
        )
        .remembering(besides: former(journal.state), beside: context.new.name, in: context.container)
        .write(beside: context.new.name, in: context.container)
        try journal.append(
            .done(
                JournalRecord.Completion(
                    new: identity,
                    newUUID: newUUID,
                    newSchemaCookie: gatherer.schemaCookie(of: context.new),
                    objects: inspection.objectCount,
                    oldState: oldState,
                    isFenced: context.options.treatment == .fence || inspection.fence != nil,
                    keepsNew: keepsNew ? true : nil,
                    leavesRows: leavesRows ? true : nil
                )
            )
        )
        return RunResult(
            transaction: context.transaction,
            digest: digest.value,
            objects: nil,
            report: VerificationReport(levels: [], findings: [], digest: digest),
            work: nil,
            findings: findings,
            descriptions: context.descriptions
        )
    }

    private func former(_ state: RunState) -> String? {
        guard case .interrupted(let run) = state else { return nil }
        return run.former?.run.transaction
    }

    /// Rolls the run back as recovery would: lifts its fence unless an earlier run, which is in force again, had set
    /// one.
    private func takeBack(
        _ connection: StoreConnection,
        _ journal: inout MigrationJournal,
        cause: any Error
    ) throws {
        connection.rollback()
        try? connection.close()
        guard case .interrupted(let run) = journal.state else { return }
        do {
            // The rollback must not be cancelled with the run.
            try RunRecovery(run, options: context.options, monitor: .silent, logger: context.logger).recover(&journal)
        } catch {
            context.logger.error("rollback failed", metadata: ["error": "\(error)", "cause": "\(cause)"])
            throw MigrationError(cause).afterPublishing
        }
    }
}
