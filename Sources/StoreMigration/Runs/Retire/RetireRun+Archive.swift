import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreBackup

/// Archives a retired store and removes it.
extension RetireRun {
    /// The durable archive of the old store's content: from an earlier attempt, or a new one.
    ///
    /// It is named after the run, so that a repeated retirement finds it.
    func archive(_ shared: RunState.SharedRun) throws -> (archive: JournalRecord.Archive, findings: [Finding]) {
        let folder = archiveFolder.map { StoreLocation(url: $0).path } ?? stateFolder.path
        let label = RetirementDisposition.archived.label(of: old, transaction: shared.run.transaction)
        let name = label + BackupForm.standard.fileNameEnd
        let place = StoreLocation(folder: try Directory.open(path: folder).path, name: name)
        let archive = JournalRecord.Archive(path: place.path, digest: shared.oldState.digest)
        if try Directory.open(path: folder).status(of: name) != nil {
            // A power cut during the rename can leave the archive its scratch name too, and a second name is refused.
            BackupMaker.removeRemains(in: folder)
            guard try holds(archive) else {
                throw MigrationError(
                    .needsDecision,
                    "a file with the archive's name exists and differs from the old store",
                    path: place.path,
                    advice: "Move it away, then retire the store again."
                )
            }
            try Directory.open(path: folder).synchronize()
            return (archive, [])
        }
        let report: BackupReport
        do {
            report = try BackupMaker(of: old, options: surroundings.backup, monitor: surroundings.monitor)
                .make(at: place.url)
        } catch {
            let cause = MigrationError(error)
            guard cause.outcome == .noSpace else { throw cause }
            throw MigrationError(
                .noSpace,
                "no space for the archive of the old store: \(cause.message)",
                path: cause.path,
                advice: "Name a backup folder with more space; the old store is unchanged.",
                underlyingError: error
            )
        }
        guard report.manifest.store.digest == archive.digest else {
            try? Directory.open(path: place.folder).removeFile(place.name)
            throw writtenLate(shared)
        }
        // No later run cleans this folder once the archive is in the journal, so the removal of temporary files must be
        // durable by then.
        try Directory.open(path: folder).synchronize()
        return (archive, report.findings)
    }

    var stateFolder: StateFolder { surroundings.stateFolder(of: old) }

    /// True when the archive exists and, fully read and unpacked, has the expected digest.
    ///
    /// A failure to read it, such as a lack of space or descriptors, is thrown, not reported as false.
    private func holds(_ archive: JournalRecord.Archive) throws -> Bool {
        let url = URL(filePath: archive.path, directoryHint: .notDirectory)
        do {
            return try BackupArchive(at: url).check().store.digest == archive.digest
        } catch let error as BackupError where error.code != .failed && error.code != .tooLarge {
            return false
        }
    }

    /// Removes the leftovers of an interrupted retirement, only if they equal the archive, and only under a lease.
    func removeRemains(of shared: RunState.SharedRun, name: String, _ journal: inout MigrationJournal) throws {
        guard let archive = shared.archive, !shared.isRemoved else { return }
        let folder = try Directory.open(path: old.folder)
        guard let status = try folder.status(of: name) else {
            return try remove(name, of: shared.run.transaction, in: folder, &journal)
        }
        let retired = StoreLocation(folder: old.folder, name: name)
        guard status.identity.mayBe(recorded: shared.run.oldIdentity) else {
            throw kept(retired, "the renamed old store was replaced by another file")
        }
        guard try holds(archive) else {
            throw kept(retired, "the archive of the old store is missing or damaged: \(archive.path)")
        }
        let token = try folder.token(of: name)
        let gatherer = FactsGatherer(old: retired, new: shared.run.new, surroundings: surroundings)
        guard try gatherer.digest(of: retired) == archive.digest else {
            throw kept(retired, "the renamed old store differs from the archive")
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
            advice: "The file is the old store, marked read-only; keep it, or move it away and run the command again.",
            next: .inspect(path: retired.path)
        )
    }

    /// Removes the renamed store with its files, the main file first: the others are identified by the transaction ID
    /// in their names.
    func remove(
        _ name: String,
        of transaction: String,
        in folder: Directory,
        _ journal: inout MigrationJournal
    ) throws {
        let retired = StoreLocation(folder: old.folder, name: name)
        let files = [
            name, retired.relayName, retired.relayName + "-wal", retired.relayName + "-shm",
            ReceiptFile.receiptName(for: name),
        ]
        for name in files where try folder.status(of: name) != nil { try folder.removeFile(name) }
        // Flushed here: after a power failure, a main file without its sidecars would look like another store.
        try folder.synchronize()
        // Earlier versions used a name whose folder may belong to another store; such a folder stays.
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
        // Other files in the folder may be a program's, and stay.
        if try folder.status(of: retired.supportFolderName)?.kind == .directory,
            try folder.openDirectory(retired.supportFolderName).entries().isEmpty
        {
            try folder.removeDirectory(retired.supportFolderName)
        }
    }

    /// The outcome of a retirement whose store is archived.
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

    /// Finishes an interrupted retirement, if any; returns true when it did.
    ///
    /// A store that was marked read-only but not renamed becomes writable again: the caller did not ask to retire it.
    func finishInterrupted() throws -> Bool {
        try liftLeftMarker()
        guard try isInterrupted(stateFolder.state()) else { return false }
        _ = try run()
        return true
    }

    /// True from the old store's rename until the end of its removal.
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
            "rows of the old store exist only in this archive: the new store was kept unchanged",
            path: path
        )
    }
}
