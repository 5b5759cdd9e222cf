internal import ModelMigration
internal import SafeFiles
internal import StoreFormat
internal import StoreStrategies
internal import StoreWriting

extension AttachedStore {
    /// Migrates a store that was rejected with `error`, in place, if its description asks for it, as Core Data does when it
    /// adds a store; throws the error otherwise, and the reason why no mapping can be inferred.
    ///
    /// The whole migration is one transaction under the store's write lock: a failure or a crash leaves the former store.
    static func migrate(
        _ description: PersistentStoreDescription,
        to target: MigrationTarget?,
        insteadOf error: ManagedObjectError
    ) throws {
        guard let target, description.shouldMigrateStoreAutomatically,
            description.shouldInferMappingModelAutomatically, !description.isReadOnly
        else { throw error }
        let location = StoreLocation(url: description.url)
        let timeout = Duration.seconds(description.timeout)
        let external = try ExternalData.open(of: location, in: Directory.open(path: location.folder))
        let connection = try StoreConnection(location, access: .liveWriting, lockTimeout: timeout)
        defer { try? connection.close() }
        var orphans: [String] = []
        do {
            // A store that cannot be migrated is not locked.
            try ModelMigrator(connection, to: target, external: external).check()
            try ModelMigrator.prepare(connection)
            try connection.inTransaction(until: Deadline(after: timeout)) {
                let migrator = try ModelMigrator(connection, to: target, external: external)
                // Another process may have migrated it meanwhile.
                guard !migrator.isUpToDate else { return }
                try migrator.check()
                let process = origin(author: nil, contextName: nil).process ?? ""
                orphans = try migrator.carryOut(process: process).orphanedFiles
            }
        } catch let refusals as MappingRefusals {
            throw ManagedObjectError(error.code, "\(error.message); no mapping can be inferred: \(refusals)")
        }
        for name in orphans { try? external?.removeFile(name) }
    }
}
