import ChangeMerging
import SafeFiles
import StoreAccess
import StoreVerification
import SystemPackage

extension PublishRun {
    /// How often the copy is made again because programs removed external files meanwhile.
    private static let mostTries = 3

    /// Makes a proved copy in `scratch`, and copies the external files that it needs beside those in `folder`.
    func stage(
        in scratch: Directory,
        beside folder: Directory,
        _ files: inout PublishedFiles
    ) throws -> ProvedSnapshot {
        var last: (any Error)?
        for _ in 0..<Self.mostTries {
            // Read before the content, so that a later write changes it.
            let reading = try OldStateRecorder.read(source, in: Directory.open(path: source.folder))
            do {
                return try surroundings.reader.withView(of: source) { view in
                    scratch.removeContents()
                    return try stage(view, reading, in: scratch, beside: folder, &files)
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
        beside folder: Directory,
        _ files: inout PublishedFiles
    ) throws -> ProvedSnapshot {
        try requireInUse(view)
        TriggerPoint.copying.pass()
        let location = StoreLocation(folder: scratch.path, name: place.name)
        let main = try scratch.createFile(place.name, mode: 0o600)
        let copy = try StoreConnection(location, access: .privateCopy)
        try view.connection.copyPages(to: copy, monitor: surroundings.monitor)
        _ = try copy.value("PRAGMA journal_mode = DELETE")
        let cut = selection.isWhole ? nil : try SnapshotCut(selection, of: copy, path: source.path)
        let leftOut = try cut?.carryOut(in: copy, monitor: surroundings.monitor) ?? 0
        let needed = try cut?.externalFiles(of: copy)
        try copy.close()
        let external = try addExternalFiles(view, needed, scratch, folder, &files)
        TriggerPoint.proving.pass()
        let image = try StoreConnection(location, access: .immutable)
        defer { try? image.close() }
        let proof = try prove(image, at: location, view, cut, external?.needed ?? [], in: folder)
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
            bytes: try main.status().size + (external?.copied.bytes ?? 0),
            externalFiles: external?.copied.copies.count ?? 0,
            needed: external?.needed ?? [],
            leftOut: leftOut,
            // What the store lacks, its readers miss, too.
            findings: proof.findings.map { finding in
                var finding = finding
                if finding.severity == .inherited { finding.severity = .warning }
                return finding
            }
        )
    }

    /// Proves a copy against the store: all of it, or what the selection keeps.
    private func prove(
        _ image: StoreConnection,
        at location: StoreLocation,
        _ view: StoreView,
        _ cut: SnapshotCut?,
        _ needed: Set<String>,
        in folder: Directory
    ) throws -> StoreProof {
        let target = try folder.externalData(of: place)
        let content: StoreProver.Content =
            cut == nil
            ? .comparison(original: view.connection) { try differing(from: view.externalData, in: target, needed) }
            : .digest
        let proof = try StoreProver(level: .content, monitor: surroundings.monitor)
            .prove(
                image,
                at: location,
                as: place,
                externalData: target,
                comparingWith: view.connection,
                content: content,
                externalFiles: view.externalData.flatMap {
                    try StoreDigest.digest(ofFilesIn: $0, monitor: surroundings.monitor)
                }
            )
        guard let cut else { return proof }
        try cut.proveRest(of: image, against: view.connection, monitor: surroundings.monitor)
        guard try differing(from: view.externalData, in: target, needed).isEmpty else {
            throw MigrationError(.verificationFailed, "an external file of the copy differs", path: place.path)
        }
        return proof
    }

    /// Copies the external files that the former snapshot does not have, beside its own.
    ///
    /// An external file never changes under its name, so that both snapshots can use the same folder.
    /// With `wanted`, only files of these names are copied.
    private func addExternalFiles(
        _ view: StoreView,
        _ wanted: Set<String>?,
        _ scratch: Directory,
        _ folder: Directory,
        _ files: inout PublishedFiles
    ) throws -> (copied: ExternalFilesSnapshot, needed: Set<String>)? {
        guard let original = view.externalData, wanted?.isEmpty != true else { return nil }
        let mode = try folder.inheriting(original.status().mode & 0o777)
        let target = try ExternalData.ensure(of: place, in: folder, mode: mode, group: folder.status().group)
        let staging = try scratch.createDirectory("external", mode: 0o700)
        let group = try folder.status().group
        let snapshot = ExternalFilesSnapshot(of: original, in: staging, isDurable: true) {
            try $0.setGroupIfAllowed(group)
        } isThere: { name in
            // A file that the snapshot does not need counts as copied.
            guard wanted?.contains(name) != false else { return true }
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
        let needed = try wanted ?? Set(original.names())
        let former = files
        files.prepare(copying: snapshot.copies.names, needed: needed)
        if files != former { try files.write(beside: place.name, in: folder) }
        for (name, _) in snapshot.copies { try staging.move(name, to: name, in: target) }
        try target.synchronize()
        return (snapshot, needed)
    }

    /// The external files of the store that the published ones differ from.
    private func differing(
        from original: Directory?,
        in target: Directory?,
        _ needed: Set<String>
    ) throws -> [String] {
        guard let original else { return [] }
        return try needed.sorted().filter { try target?.holdsEqualFile($0, to: original) != true }
    }
}
