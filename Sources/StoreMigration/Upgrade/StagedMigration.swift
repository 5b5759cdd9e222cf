import ModelMigration
import SafeFiles
import StoreFormat
import StoreVerification
import StoreWriting

/// Migrates the main file of a staged copy, and proves the result against the store that was copied.
struct StagedMigration {
    let target: MigrationTarget
    /// The final location of the store, which findings name.
    let place: StoreLocation
    let monitor: WorkMonitor

    /// Migrates `copy`, an equal copy of the store in `view`; nothing but the staged main file is changed.
    func carryOut(on copy: StagedCopy, of view: StoreView) throws -> ModelMigrator.Result {
        let result = try migrate(copy, view)
        try copy.main.synchronize()
        RunMoment.proving.pass()
        let image = try StoreConnection(copy.location, access: .immutable)
        var proof = try StoreProver(level: .coredata, monitor: monitor)
            .prove(
                image,
                at: copy.location,
                as: place,
                externalData: view.externalData,
                comparingWith: view.connection
            )
        // These files are removed once the content is replaced.
        proof.findings.removeAll { finding in
            finding.code == .externalFileUnused
                && result.orphanedFiles.contains { finding.path?.hasSuffix("/" + $0) == true }
        }
        let start = ContinuousClock.now
        let differences = try MigrationProof(of: image, migratedFrom: view.connection, to: target)
            .differences(monitor: monitor)
        try image.close()
        if let first = differences.first {
            throw MigrationError(
                .verificationFailed,
                "the migrated copy lacks values of \(first)\(differences.count > 1 ? " and other properties" : "")",
                path: place.path,
                advice: "The store is unchanged. Run the verify command on it, and migrate it with its app."
            )
        }
        proof.levels.append(
            .init(level: .content, status: .passed, seconds: start.duration(to: .now) / .seconds(1))
        )
        copy.recordMigration(orphanedFiles: result.orphanedFiles, proof)
        return result
    }

    /// The former journal mode returns in the header; no sidecar remains in the staging folder.
    private func migrate(_ copy: StagedCopy, _ view: StoreView) throws -> ModelMigrator.Result {
        let connection = try StoreConnection(copy.location, access: .privateCopy)
        let mode = try connection.value("PRAGMA journal_mode")?.text
        // A log would grow to the size of the copied tables.
        try setJournalMode("delete", of: connection)
        let result = try connection.stopping(by: monitor) {
            try ModelMigrator(connection, to: target, external: view.externalData).migrate()
        }
        if mode == "wal" { try setJournalMode("wal", of: connection) }
        try NewStoreFile.closeClean(connection)
        return result
    }

    private func setJournalMode(_ mode: String, of connection: StoreConnection) throws {
        guard try connection.value("PRAGMA journal_mode = \(mode)")?.text == mode else {
            throw StoreError(.failed, path: place.path, "the journal mode could not be set to \(mode)")
        }
    }
}
