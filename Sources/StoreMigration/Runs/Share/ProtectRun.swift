import ChangeMerging
import SafeFiles
import StoreAccess
import StoreFormat
import StoreVerification

/// Carries out a plan that copies nothing: the old store is fenced, and the run recorded.
struct ProtectRun: RunWork {
    let context: RunContext
    private let inspection: StoreInspection
    private let protection: ShareWork.Protection
    /// The identity of the new store's file.
    private let placed: FileIdentity
    private let connection: StoreConnection
    private var digest: StoreDigest?
    private var findings: [Finding] = []

    /// Opens the old store before the journal begins, so that a store that cannot be opened leaves no run behind.
    init(_ context: RunContext, inspection: StoreInspection, _ protection: ShareWork.Protection) throws {
        guard let placed = try context.container.status(of: context.new.name)?.identity else {
            throw DestinationAppeared(path: context.new.path)
        }
        self.context = context
        self.inspection = inspection
        self.protection = protection
        self.placed = placed
        connection = try context.openOldStore()
    }

    var identity: JournalRecord.RunIdentity {
        get throws { try context.identity(over: inspection.identity, context.descriptions) }
    }
    /// The record that ends the run commits it, too: nothing else becomes visible.
    var isCommitted: Bool? { false }
    var mayHaveFenced: Bool { context.settings.treatment == .fence }

    /// Fences the old store, and records its content.
    ///
    /// Throws `OldStoreWritten` when that is not what the plan relies on: it would be recorded as settled unseen.
    mutating func commit(_ journal: inout MigrationJournal) throws {
        TriggerPoint.protecting.pass()
        if context.settings.treatment == .fence { findings = try fence(&journal) }
        // Read before the content, so that the token covers no write that the digest missed.
        let reading = try OldStateRecorder.read(context.old, in: context.oldFolder)
        let digest = try StoreDigest(
            of: connection,
            externalData: context.oldFolder.externalData(of: context.old),
            monitor: context.monitor
        )
        self.digest = digest
        let newToken = try context.container.token(of: context.new.name)
        guard try isReliedOn(digest.value) else { throw OldStoreWritten(path: context.old.path) }
        try connection.close()
        if context.settings.treatment == .capture { try keepBase(of: digest.value, &journal) }
        let isEqual = protection.content == .equalToNew
        let newUUID = try context.surroundings.reader
            .read(context.new) { try StoreMetadata(reading: $0.connection)?.uuid }
        let settled = isEqual ? SettledDigest(copied: digest.value) : SettledDigest(leftByDecision: digest.value)
        try RunEnding(
            context: context,
            new: RunEnding.NewStore(
                identity: placed,
                uuid: newUUID,
                schemaCookie: newUUID == nil ? context.gatherer.schemaCookie(of: context.new) : nil,
                digest: isEqual ? digest.value : context.gatherer.digest(of: context.new),
                token: isEqual ? newToken : nil
            ),
            origins: .presentAndFormer(former(journal.state)),
            isFenced: context.settings.treatment == .fence || inspection.fence != nil,
            objects: inspection.objectCount,
            keepsNew: protection.keepsNew,
            leavesRows: protection.leavesRows
        )
        .finish(&journal, content: digest.value) { _ in reading.state(settled) }
    }

    mutating func release() {
        connection.rollback()
        try? connection.close()
    }

    mutating func finish(_ journal: inout MigrationJournal) throws -> RunResult {
        RunResult(
            transaction: context.transaction,
            digest: digest?.value,
            objects: nil,
            report: VerificationReport(levels: [], findings: [], digest: digest),
            work: nil,
            findings: findings,
            descriptions: context.descriptions
        )
    }

    private func fence(_ journal: inout MigrationJournal) throws -> [Finding] {
        try connection.beginWriting(deadline: context.lockDeadline(), monitor: context.monitor)
        try context.requireInspectedStore(inspection, connection)
        try FenceWriter(connection).lift()
        let findings = try FenceWriter(connection).set(transaction: context.transaction, newPath: context.new.path)
        try connection.commit(deadline: context.lockDeadline())
        try journal.append(.fenced)
        return findings
    }

    /// Keeps the content of the captured old store as the base of late writes, unless the caller left rows there.
    ///
    /// Throws `OldStoreWritten` when the copy has other content: a late write would be part of the base.
    private func keepBase(of digest: String, _ journal: inout MigrationJournal) throws {
        guard protection.hasCommonState else { return }
        let folder = try context.stateFolder.open()
        let base = try context.surroundings.reader.withView(of: context.old) {
            try CapturedBase.keep($0, of: context.transaction, in: folder)
        }
        let kept = try StoreConnection(StoreLocation(folder: folder.path, name: base.name), access: .immutable)
        let content = try StoreDigest(
            of: kept,
            externalData: context.oldFolder.externalData(of: context.old),
            monitor: context.monitor
        )
        try kept.close()
        guard content.value == digest else { throw OldStoreWritten(path: context.old.path) }
        try journal.append(.base(base))
    }

    /// True if the old store, with this digest, has the content that the plan relies on.
    private func isReliedOn(_ digest: String) throws -> Bool {
        switch protection.content {
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
}
