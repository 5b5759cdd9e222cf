import ChangeMerging
import Logging
import SafeFiles
import StoreFormat
import StoreVerification

/// The old store was written to between its inspection and the record of its content.
struct OldStoreWritten: Error {
    let path: String
}

/// Carries out a plan that copies nothing: the old store is fenced, and the run recorded.
struct ProtectRun {
    /// The content of the old store that the plan relies on.
    enum Content {
        /// The caller decided that the new store is kept, even if the old one has rows.
        case any
        case empty
        case equalToNew
        /// The content with the digest that an earlier run recorded.
        case unchanged(String)
    }

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

    /// Fences the old store, and records its content.
    ///
    /// Throws `OldStoreWritten` when that is not what the plan relies on: it would be recorded as settled unseen.
    func run(_ journal: inout MigrationJournal, relyingOn content: Content) throws -> RunResult {
        guard let identity = try context.container.status(of: context.new.name)?.identity else {
            throw DestinationAppeared(path: context.new.path)
        }
        // Opened before the journal begins, so that a store that cannot be opened leaves no run behind.
        let connection = try context.openOldStore()
        try context.begin(&journal, over: inspection.identity, context.descriptions)
        RunMoment.protecting.pass()
        do {
            let findings = try context.settings.treatment == .fence ? fence(connection, &journal) : []
            // Read before the content, so that the token covers no write that the digest missed.
            let reading = try OldStateRecorder.read(context.old, in: context.oldFolder)
            let digest = try StoreDigest(
                of: connection,
                externalData: context.oldFolder.externalData(of: context.old),
                monitor: context.monitor
            )
            let newToken = try context.container.token(of: context.new.name)
            guard try has(content, connection, digest.value) else { throw OldStoreWritten(path: context.old.path) }
            try connection.close()
            let isEqual = if case .equalToNew = content { true } else { false }
            let newUUID = try context.surroundings.reader
                .withView(of: context.new) { try StoreMetadata(reading: $0.connection)?.uuid }
            let settled =
                isEqual ? SettledDigest(copied: digest.value) : SettledDigest(leftByDecision: digest.value)
            try RunEnding(
                context: context,
                new: RunEnding.NewStore(
                    identity: identity,
                    uuid: newUUID,
                    schemaCookie: newUUID == nil ? context.gatherer.schemaCookie(of: context.new) : nil,
                    digest: isEqual ? digest.value : context.gatherer.digest(of: context.new),
                    token: isEqual ? newToken : nil
                ),
                origins: .present(except: former(journal.state)),
                isFenced: context.settings.treatment == .fence || inspection.fence != nil,
                objects: inspection.objectCount,
                keepsNew: keepsNew,
                leavesRows: leavesRows
            )
            .finish(&journal, content: digest.value) { _ in reading.state(settled) }
            return RunResult(
                transaction: context.transaction,
                digest: digest.value,
                objects: nil,
                report: VerificationReport(levels: [], findings: [], digest: digest),
                work: nil,
                findings: findings,
                descriptions: context.descriptions
            )
        } catch {
            try takeBack(connection, &journal, cause: error)
            throw error
        }
    }

    private func fence(_ connection: StoreConnection, _ journal: inout MigrationJournal) throws -> [Finding] {
        try connection.beginWriting(deadline: context.lockDeadline(), monitor: context.monitor)
        try context.requireInspectedStore(inspection, connection)
        try FenceWriter(connection).lift()
        let findings = try FenceWriter(connection).set(transaction: context.transaction, newPath: context.new.path)
        try connection.commit(deadline: context.lockDeadline())
        try journal.append(.fenced)
        return findings
    }

    /// True if the old store has the content, of which the digest was taken before.
    private func has(_ content: Content, _ connection: StoreConnection, _ digest: String) throws -> Bool {
        switch content {
        case .any: true
        case .empty: try StoreInspection.isEmpty(connection, monitor: context.monitor)
        case .equalToNew: try context.gatherer.digest(of: context.new) == digest
        case .unchanged(let recorded): digest == recorded
        }
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
            try RunRecovery(run, settings: context.settings, surroundings: context.surroundings.silent)
                .recover(&journal)
        } catch {
            context.logger.error("rollback failed", metadata: ["error": "\(error)", "cause": "\(cause)"])
            throw MigrationError(cause).afterPublishing
        }
    }
}
