import ModelMigration
import SafeFiles
import StoreFormat
import StoreVerification

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
        if try nest.folder.status(of: name) != nil { try nest.folder.removeFile(name) }
        let migrated = try nest.folder.createFile(name, mode: main.status().mode & 0o777)
        try migrated.setGroupIfAllowed(context.group)
        if try !migrated.clone(from: main) { try main.copyBytes(to: migrated) }
        let sourceFiles = external.identities.names
        let external = try stagedExternalFolder()
        let migration = StagedMigration(
            target: target,
            place: context.new,
            staged: StoreLocation(folder: nest.folder.path, name: name),
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
        try RoleProof(described: described, place: context.new).require(at: location, in: nest.folder, main: migrated)
    }
}
