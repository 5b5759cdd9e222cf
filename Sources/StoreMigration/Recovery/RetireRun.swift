import FoundationEssentials
import Logging
import SafeFiles
import StoreBackup
import StoreFormat
import StoreVerification

/// Archives a shared store's old place, seals and renames it, and removes it, once it is proved that nobody has it open.
///
/// SQLite's locks prove nothing about processes that are idle; a write lease on the file does.
struct RetireRun {
    /// What becomes of the store.
    enum Fate {
        /// An archive holds it, and it is removed.
        case archived
        /// It stays under a name that says what became of it.
        case withdrawn
    }

    let old: StoreLocation
    var fate = Fate.archived
    let options: ShareOptions
    let logger: Logger
    /// The run to go by where the journal that told of it is gone.
    var unjournalled: RunState.SharedRun?

    func run() throws -> ShareOutcome {
        if case .none = try stateFolder.state(), unjournalled == nil { throw notShared() }
        return try stateFolder.withJournal(deadline: Deadline(after: options.effectiveLockTimeout)) { journal in
            if case .interrupted(let run) = journal.state {
                try RunRecovery(run, options: options, monitor: .silent, logger: logger).recover(&journal)
            }
            switch journal.state {
            case .retired(let shared, let name):
                try requireVacantPlace(shared, name: name)
                guard shared.archive != nil else {
                    return outcome(shared, name: name, message: "the old store was retired before")
                }
                let isRemoved = shared.isRemoved
                if !isRemoved { try removeRemains(of: shared, name: name, &journal) }
                return archivedOutcome(shared, isRepeated: isRemoved)
            case .shared(let shared):
                return try retire(shared, &journal)
            default:
                guard case .none = journal.state, let unjournalled else { throw notShared(journal.state) }
                return try retire(unjournalled, &journal)
            }
        }
    }

    /// Throws where a store stands that came after the one that was retired or withdrawn: that one alone was proved.
    private func requireVacantPlace(_ shared: RunState.SharedRun, name: String) throws {
        guard fate == .archived, let found = try Directory.openIfPresent(path: old.folder)?.status(of: old.name),
            !found.identity.mayBe(recorded: shared.run.oldIdentity)
        else { return }
        throw MigrationError(
            .needsDecision,
            "another store has taken the place of the one that was retired or withdrawn as \(name)",
            path: old.path,
            advice: "Nothing was changed. Share that store first; only a store whose copy is proved can be retired.",
            next: .status(old: old.path, new: shared.run.new.path)
        )
    }

    private func notShared(_ state: RunState = .none) -> MigrationError {
        if case .voided(let shared) = state { return .commonStateUnknown(old: old, new: shared.run.new) }
        return MigrationError(
            .needsDecision,
            "no run has shared this store",
            path: old.path,
            advice: "Share it first; only a store whose copy is proved can be retired.",
            next: .inspect(path: old.path)
        )
    }

    private func retire(_ shared: RunState.SharedRun, _ journal: inout MigrationJournal) throws -> ShareOutcome {
        let folder = try Directory.open(path: old.folder)
        guard let status = try folder.status(of: old.name) else {
            let name = shared.retiringTo ?? fate.name(of: old, transaction: shared.run.transaction)
            guard try folder.status(of: name)?.identity.mayBe(recorded: shared.run.oldIdentity) == true else {
                throw MigrationError(
                    .nothingFound,
                    "the old store is gone",
                    path: old.path,
                    advice: "There is nothing to retire; the shared store is at \(shared.run.new.path)."
                )
            }
            // Nobody's lease is held here: the other stores are opened.
            try requireOwnSupportFolder(in: folder, for: name)
            try moveSupportFolder(in: folder, to: name)
            let kept = try finish(shared, name: name, folder: folder, &journal)
            guard shared.archive != nil else { return kept }
            try removeRemains(of: shared, name: name, &journal)
            return archivedOutcome(shared, kept.findings)
        }
        guard status.identity.mayBe(recorded: shared.run.oldIdentity) else {
            throw MigrationError(
                .needsDecision,
                "another file has taken the old store's place",
                path: old.path,
                next: .status(old: old.path, new: shared.run.new.path)
            )
        }
        let name = fate.name(of: old, transaction: shared.run.transaction)
        try ShareRequirements.requireWritable(old, in: folder, removing: true) { reason in
            MigrationError(
                .notWritable,
                "the old store cannot leave its folder: \(reason)",
                path: old.path,
                advice: "Make the folder and the store's files writable for this user (chmod, chattr -i -a)."
            )
        }
        // A power cut in the middle of the rename may leave both names; the file takes its way from the beginning then.
        for name in Set([name, shared.retiringTo ?? name])
        where try folder.status(of: name)?.identity == status.identity {
            try folder.removeFile(name)
            try folder.synchronize()
        }
        try requireOwnSupportFolder(in: folder, for: name)
        try requireProvedNewStore(shared)
        var shared = shared
        var findings: [Finding] = []
        if fate == .archived {
            // Asked first, so that no archive is made of a store that somebody has open.
            guard let lease = try acquireLease(in: folder) else { throw inUse(status.identity) }
            lease.release()
            let gatherer = FactsGatherer(old: old, new: shared.run.new, options: options, monitor: .silent)
            guard try gatherer.isUnchanged(shared.oldState) else { throw writtenLate(shared) }
            let made = try archive(shared)
            if shared.archive != made.archive { try journal.append(.archived(made.archive)) }
            shared.archive = made.archive
            findings = made.findings
        }
        // An earlier try that was killed may have folded the log in already.
        if !shared.lostLog { shared.lostLog = try seal.isLogged() }
        do {
            return try leave(shared, to: name, status.identity, in: folder, findings, &journal)
        } catch {
            letWrite(status.identity, isLogged: shared.lostLog, in: folder, &journal)
            throw error
        }
    }

    /// Seals the store and takes it out of its place, and what goes with it.
    private func leave(
        _ shared: RunState.SharedRun,
        to name: String,
        _ identity: FileIdentity,
        in folder: Directory,
        _ findings: [Finding],
        _ journal: inout MigrationJournal
    ) throws -> ShareOutcome {
        let sealed = try seal(shared, folder: folder) {
            try journal.append(.retiring(to: name, isLogged: shared.lostLog ? true : nil))
        }
        guard let lease = try acquireLease(in: folder) else { throw inUse(identity) }
        defer { lease.release() }
        // Of no use to a sealed store, and nobody has it open. SQLite removes it when it folds the log in; where the disk
        // refused that once, it does not try again.
        if try folder.status(of: old.sharedMemoryName) != nil { try folder.removeFile(old.sharedMemoryName) }
        guard try folder.token(of: old.name) == sealed, try sidecars(in: folder).isEmpty, lease.isIntact() else {
            throw disturbed()
        }
        RunMoment.retiring.pass()
        try folder.move(old.name, to: name, in: folder)
        // What goes with the store must not have its new name before the store has.
        try folder.synchronize()
        try moveSupportFolder(in: folder, to: name)
        let kept = try finish(shared, name: name, folder: folder, &journal)
        guard fate == .archived else { return kept }
        // Whoever had the name before it changed waits for the lease to end, and is to find the store.
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
        // What was posted since the share, though nobody could save.
        let new = try Succession(of: shared.run.new, options: options)?.store ?? shared.run.new
        let findings = RelayCarriage(old: old, new: new, options: options).carry()
        try moveRelay(in: folder, to: name)
        try move(RecordedContent.receiptName(for: old.name), to: RecordedContent.receiptName(for: name), in: folder)
        try folder.synchronize()
        try journal.append(.retired(to: name))
        CapturedBase.removeUnneeded(for: journal.state, in: try stateFolder.open())
        return outcome(
            shared,
            name: name,
            findings: findings,
            message: "the old store is sealed and kept as \(name)"
        )
    }

    // MARK: Requirements

    private func requireProvedNewStore(_ shared: RunState.SharedRun) throws {
        let succession = try Succession(of: shared.run.new, options: options)
        // In a chain the data is at its end, and there it is proved.
        let place = succession?.store ?? shared.run.new
        let gatherer = FactsGatherer(old: old, new: place, options: options, monitor: .silent)
        let isOurs = try succession?.isVerified != false && gatherer.newPlace(of: shared) == .ours
        // Late writes are told as such; only beside an unchanged old store an older new one shows.
        let isOlder =
            try isOurs && succession == nil && gatherer.isUnchanged(shared.oldState)
            && gatherer.isNewOlder(than: shared)
        guard isOurs, !isOlder else {
            throw MigrationError(
                .needsDecision,
                "the store that was shared is not at its place",
                path: shared.run.new.path,
                advice: "Share the old store again before anything is removed.",
                next: .share(old: old.path, new: shared.run.new.path, flags: [])
            )
        }
        try gatherer.requireMergesStand(shared)
        let level = min(options.level, .coredata)
        let report = try StoreVerifier().verify(place, level: level, against: nil)
        guard report.passed else {
            throw MigrationError(
                .verificationFailed,
                "the new store does not pass its proof",
                path: place.path,
                advice: fate == .archived
                    ? nil : "The content was brought back, and both stores were kept; run the verify command on both.",
                next: .verify(store: place.path),
                findings: report.findings,
                report: report.findings
            )
        }
    }

    func acquireLease(on name: String? = nil, in folder: Directory) throws -> FileLease? {
        try FileLease.acquire(on: name ?? old.name, in: folder, deadline: Deadline(after: options.effectiveLockTimeout))
    }

    /// Proves that nothing was written late, folds the log in, and seals the file; returns the token it has then.
    ///
    /// `announce` is called before the file changes: whoever finds a seal knows from the journal whose it is.
    private func seal(
        _ shared: RunState.SharedRun,
        folder: Directory,
        announce: () throws -> Void
    ) throws -> FileToken {
        guard let status = try folder.status(of: old.name) else { throw inUse(shared.run.oldIdentity) }
        // The lease is asked first, so that a store that somebody has open is not touched at all.
        guard let lease = try acquireLease(in: folder) else { throw inUse(status.identity) }
        lease.release()
        let connection = try StoreConnection(
            old,
            access: .liveWriting,
            lockTimeout: options.effectiveLockTimeout
        )
        let version = try connection.value("PRAGMA data_version")
        let digest = try StoreDigest(
            of: connection,
            externalData: folder.externalData(of: old),
            monitor: .silent
        )
        guard digest.value == shared.oldState.digest else { throw writtenLate(shared) }
        try announce()
        try connection.foldLogIn()
        try connection.execute("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE")
        // What another connection committed since the digest was taken shows in this number.
        guard try connection.value("PRAGMA data_version") == version else { throw writtenLate(shared) }
        try StoreSeal.set(through: connection)
        connection.rollback()
        try connection.close()
        return try folder.token(of: old.name)
    }

    func writtenLate(_ shared: RunState.SharedRun) -> MigrationError {
        MigrationError(
            .lateWrites,
            "the old store was written to after it was shared",
            path: old.path,
            next: .status(old: old.path, new: shared.run.new.path)
        )
    }

    private func sidecars(in folder: Directory) throws -> [String] {
        try old.sidecarNames.filter { try folder.status(of: $0) != nil }
    }

    func inUse(_ identity: FileIdentity) -> MigrationError {
        let holders = OpenFiles.holders(of: identity)
        let names = holders.isEmpty ? "" : " by process \(holders.map(String.init).joined(separator: ", "))"
        return MigrationError(
            .busy,
            "the old store is open\(names), or this file system gives no leases",
            path: old.path,
            advice: "Close every program that has it open, then retire it as the user who owns the file."
        )
    }

    func disturbed() -> MigrationError {
        MigrationError(
            .busy,
            "somebody opened or changed the old store while it was retired",
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
