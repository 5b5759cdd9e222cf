import ChangeMerging
import ChangeRelay
import SafeFiles
import StoreAccess
import StoreVerification
import SystemPackage

/// One publication: the snapshot is copied and proved in a private folder, and then gets its name in one step.
///
/// It needs no journal. Until the exchange of names nothing has changed for readers but additional external files, which
/// only the new snapshot uses. What an interrupted publication leaves is removed by the next one.
struct PublishRun {
    private static let scratchPrefix = ".store-migrate-publish"
    let source: StoreLocation
    let place: StoreLocation
    let selection: SnapshotSelection
    var surroundings: Surroundings

    /// A proved copy in the private folder.
    struct ProvedSnapshot {
        let main: DurableFile
        let digest: StoreDigest
        let state: JournalRecord.OldState
        let report: VerificationReport
        let bytes: Int64
        let externalFiles: Int
        /// The external files that the snapshot uses.
        let needed: Set<String>
        /// The objects of the store that the snapshot lacks.
        let leftOut: Int64
        let findings: [Finding]
    }

    /// What is published at the path.
    private struct Found {
        let record: SnapshotRecord
        /// The snapshot that has the name: the last one, or the former one after an interruption.
        let snapshot: SnapshotRecord.Snapshot
        let status: FileStatus

        var isCurrent: Bool { snapshot == record.main }
        /// True if the snapshot was recognised by its content, as in a copy of the folder.
        var isMoved: Bool { !snapshot.isFile(status) }
    }

    func isDue() throws -> Bool {
        let folder = try openedFolder()
        if let record = try unchanged(found(in: folder)), record.former == nil { return false }
        try surroundings.reader.read(source) { try requireInUse($0) }
        return true
    }

    func carryOut() throws -> PublishOutcome {
        let folder = try openedFolder()
        let formers = FormerSnapshots(store: place, folder: folder)
        if try !hasRemains(in: folder, formers), let record = try unchanged(found(in: folder)), record.former == nil {
            return outcome(.alreadyPublished, digest: record.main.digest, formers: 0)
        }
        guard let lock = try FileLock.acquire(lockName, in: folder, deadline: surroundings.lockDeadline()) else {
            throw MigrationError(
                .busy,
                "another publication to this path is in progress",
                path: place.path,
                advice: "Wait for it to end, or allow a longer lock timeout."
            )
        }
        defer {
            // Removed before it is released: afterwards it may belong to the next publication.
            try? folder.removeFile(lockName)
            lock.release()
        }
        TemporaryDirectory.removeAbandoned(prefix: Self.scratchPrefix, in: folder)
        folder.removeUnintroduced()
        for name in try folder.entries(where: { PublishedFiles.isRemnant($0, of: place.name) }) {
            try folder.removeFile(name)
        }
        try formers.releaseSnapshot()
        let found = try found(in: folder)
        let openFormers = try formers.remove()
        var files = PublishedFiles(beside: place.name, in: folder)
        if openFormers == 0 { try files.removeUnused(of: place, in: folder) }
        if let found, let record = try unchanged(found) {
            try finish(found, state: record.state, in: folder)
            return outcome(.alreadyPublished, digest: record.main.digest, formers: openFormers)
        }
        let scratch = try TemporaryDirectory(prefix: Self.scratchPrefix, in: folder.path)
        defer { scratch.remove() }
        let staged = try stage(in: scratch.directory, beside: folder, &files)
        if let found, found.isCurrent, found.record.main.digest == staged.digest.value {
            try finish(found, state: staged.state, in: folder)
            return outcome(.alreadyPublished, digest: staged.digest.value, formers: openFormers)
        }
        try surroundings.monitor.checkCancellation()
        TriggerPoint.publishing.pass()
        var record = try publish(staged, replacing: found, from: scratch.directory, in: folder, formers)
        TriggerPoint.published.pass()
        do {
            try wakeReaders()
            let copying = files
            files.finish(needed: staged.needed)
            if files != copying { try files.write(beside: place.name, in: folder) }
            let openFormers = try formers.remove()
            if record.former != nil {
                record.former = nil
                try record.write(beside: place.name, in: folder)
            }
            return outcome(.published, staged, digest: staged.digest.value, formers: openFormers)
        } catch {
            throw MigrationError(error).asInterrupted
        }
    }

    /// Finishes an interrupted publication of the snapshot that has the name, and records the state of the store.
    private func finish(_ found: Found, state: JournalRecord.OldState, in folder: Directory) throws {
        let isFinished = try found.record.former == nil && !found.isMoved && !hasHalfRecord(in: folder)
        guard !isFinished || state != found.record.state || selection != found.record.selection ?? SnapshotSelection()
        else {
            return
        }
        if !isFinished { try wakeReaders() }
        try SnapshotRecord(
            source: source.path,
            state: state,
            main: found.snapshot.moved(to: found.status),
            former: nil,
            selection: selection
        )
        .write(beside: place.name, in: folder)
    }

    // MARK: Deciding

    private var lockName: String { ".\(place.name).publishing" }

    /// True if an interrupted publication left something, or a former snapshot is kept for readers.
    private func hasRemains(in folder: Directory, _ formers: FormerSnapshots) throws -> Bool {
        let left = try folder.entries { name in
            name == lockName || name.hasPrefix(Self.scratchPrefix) || isHalfRecord(name) || formers.contains(name)
                || Directory.isUnintroduced(name) || PublishedFiles.isRemnant(name, of: place.name)
        }
        return !left.isEmpty || !PublishedFiles(beside: place.name, in: folder).unused.isEmpty
    }

    private func hasHalfRecord(in folder: Directory) throws -> Bool {
        try !folder.entries(where: isHalfRecord).isEmpty
    }

    /// True for what an interrupted replacement of the record left.
    private func isHalfRecord(_ name: String) -> Bool {
        let record = SnapshotRecord.fileName(for: place.name)
        return name != record && name.hasPrefix(record)
    }

    private func openedFolder() throws -> Directory {
        let folder = try RunContext.openContainer(place)
        try surroundings.requireTrusted(folder)
        try SupportFolderOwners.requireNone(at: folder.path)
        try folder.requireRoom(forCopyOf: place, in: TemporaryDirectory.longestName(prefix: Self.scratchPrefix))
        let home = try Directory.openIfPresent(path: source.folder)
        let status = try folder.status(of: place.name)
        let isItself = try status != nil && home?.status(of: source.name)?.identity == status?.identity
        // The names of such a pair differ only in their extensions.
        let sharesFiles =
            try home?.status().identity == folder.status().identity
            && source.supportFolderName == place.supportFolderName
        guard !isItself, !sharesFiles else {
            throw MigrationError(
                .usage,
                isItself
                    ? "the snapshot has the path of the store itself"
                    : "the snapshot would share the folder of external files with the store",
                path: place.path,
                advice: "Name another path for the snapshot."
            )
        }
        return folder
    }

    /// The snapshot at the path, nil if the path is free; throws when something else is there.
    private func found(in folder: Directory) throws -> Found? {
        for name in [place.writeAheadLogName, place.journalName] where try folder.status(of: name) != nil {
            throw refusal("a program has written to the snapshot and left a log or journal", folder.path + "/" + name)
        }
        guard let status = try folder.status(of: place.name) else { return nil }
        guard try Receipt(beside: place.name, in: folder) == nil else {
            throw refusal("programs write to the store at this path, to which a store was shared", place.path)
        }
        guard let record = try SnapshotRecord(beside: place.name, in: folder) else {
            throw refusal("there is a store that was not published from here", place.path)
        }
        guard record.source == source.path else {
            throw refusal("the snapshot at this path was published from \(record.source)", place.path)
        }
        let known = [record.main, record.former].compactMap(\.self)
        guard let snapshot = try known.first(where: { $0.isFile(status) }) ?? known.first(where: isContent) else {
            throw refusal("a program has changed or replaced the snapshot", place.path)
        }
        return Found(record: record, snapshot: snapshot, status: status)
    }

    /// True if the path has the content of a snapshot: a copy of the folder has other files.
    private func isContent(of snapshot: SnapshotRecord.Snapshot) throws -> Bool {
        try surroundings.unreported.reader.read(place) { view in
            let digest = try StoreDigest(of: view.connection, externalFiles: snapshot.externalFiles)
            return digest.value == snapshot.digest
        }
    }

    private func refusal(_ message: String, _ path: String) -> MigrationError {
        MigrationError(
            .needsDecision,
            message,
            path: path,
            advice: "Nothing was changed. Inspect it, then move it away or name another path.",
            next: .inspect(path: place.path)
        )
    }

    /// The record, if its snapshot has the name and the store has not changed since; nil otherwise.
    private func unchanged(_ found: Found?) throws -> SnapshotRecord? {
        guard let found, found.isCurrent, found.record.selection ?? SnapshotSelection() == selection else { return nil }
        let home = try Directory.open(path: source.folder)
        return try OldStateRecorder.isUnchanged(found.record.state, at: source, in: home) ? found.record : nil
    }

    func requireInUse(_ view: StoreView) throws {
        guard let fence = try StoreFence(reading: view.connection) else { return }
        throw MigrationError(
            .needsDecision,
            "the store was moved, and its programs use \(fence.newPath)",
            path: source.path,
            advice: "Publish the store at that path.",
            next: .inspect(path: fence.newPath)
        )
    }

    // MARK: Publishing

    private func publish(
        _ staged: ProvedSnapshot,
        replacing found: Found?,
        from scratch: Directory,
        in folder: Directory,
        _ formers: FormerSnapshots
    ) throws -> SnapshotRecord {
        let former = found.map { $0.snapshot.moved(to: $0.status) }
        let main = SnapshotRecord.Snapshot(
            try staged.main.status(),
            digest: staged.digest.value,
            externalFiles: staged.digest.externalFiles
        )
        try staged.main.close()
        let record = SnapshotRecord(
            source: source.path,
            state: staged.state,
            main: main,
            former: former,
            selection: selection
        )
        try record.write(beside: place.name, in: folder)
        if former == nil {
            try scratch.move(place.name, to: place.name, in: folder)
        } else {
            let name = formers.newName()
            try scratch.move(place.name, to: name, in: folder)
            try folder.exchange(name, with: place.name)
        }
        do {
            try folder.synchronize()
        } catch {
            throw MigrationError(error).asInterrupted
        }
        return record
    }

    /// The next publication repeats what fails here.
    private func wakeReaders() throws {
        try RemoteChangeNotification(beside: place).post()
    }

    private func outcome(
        _ outcome: MigrationOutcome,
        _ staged: ProvedSnapshot? = nil,
        digest: String,
        formers: Int
    ) -> PublishOutcome {
        PublishOutcome(
            outcome: outcome,
            source: source.path,
            path: place.path,
            digest: digest,
            bytes: staged?.bytes ?? 0,
            externalFiles: staged?.externalFiles ?? 0,
            selection: selection,
            objectsLeftOut: staged?.leftOut ?? 0,
            openFormerSnapshots: formers,
            report: staged?.report,
            findings: staged?.findings ?? []
        )
    }
}
