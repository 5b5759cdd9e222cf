internal import FoundationEssentials
internal import SafeFiles
internal import StoreFormat
internal import StoreStrategies
internal import StoreWriting
internal import SystemPackage

extension AttachedStore {
    /// Creates an empty store in Core Data's format if there is none.
    ///
    /// Core Data's own version hashes cannot be computed: unknown ones are placeholders, and the metadata says so.
    static func createIfMissing(
        _ description: PersistentStoreDescription,
        model: ManagedObjectModel,
        versionHashes: [String: [UInt8]]
    ) throws {
        let location = StoreLocation(url: description.url)
        let directory = try folder(of: location)
        guard !description.isReadOnly, try !directory.isIntroduced(location.name) else { return }
        var options = StoreBuilder.Options()
        options.versionHashes = versionHashes
        options.tracksHistory = description.isHistoryTrackingEnabled
        let mode = description.sqlitePragmas.first { $0.key.lowercased() == "journal_mode" }?.value.lowercased()
        options.journalMode = mode == nil || mode == "wal" ? .wal : .rollback
        let builder = try StoreBuilder(model, uuid: UUID().uuidString, options: options)
        let owningGroup = try description.posixGroup.map { try group($0, location.path) }
        do {
            try NewStoreFile.requireNoSidecars(of: location, in: directory)
        } catch {
            // Another process may have published its store first; the sidecars are then its own.
            guard try directory.status(of: location.name) == nil else { return }
            throw error
        }
        // If another process publishes its store first, that store is kept.
        _ = try directory.introduce(location.name) { nursery in
            let place = StoreLocation(folder: nursery.path, name: location.name)
            let mode = description.posixMode ?? 0o644
            try NewStoreFile.closeClean(builder.build(at: place, in: nursery, mode: mode))
            guard let owningGroup else { return }
            let file = try nursery.openFile(place.name, for: .writing)
            try file.setOwner(user: nil, group: owningGroup)
            try file.close()
        }
    }

    /// Throws for a missing store what a caller has to do to have it created.
    static func requireStore(_ description: PersistentStoreDescription) throws {
        let location = StoreLocation(url: description.url)
        guard try folder(of: location).status(of: location.name) == nil else { return }
        let advice =
            description.isReadOnly
            ? "the first program that opens it for writing, with a model, creates it"
            : "open it with a model (managedObjectModel) to create it"
        throw StoreError(.notFound, path: location.path, "there is no store yet; " + advice)
    }

    private static func folder(of location: StoreLocation) throws -> Directory {
        do {
            return try Directory.open(path: location.folder)
        } catch  where error.errno == .noSuchFileOrDirectory {
            throw StoreError(.notFound, path: location.folder, "the folder of the store does not exist; create it")
        }
    }

    /// Creates the history that the description asks for in a store without one; returns whether it did.
    ///
    /// Genuine stores may have unused history tables without numbers for their entities; these numbers are added. The
    /// caller must read the store's contents again.
    func switchHistoryOn() throws -> Bool {
        guard description.isHistoryTrackingEnabled, readOnlyReason == nil, !contents.hasHistory else { return false }
        try write { _, connection in
            try connection.inTransaction(until: Deadline(after: lockTimeout)) {
                // Another process may have created it first.
                let numbers = "SELECT count(*) FROM Z_PRIMARYKEY WHERE Z_NAME = 'TRANSACTION'"
                if try connection.value(numbers) == .integer(0) {
                    try HistoryWriter.writeSchema(for: contents.model.model, to: connection)
                }
            }
        }
        close()
        return true
    }
}
