import FoundationEssentials
import SafeFiles
import StoreBackup
import StoreFormat

extension RetireRun.Fate {
    /// The name that the store takes when it leaves its place, before anything of it is removed.
    ///
    /// It ends in an extension, so that the name of the folder of external files, which leaves that out, holds the run's
    /// number as well and is no other store's.
    func name(of old: StoreLocation, transaction: String) -> String {
        label(of: old, transaction: transaction) + Self.fileNameEnd
    }

    private static let fileNameEnd = ".sqlite"

    /// What became of the store, and in which run; a long name is cut, so that there is room beside the store under it.
    func label(of old: StoreLocation, transaction: String) -> String {
        let end = mark + transaction
        let room = RecordedContent.longestStoreName - end.utf8.count - Self.fileNameEnd.utf8.count
        var name = old.name
        while name.utf8.count > room { name.removeLast() }
        return name + end
    }

    /// What stands in these names between the store's and the run's number.
    var mark: String { self == .archived ? ".retired-" : ".withdrawn-" }
}

/// The archive that a retired store is kept in, and its removal.
extension RetireRun {
    /// The archive with what the old store holds, whole and durable: the one that an earlier try made, or a new one.
    ///
    /// Its name is the run's, so that a retirement that is tried again finds it.
    func archive(_ shared: RunState.SharedRun) throws -> (archive: JournalRecord.Archive, findings: [Finding]) {
        let folder = options.backupFolder.map { StoreLocation(url: $0).path } ?? stateFolder.path
        let name = Fate.archived.label(of: old, transaction: shared.run.transaction) + BackupForm.standard.fileNameEnd
        let place = StoreLocation(folder: try Directory.open(path: folder).path, name: name)
        let archive = JournalRecord.Archive(path: place.path, digest: shared.oldState.digest)
        if try Directory.open(path: folder).status(of: name) != nil {
            guard try holds(archive) else {
                throw MigrationError(
                    .needsDecision,
                    "what has the archive's name does not hold what the old store holds",
                    path: place.path,
                    advice: "Move it away, then retire the store again."
                )
            }
            BackupMaker.removeRemains(in: folder)
            try Directory.open(path: folder).synchronize()
            return (archive, [])
        }
        var backup = BackupOptions()
        backup.lockTimeout = options.effectiveLockTimeout
        backup.allowsNetworkFileSystem = options.allowsNetworkFileSystem
        let report: BackupReport
        do {
            report = try BackupMaker(of: old, options: backup).make(at: place.url)
        } catch {
            let cause = MigrationError(error)
            guard cause.outcome == .noSpace else { throw cause }
            throw MigrationError(
                .noSpace,
                "there is no room for the archive that the old store is to be kept in: \(cause.message)",
                path: cause.path,
                advice: "Name a folder with more room with --backup DIR; the old store is as it was.",
                underlyingError: error
            )
        }
        guard report.manifest.store.digest == archive.digest else {
            try? Directory.open(path: place.folder).removeFile(place.name)
            throw writtenLate(shared)
        }
        // Once the archive is journalled nobody looks here again: what it was made in has to be gone for good by then.
        try Directory.open(path: folder).synchronize()
        return (archive, report.findings)
    }

    var stateFolder: StateFolder { StateFolder(of: old, stateFolder: options.stateFolder) }

    /// True when the archive is there and, read whole and unpacked, holds what it is to hold.
    ///
    /// What cannot be read for want of room or descriptors is not false for that: such a failure is thrown.
    private func holds(_ archive: JournalRecord.Archive) throws -> Bool {
        let url = URL(filePath: archive.path, directoryHint: .notDirectory)
        do {
            return try BackupArchive(at: url).check().store.digest == archive.digest
        } catch let error as BackupError where error.code != .failed && error.code != .tooLarge {
            return false
        }
    }

    /// Removes what an interrupted retirement left under the new name; only what the archive holds, to the digest, and
    /// only under a lease.
    func removeRemains(of shared: RunState.SharedRun, name: String, _ journal: inout MigrationJournal) throws {
        guard let archive = shared.archive, !shared.isRemoved else { return }
        let folder = try Directory.open(path: old.folder)
        guard let status = try folder.status(of: name) else {
            return try remove(name, of: shared.run.transaction, in: folder, &journal)
        }
        let retired = StoreLocation(folder: old.folder, name: name)
        guard status.identity.mayBe(recorded: shared.run.oldIdentity) else {
            throw kept(retired, "another file has the name that the old store was kept under")
        }
        guard try holds(archive) else {
            throw kept(retired, "the archive of the old store is gone or damaged: \(archive.path)")
        }
        let token = try folder.token(of: name)
        let gatherer = FactsGatherer(old: retired, new: shared.run.new, options: options, monitor: .silent)
        guard try gatherer.digest(of: retired) == archive.digest else {
            throw kept(retired, "what is left of the old store is not what the archive holds")
        }
        guard let lease = try acquireLease(on: name, in: folder) else { throw inUse(status.identity) }
        defer { lease.release() }
        guard try folder.token(of: name) == token, lease.isIntact() else { throw disturbed() }
        try remove(name, of: shared.run.transaction, in: folder, &journal)
    }

    private func kept(_ retired: StoreLocation, _ message: String) -> MigrationError {
        MigrationError(
            .needsDecision,
            message,
            path: retired.path,
            advice: "The file named here is the old store, sealed; keep it, or move it away and run the command again.",
            next: .inspect(path: retired.path)
        )
    }

    /// Removes the store under its new name with all that goes with it, the main file first: what is left without it is
    /// known by its name, which holds the run's number.
    func remove(
        _ name: String,
        of transaction: String,
        in folder: Directory,
        _ journal: inout MigrationJournal
    ) throws {
        let retired = StoreLocation(folder: old.folder, name: name)
        let files = [
            name, retired.relayName, retired.relayName + "-wal", retired.relayName + "-shm",
            RecordedContent.receiptName(for: name),
        ]
        for name in files where try folder.status(of: name) != nil { try folder.removeFile(name) }
        // On the disk, too: with its main file but without the rest it would be taken for another store.
        try folder.synchronize()
        // Versions before this one took a name whose folder may be another store's; that is left alone.
        if retired.supportFolderName.contains(transaction) { try removeSupportFolder(of: retired, in: folder) }
        try folder.synchronize()
        try journal.append(.removed)
    }

    private func removeSupportFolder(of retired: StoreLocation, in folder: Directory) throws {
        if let external = try folder.externalData(of: retired) {
            for name in try external.names() { try external.removeFile(name) }
            try folder.openDirectory(retired.supportFolderName)
                .removeDirectory(StoreLocation.externalDataFolderName)
        }
        // What else a program put there is not ours to remove.
        if try folder.status(of: retired.supportFolderName)?.kind == .directory,
            try folder.openDirectory(retired.supportFolderName).entries().isEmpty
        {
            try folder.removeDirectory(retired.supportFolderName)
        }
    }

    /// The end of a retirement whose store is in an archive.
    func archivedOutcome(
        _ shared: RunState.SharedRun,
        isRepeated: Bool = false,
        _ findings: [Finding] = []
    ) -> ShareOutcome {
        let path = shared.archive?.path ?? ""
        let finding = Finding(.backedUp, .info, level: .files, "the old store is in an archive", path: path)
        return outcome(
            shared,
            name: old.name,
            findings: findings + [finding]
                + (shared.completion.leavesRows == true ? [.rowsOnlyInArchive(at: path)] : []),
            message: isRepeated
                ? "the old store was retired before, and is archived as \(path)"
                : "the old store is archived as \(path), and removed"
        )
    }

    /// Ends what an interrupted retirement left, if anything; true when it did.
    ///
    /// A store that was sealed but not renamed is let go: only who asks for a retirement again wants one.
    func finishInterrupted() throws -> Bool {
        try liftLeftSeal()
        guard try isInterrupted(stateFolder.state()) else { return false }
        _ = try run()
        return true
    }

    /// True between the moment in which the old store left its name and the end of its removal.
    func isInterrupted(_ state: RunState) throws -> Bool {
        switch state {
        case .retired(let shared, _):
            return shared.archive != nil && !shared.isRemoved
        case .shared(let shared):
            guard shared.archive != nil, let name = shared.retiringTo else { return false }
            let folder = try Directory.open(path: old.folder)
            return try folder.status(of: old.name) == nil && folder.status(of: name) != nil
        default: return false
        }
    }
}

extension Finding {
    fileprivate static func rowsOnlyInArchive(at path: String) -> Finding {
        Finding(
            .rowsOnlyInOldStore,
            .warning,
            level: .content,
            "rows of the old store are in this archive and in no store: the new one was kept as it is",
            path: path
        )
    }
}
