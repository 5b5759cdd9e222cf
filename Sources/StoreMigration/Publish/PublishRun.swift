import ChangeMerging
import ChangeRelay
import SafeFiles
import StoreFormat
import StoreVerification
import SystemPackage

/// One publication: the snapshot is copied and proved in a private folder, and then gets its name in one step.
///
/// It needs no journal. Until the exchange of names nothing has changed for readers but additional external files, which
/// only the new snapshot uses. What an interrupted publication leaves is removed by the next one.
struct PublishRun {
    private static let scratchPrefix = ".store-migrate-publish"
    /// How often the copy is made again because programs removed external files meanwhile.
    private static let tries = 3

    let source: StoreLocation
    let place: StoreLocation
    var surroundings: Surroundings

    /// A proved copy in the private folder.
    private struct ProvedSnapshot {
        let main: DurableFile
        let digest: StoreDigest
        let state: JournalRecord.OldState
        let report: VerificationReport
        let bytes: Int64
        let externalFiles: Int
        let findings: [Finding]
    }

    /// What is published at the path.
    private struct Found {
        let record: PublicationRecord
        /// The snapshot that has the name: the last one, or the former one after an interruption.
        let snapshot: PublicationRecord.Snapshot
        let status: FileStatus

        var isCurrent: Bool { snapshot == record.main }
        /// True if the snapshot was recognised by its content, as in a copy of the folder.
        var isMoved: Bool { !snapshot.isFile(status) }
    }

    func isDue() throws -> Bool {
        let folder = try openedFolder()
        if try unchanged(found(in: folder)) != nil { return false }
        try surroundings.reader.withView(of: source) { try requireInUse($0) }
        return true
    }

    func carryOut() throws -> PublishOutcome {
        let folder = try openedFolder()
        let formers = FormerSnapshots(store: place, folder: folder)
        if try !hasRemains(in: folder, formers), let record = try unchanged(found(in: folder)) {
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
        try formers.releaseSnapshot()
        let found = try found(in: folder)
        if let found, let record = try unchanged(found) {
            try finish(found, state: record.state, in: folder)
            return outcome(.alreadyPublished, digest: record.main.digest, formers: try formers.remove())
        }
        let scratch = try TemporaryDirectory(prefix: Self.scratchPrefix, in: folder.path)
        defer { scratch.remove() }
        let staged = try stage(in: scratch.directory, beside: folder)
        if let found, found.isCurrent, found.record.main.digest == staged.digest.value {
            try finish(found, state: staged.state, in: folder)
            return outcome(.alreadyPublished, digest: staged.digest.value, formers: try formers.remove())
        }
        try surroundings.monitor.checkCancellation()
        RunMoment.publishing.pass()
        try publish(staged, replacing: found, from: scratch.directory, in: folder, formers)
        RunMoment.published.pass()
        do {
            try wakeReaders()
            return outcome(.published, staged, digest: staged.digest.value, formers: try formers.remove())
        } catch {
            throw MigrationError(error).afterPublishing
        }
    }

    /// Finishes an interrupted publication of the snapshot that has the name, and records the state of the store.
    private func finish(_ found: Found, state: JournalRecord.OldState, in folder: Directory) throws {
        let isFinished = try found.record.former == nil && !found.isMoved && !hasHalfRecord(in: folder)
        guard !isFinished || state != found.record.state else { return }
        try PublicationRecord(
            source: source.path,
            state: state,
            main: found.snapshot.moved(to: found.status),
            former: nil
        )
        .write(beside: place.name, in: folder)
        if !isFinished { try wakeReaders() }
    }

    // MARK: Deciding

    private var lockName: String { ".\(place.name).publishing" }

    /// True if an interrupted publication left something, or a former snapshot is kept for readers.
    private func hasRemains(in folder: Directory, _ formers: FormerSnapshots) throws -> Bool {
        let left = try folder.entries { name in
            name == lockName || name.hasPrefix(Self.scratchPrefix) || isHalfRecord(name) || formers.contains(name)
                || Directory.isUnintroduced(name)
        }
        return !left.isEmpty
    }

    private func hasHalfRecord(in folder: Directory) throws -> Bool {
        try !folder.entries(where: isHalfRecord).isEmpty
    }

    /// True for what an interrupted replacement of the record left.
    private func isHalfRecord(_ name: String) -> Bool {
        let record = PublicationRecord.fileName(for: place.name)
        return name != record && name.hasPrefix(record)
    }

    private func openedFolder() throws -> Directory {
        let folder = try RunContext.openContainer(place)
        try surroundings.requireTrusted(folder)
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
        guard let record = PublicationRecord(beside: place.name, in: folder) else {
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
    private func isContent(of snapshot: PublicationRecord.Snapshot) throws -> Bool {
        try surroundings.unreported.reader.withView(of: place) { view in
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
    private func unchanged(_ found: Found?) throws -> PublicationRecord? {
        guard let found, found.isCurrent else { return nil }
        let home = try Directory.open(path: source.folder)
        return try OldStateRecorder.isUnchanged(found.record.state, at: source, in: home) ? found.record : nil
    }

    private func requireInUse(_ view: StoreView) throws {
        guard let fence = try StoreFence(reading: view.connection) else { return }
        throw MigrationError(
            .needsDecision,
            "the store was moved, and its programs use \(fence.newPath)",
            path: source.path,
            advice: "Publish the store at that path.",
            next: .inspect(path: fence.newPath)
        )
    }

    // MARK: Copying

    private func stage(in scratch: Directory, beside folder: Directory) throws -> ProvedSnapshot {
        var last: (any Error)?
        for _ in 0..<Self.tries {
            // Read before the content, so that a later write changes it.
            let reading = try OldStateRecorder.read(source, in: Directory.open(path: source.folder))
            do {
                return try surroundings.reader.withView(of: source) { view in
                    scratch.removeContents()
                    return try stage(view, reading, in: scratch, beside: folder)
                }
            } catch let error as FileError where error.errno == .noSuchFileOrDirectory {
                // Programs removed an external file between its listing and its copy.
                last = error
            }
        }
        throw MigrationError(
            .busy,
            "programs removed external files of the store at every try",
            path: source.path,
            underlyingError: last
        )
    }

    private func stage(
        _ view: StoreView,
        _ reading: TokenReading,
        in scratch: Directory,
        beside folder: Directory
    ) throws -> ProvedSnapshot {
        try requireInUse(view)
        RunMoment.copying.pass()
        let location = StoreLocation(folder: scratch.path, name: place.name)
        let main = try scratch.createFile(place.name, mode: 0o600)
        let copy = try StoreConnection(location, access: .privateCopy)
        try view.connection.copyPages(to: copy, monitor: surroundings.monitor)
        _ = try copy.value("PRAGMA journal_mode = DELETE")
        try copy.close()
        let external = try addExternalFiles(view, scratch, folder)
        RunMoment.proving.pass()
        let image = try StoreConnection(location, access: .immutable)
        defer { try? image.close() }
        let target = try folder.externalData(of: place)
        let proof = try StoreProver(level: .content, monitor: surroundings.monitor)
            .prove(
                image,
                at: location,
                as: place,
                externalData: target,
                comparingWith: view.connection,
                content: .comparison(original: view.connection) { try differing(from: view.externalData, in: target) },
                externalFiles: view.externalData.flatMap {
                    try StoreDigest.digest(ofFilesIn: $0, monitor: surroundings.monitor)
                }
            )
        guard let digest = proof.digest else {
            throw MigrationError(.failed, "the content of the copy is not proved", path: place.path)
        }
        try main.setMode(view.status.mode & 0o444)
        try main.setGroupIfAllowed(folder.status().group)
        try main.synchronize()
        let time = reading.token == view.token ? reading.takenAt : 0
        return ProvedSnapshot(
            main: main,
            digest: digest,
            state: TokenReading(token: view.token, takenAt: time).state(SettledDigest(copied: digest.value)),
            report: proof.report,
            bytes: try main.status().size + (external?.bytes ?? 0),
            externalFiles: external?.copies.count ?? 0,
            // What the store lacks, its readers miss, too.
            findings: proof.findings.map { finding in
                var finding = finding
                if finding.severity == .inherited { finding.severity = .warning }
                return finding
            }
        )
    }

    /// Copies the external files that the former snapshot does not have, beside its own.
    ///
    /// An external file never changes under its name, so that both snapshots can use the same folder.
    private func addExternalFiles(
        _ view: StoreView,
        _ scratch: Directory,
        _ folder: Directory
    ) throws -> ExternalFilesSnapshot? {
        guard let original = view.externalData else { return nil }
        let mode = try folder.inheriting(original.status().mode & 0o777)
        let target = try ExternalData.ensure(of: place, in: folder, mode: mode, group: folder.status().group)
        let staging = try scratch.createDirectory("external", mode: 0o700)
        let group = try folder.status().group
        let snapshot = ExternalFilesSnapshot(of: original, in: staging, isDurable: true) {
            try $0.setGroupIfAllowed(group)
        } isThere: { name in
            guard try target.status(of: name) != nil else { return false }
            guard try original.status(of: name) != nil else {
                throw FileError(operation: "read", path: name, errno: .noSuchFileOrDirectory)
            }
            guard try target.holdsEqualFile(name, to: original) else {
                throw MigrationError(
                    .needsDecision,
                    "an external file of the snapshot was changed",
                    path: target.path + "/" + name,
                    advice: "Nothing was changed. Move the snapshot and its external files away, then publish again."
                )
            }
            return true
        }
        try snapshot.update(monitor: surroundings.monitor)
        for (name, _) in snapshot.copies { try staging.move(name, to: name, in: target) }
        try target.synchronize()
        return snapshot
    }

    /// The external files of the store that the published ones differ from.
    private func differing(from original: Directory?, in target: Directory?) throws -> [String] {
        guard let original else { return [] }
        return try original.names().filter { try target?.holdsEqualFile($0, to: original) != true }
    }

    // MARK: Publishing

    private func publish(
        _ staged: ProvedSnapshot,
        replacing found: Found?,
        from scratch: Directory,
        in folder: Directory,
        _ formers: FormerSnapshots
    ) throws {
        let former = found.map { $0.snapshot.moved(to: $0.status) }
        let main = PublicationRecord.Snapshot(
            try staged.main.status(),
            digest: staged.digest.value,
            externalFiles: staged.digest.externalFiles
        )
        try staged.main.close()
        try PublicationRecord(source: source.path, state: staged.state, main: main, former: former)
            .write(beside: place.name, in: folder)
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
            throw MigrationError(error).afterPublishing
        }
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
            openFormerSnapshots: formers,
            report: staged?.report,
            findings: staged?.findings ?? []
        )
    }
}
