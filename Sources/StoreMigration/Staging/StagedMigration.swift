import MergeProbing
import ModelMigration
import SafeFiles
import StoreAccess
import StoreVerification
import StoreWriting

/// Migrates a staged main file, and proves the result against the store that was copied.
struct StagedMigration {
    let target: MigrationTarget
    /// The final location of the store, which findings name.
    let place: StoreLocation
    /// The staged main file.
    let staged: StoreLocation
    /// The folder of the store's external files; they are only read.
    let external: Directory?
    let monitor: WorkMonitor
    /// True if persistent history gets a transaction for the migration.
    var isRecorded = true

    /// Migrates the staged file; the former journal mode returns in the header, and no sidecar remains beside it.
    func carryOut() throws -> (InferredMapping, ModelMigrator.Result) {
        let connection = try StoreConnection(staged, access: .privateCopy)
        let mode = try connection.value("PRAGMA journal_mode")?.text
        // A log would grow to the size of the copied tables.
        try setJournalMode("delete", of: connection)
        let migrated: (InferredMapping, ModelMigrator.Result)
        do {
            migrated = try connection.stopping(by: monitor) {
                let migrator = try ModelMigrator(connection, to: target, external: external)
                return (migrator.mapping, try migrator.migrate(isRecorded: isRecorded))
            }
        } catch let error as MappingRefusals {
            throw MigrationError(error, path: place.path)
        }
        if mode == "wal" { try setJournalMode("wal", of: connection) }
        try NewStoreFile.closeClean(connection)
        return migrated
    }

    private func setJournalMode(_ mode: String, of connection: StoreConnection) throws {
        guard try connection.value("PRAGMA journal_mode = \(mode)")?.text == mode else {
            throw StoreError(.failed, path: place.path, "the journal mode could not be set to \(mode)")
        }
    }

    /// Proves the migrated file: its structure, every value that `source`, the store before, has as well, and, with
    /// `probe`, the level `merging`.
    func prove(
        _ image: StoreConnection,
        migratedFrom source: StoreConnection,
        _ result: ModelMigrator.Result,
        probe: MergeProbe? = nil
    ) throws -> StoreProof {
        TriggerPoint.proving.pass()
        var proof = try StoreProver(level: probe == nil ? .coredata : .merging, probe: probe, monitor: monitor)
            .prove(
                image,
                at: staged,
                as: place,
                externalData: external,
                comparingWith: source
            )
        // These files are removed with the former content.
        proof.findings.removeAll { finding in
            finding.code == .externalFileUnused
                && result.orphanedFiles.contains { finding.path?.hasSuffix("/" + $0) == true }
        }
        proof.findings += result.lostValues.findings(at: place.path)
        let start = ContinuousClock.now
        try requireValues(in: image, migratedFrom: source)
        let content = VerificationReport.LevelResult(
            level: .content,
            status: .passed,
            seconds: start.duration(to: .now) / .seconds(1)
        )
        let index = proof.levels.firstIndex { $0.level > .content } ?? proof.levels.endIndex
        proof.levels.insert(content, at: index)
        return proof
    }

    /// Throws unless the migrated file has every value of `source` that both versions have.
    func requireValues(in image: StoreConnection, migratedFrom source: StoreConnection) throws {
        let differences = try MigrationProof(of: image, migratedFrom: source, to: target, external: external)
            .differences(monitor: monitor)
        guard let first = differences.first else { return }
        throw MigrationError(
            .verificationFailed,
            "the migrated copy lacks values of \(first)\(differences.count > 1 ? " and other properties" : "")",
            path: place.path,
            advice: "The store is unchanged. Run the verify command on it, and migrate it with its app."
        )
    }
}

extension [LostValues] {
    /// One finding that names all of them; none without any.
    func findings(at path: String) -> [Finding] {
        guard !isEmpty else { return [] }
        let list = map { "\($0.subject) (\($0.count))" }.joined(separator: ", ")
        return [
            Finding(
                .notInNewVersion,
                .warning,
                level: .content,
                "the new model version lacks \(list); these values and objects are only in the former store",
                path: path
            )
        ]
    }
}

extension MigrationError {
    /// A migration that the models or the rows of the store at `path` forbid.
    init(_ refusals: MappingRefusals, path: String) {
        self.init(refusals.refusals, path: path)
    }

    /// The same for a list of refusals, which has at least one.
    init(_ refusals: [MappingRefusal], path: String, findings: [Finding] = []) {
        self.init(
            .incompatible,
            refusals.sentence,
            path: path,
            advice: "Nothing was changed. \(refusals.first?.remedy ?? "")",
            findings: findings.isEmpty ? refusals.findings(at: path) : findings
        )
    }
}

extension [MappingRefusal] {
    /// The first reason, and the number of the others.
    var sentence: String {
        let more = count < 2 ? "" : ", and \(count - 1) more"
        return "cannot infer the migration: \(first?.description ?? "")\(more)"
    }

    /// One finding for each refusal.
    func findings(at path: String) -> [Finding] {
        map { Finding(.mappingRefused, .error, level: .coredata, "\($0)", path: path) }
    }
}

/// The migrated copy of a staged main file, proved against it.
struct MigratedCopy {
    let location: StoreLocation
    let main: DurableFile
    let mapping: InferredMapping
    let result: ModelMigrator.Result
    let proof: StoreProof
    /// The content digest of the staged copy that was migrated, and the names of its external files.
    let sourceDigest: String
    let sourceFiles: NameList
    /// The content digest of the migrated copy.
    let digest: String
}

extension StagedCopy {
    private static let migratedName = "migrated"

    /// Migrates a copy of the staged main file, applies the descriptions to it, and proves it; takes no lock.
    ///
    /// The staged main file stays as it is: writers may change the old store meanwhile, and then the copy is migrated again.
    func migrate(to target: MigrationTarget) throws {
        migration = nil
        let name = Self.migratedName
        if try staging.folder.status(of: name) != nil { try staging.folder.removeFile(name) }
        let migrated = try staging.folder.createFile(name, mode: main.status().mode & 0o777)
        try migrated.setGroupIfAllowed(context.group)
        if try !migrated.clone(from: main) { try main.copyBytes(to: migrated) }
        let sourceFiles = external.identities.names
        let external = try stagedExternalFolder()
        let migration = StagedMigration(
            target: target,
            place: context.new,
            staged: StoreLocation(folder: staging.folder.path, name: name),
            external: external,
            monitor: context.monitor
        )
        let (mapping, result) = try migration.carryOut()
        try describe(migrated, at: migration.staged)
        try migrated.synchronize()
        let original = try StoreConnection(location, access: .immutable)
        let image = try StoreConnection(migration.staged, access: .immutable)
        let proof = try migration.prove(
            image,
            migratedFrom: original,
            result,
            probe: context.settings.level >= .merging ? context.mergeProbe : nil
        )
        let kept = try external.flatMap { folder in
            try StoreDigest.digest(
                ofFilesIn: folder,
                named: { !result.orphanedFiles.contains($0) },
                monitor: context.monitor
            )
        }
        self.migration = MigratedCopy(
            location: migration.staged,
            main: migrated,
            mapping: mapping,
            result: result,
            proof: proof,
            sourceDigest: try provedDigest
                ?? StoreDigest(of: original, externalData: external, monitor: context.monitor).value,
            sourceFiles: sourceFiles,
            digest: try StoreDigest(of: image, externalFiles: kept, monitor: context.monitor).value
        )
        try image.close()
        try original.close()
    }

    /// Applies the descriptions to a migrated main file, and opens it as each role will.
    private func describe(_ migrated: DurableFile, at location: StoreLocation) throws {
        guard let described = context.described else { return }
        _ = try StagedTreatment(described.treatment, to: location, main: migrated)
        try FileRights(described.treatment).apply(to: migrated)
        try RoleProof(described: described, place: context.new)
            .require(at: location, in: staging.folder, main: migrated)
    }
}
