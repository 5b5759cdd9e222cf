import FoundationEssentials
import Logging
import SafeFiles
import StoreAccess
import StoreBackup
import StoreVerification

/// Archives an old store, marks it read-only, renames and removes it, after proving that no process has it open.
///
/// SQLite's locks do not reveal idle processes; a write lease on the file does.
struct RetireRun {
    let old: StoreLocation
    private(set) var disposition = RetirementDisposition.archived
    let settings: RunSettings
    let surroundings: Surroundings
    /// The folder of the archive; nil means the journal's.
    private(set) var archiveFolder: URL?
    /// The run to use when its journal is lost.
    private(set) var unjournalled: RunState.SharedRun?
    /// The path of the new store, if the caller names it.
    var expected: StoreLocation?

    /// The retirement that a caller's options describe; it reports no progress, and is cancelled before the store is
    /// marked read-only.
    init(old: StoreLocation, _ options: ShareOptions, _ surroundings: Surroundings) {
        self.old = old
        settings = options.runSettings
        self.surroundings = surroundings.unreported
        archiveFolder = options.backupFolder
    }

    /// The withdrawal of a store whose content is back at its former path.
    init(
        withdrawing old: StoreLocation,
        _ settings: RunSettings,
        _ surroundings: Surroundings,
        unjournalled: RunState.SharedRun?
    ) {
        self.old = old
        disposition = .withdrawn
        self.settings = settings
        self.surroundings = surroundings.silent
        self.unjournalled = unjournalled
    }

    func run() throws -> ShareOutcome {
        if case .none = try stateFolder.state(), unjournalled == nil { throw try notShared() }
        return try stateFolder.withJournal(deadline: surroundings.lockDeadline()) { journal in
            if case .interrupted(let run) = journal.state {
                try RunRecovery(run, settings: settings, surroundings: surroundings).recover(&journal)
            }
            if let shared = journal.state.retired ?? journal.state.shared { try requireExpected(shared) }
            switch journal.state {
            case .retired(let shared, let name):
                // Only files that the run renamed are removed; another store may be at the old path.
                let isRemoved = shared.isRemoved
                if shared.archive != nil, !isRemoved { try removeRemains(of: shared, name: name, &journal) }
                try requireSameStore(shared, name: name)
                guard shared.archive != nil else {
                    return outcome(shared, name: name, message: "the old store was retired before")
                }
                return archivedOutcome(shared, isRepeated: isRemoved)
            case .shared(let shared):
                return try retire(shared, &journal)
            default:
                guard case .none = journal.state, let unjournalled else { throw try notShared(journal.state) }
                return try retire(unjournalled, &journal)
            }
        }
    }

    private func retire(_ shared: RunState.SharedRun, _ journal: inout MigrationJournal) throws -> ShareOutcome {
        let folder = try Directory.open(path: old.folder)
        let found = try folder.status(of: old.name)
        if found?.identity.mayBe(recorded: shared.run.oldIdentity) != true {
            let name = shared.retiringTo ?? disposition.name(of: old, transaction: shared.run.transaction)
            // A killed run may have renamed the store, and a program may have created a new one since.
            if try folder.status(of: name)?.identity.mayBe(recorded: shared.run.oldIdentity) == true {
                return try finishRenamed(shared, name: name, folder: folder, &journal)
            }
        }
        guard let status = found else {
            throw MigrationError(
                .nothingFound,
                "the old store is missing",
                path: old.path,
                advice: "There is nothing to retire; the shared store is at \(shared.run.new.path)."
            )
        }
        guard status.identity.mayBe(recorded: shared.run.oldIdentity) else {
            throw MigrationError(
                .needsDecision,
                "the old store's path has another file",
                path: old.path,
                next: .status(old: old.path, new: shared.run.new.path)
            )
        }
        let name = disposition.name(of: old, transaction: shared.run.transaction)
        try ShareRequirements.requireWritable(old, in: folder, removing: true) { reason in
            MigrationError(
                .notWritable,
                "cannot rename or remove the old store: \(reason)",
                path: old.path,
                advice: "Make the folder and the store's files writable for this user (chmod, chattr -i -a)."
            )
        }
        try removeSecondNames(of: shared.run.transaction, retiringTo: shared.retiringTo)
        try requireOwnSupportFolder(in: folder, for: name)
        try requireProvedNewStore(shared)
        var shared = shared
        var findings: [Finding] = []
        if disposition == .archived {
            // Checked first, so that no archive is made of a store that a process has open.
            guard let lease = try acquireLease(in: folder) else { throw inUse(status.identity) }
            lease.release()
            let gatherer = FactsGatherer(old: old, new: shared.run.new, surroundings: surroundings)
            guard try gatherer.isUnchanged(shared.oldState) else { throw writtenLate(shared) }
            let made = try archive(shared)
            if shared.archive != made.archive { try journal.append(.archived(made.archive)) }
            shared.archive = made.archive
            findings = made.findings
        }
        // An earlier attempt that was killed may have checkpointed the log already.
        if !shared.lostLog { shared.lostLog = try marker.isLogged() }
        do {
            return try leave(shared, to: name, status.identity, in: folder, findings, &journal)
        } catch {
            restoreWritability(status.identity, isLogged: shared.lostLog, in: folder, &journal)
            throw error
        }
    }

    /// Goes on with a store that an interrupted run has renamed.
    private func finishRenamed(
        _ shared: RunState.SharedRun,
        name: String,
        folder: Directory,
        _ journal: inout MigrationJournal
    ) throws -> ShareOutcome {
        // Runs without a lease, because it opens other stores in the folder.
        try requireOwnSupportFolder(in: folder, for: name)
        let kept = try afterRenaming(to: name) {
            try moveSupportFolder(in: folder, to: name)
            return try finish(shared, name: name, folder: folder, &journal)
        }
        guard shared.archive != nil else { return kept }
        try removeRemains(of: shared, name: name, &journal)
        return archivedOutcome(shared, kept.findings)
    }

    /// Marks the store read-only and renames it with its files.
    private func leave(
        _ shared: RunState.SharedRun,
        to name: String,
        _ identity: FileIdentity,
        in folder: Directory,
        _ findings: [Finding],
        _ journal: inout MigrationJournal
    ) throws -> ShareOutcome {
        let marked = try markReadOnly(shared, folder: folder) {
            try journal.append(.retiring(to: name, isLogged: shared.lostLog ? true : nil))
        }
        guard let lease = try acquireLease(in: folder) else { throw inUse(identity) }
        defer { lease.release() }
        // SQLite removes the shared-memory file when it checkpoints the log, but never retries a removal that failed.
        // No process has it open here.
        if try folder.status(of: old.sharedMemoryName) != nil { try folder.removeFile(old.sharedMemoryName) }
        guard try folder.token(of: old.name) == marked, try sidecars(in: folder).isEmpty, lease.isIntact() else {
            throw disturbed()
        }
        TriggerPoint.retiring.pass()
        try folder.move(old.name, to: name, in: folder)
        // Flushed here: the other files must not get their new names before the main file.
        let kept = try afterRenaming(to: name) {
            try folder.synchronize()
            try moveSupportFolder(in: folder, to: name)
            return try finish(shared, name: name, folder: folder, &journal)
        }
        guard disposition == .archived else { return kept }
        // A process that opened the old name waits for the lease to end, and must then find the store.
        guard lease.isIntact() else { throw disturbed() }
        try remove(name, of: shared.run.transaction, in: folder, &journal)
        return archivedOutcome(shared, findings + kept.findings)
    }

    private func finish(
        _ shared: RunState.SharedRun,
        name: String,
        folder: Directory,
        _ journal: inout MigrationJournal
    ) throws -> ShareOutcome {
        // Carries notices that were posted since the share, although no program could save.
        let new = try Succession(of: shared.run.new, surroundings)?.store ?? shared.run.new
        var findings = RelayCarriage(
            old: old,
            new: new,
            legacyChanges: settings.legacyChanges,
            lockTimeout: surroundings.lockTimeout
        )
        .carry()
        findings += try moveRelay(in: folder, to: name)
        try move(ReceiptFile.receiptName(for: old.name), to: ReceiptFile.receiptName(for: name), in: folder)
        try folder.synchronize()
        try journal.append(.retired(to: name))
        CapturedBase.removeUnneeded(for: journal.state, in: try stateFolder.open())
        return outcome(
            shared,
            name: name,
            findings: findings,
            message: "the old store is read-only and kept as \(name)"
        )
    }

    func acquireLease(on name: String? = nil, in folder: Directory) throws -> FileLease? {
        try FileLease.acquire(on: name ?? old.name, in: folder, deadline: surroundings.lockDeadline())
    }

    /// Proves that there are no late writes, checkpoints the log, and marks the file read-only; returns its token then.
    ///
    /// Calls `announce` before the file changes, so that the journal identifies the owner of a read-only marker.
    private func markReadOnly(
        _ shared: RunState.SharedRun,
        folder: Directory,
        announce: () throws -> Void
    ) throws -> FileToken {
        guard let status = try folder.status(of: old.name) else { throw inUse(shared.run.oldIdentity) }
        // The lease comes first, so that a store that a process has open is not touched.
        guard let lease = try acquireLease(in: folder) else { throw inUse(status.identity) }
        lease.release()
        let connection = try StoreConnection(
            old,
            access: .liveWriting,
            lockTimeout: surroundings.lockTimeout
        )
        let version = try connection.value("PRAGMA data_version")
        let digest = try StoreDigest(
            of: connection,
            externalData: folder.externalData(of: old),
            monitor: surroundings.monitor
        )
        guard digest.value == shared.oldState.digest else { throw writtenLate(shared) }
        try announce()
        try connection.foldLogIn()
        try connection.execute("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE")
        // `data_version` changes when another connection has committed since the digest.
        guard try connection.value("PRAGMA data_version") == version else { throw writtenLate(shared) }
        try ReadOnlyMarker.set(through: connection)
        connection.rollback()
        try connection.close()
        return try folder.token(of: old.name)
    }

    func writtenLate(_ shared: RunState.SharedRun) -> MigrationError {
        MigrationError(
            .lateWrites,
            Finding.writtenLate(at: old).message,
            path: old.path,
            next: .status(old: old.path, new: shared.run.new.path)
        )
    }

    private func sidecars(in folder: Directory) throws -> [String] {
        try old.sidecarNames.filter { try folder.status(of: $0) != nil }
    }

    func inUse(_ identity: FileIdentity) -> MigrationError {
        let holders = OpenFiles.holders(of: identity)
        return MigrationError(
            .busy,
            holders.isEmpty
                ? "the old store is open, or this file system gives no leases"
                : "the old store is open in process \(OpenFiles.names(of: holders))",
            path: old.path,
            advice: "Close every program that has it open, then retire it as the user who owns the file."
        )
    }

    func disturbed() -> MigrationError {
        MigrationError(
            .busy,
            "another process opened or changed the old store during its retirement",
            path: old.path,
            advice: "Close every program that may open it, then retire it again."
        )
    }

    func outcome(
        _ shared: RunState.SharedRun,
        name: String,
        findings: [Finding] = [],
        message: String
    ) -> ShareOutcome {
        ShareOutcome(
            outcome: .retired,
            transaction: shared.run.transaction,
            old: ShareOutcome.Side(
                path: StoreLocation(folder: old.folder, name: name).path,
                uuid: shared.completion.newUUID,
                objects: nil,
                digest: shared.oldState.digest
            ),
            new: ShareOutcome.Side(
                path: shared.run.new.path,
                uuid: shared.completion.newUUID,
                objects: nil,
                digest: nil
            ),
            findings: findings,
            message: message
        )
    }
}
