internal import FoundationEssentials
internal import SafeFiles
internal import StoreFormat
internal import StoreStrategies
internal import StoreWriting

extension AttachedStore {
    /// Makes an empty store where there is none, in Core Data's shape.
    ///
    /// Version hashes that are not known are stand-ins, and the metadata says so: Core Data's own cannot be computed.
    static func createIfMissing(
        _ description: PersistentStoreDescription,
        model: ManagedObjectModel,
        versionHashes: [String: [UInt8]]
    ) throws {
        let location = StoreLocation(url: description.url)
        let directory = try Directory.open(path: location.folder)
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
            // A store gets its sidecars after its name: they may be those of another process, which was quicker.
            guard try directory.status(of: location.name) == nil else { return }
            throw error
        }
        // Here too, its store is the one.
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

    /// Makes the history that the description asks for where the store keeps none; returns whether it did.
    ///
    /// Genuine stores may have its tables, never used, without numbers for its entities: these are given then. The store's
    /// contents must be read again.
    func switchHistoryOn() throws -> Bool {
        guard description.isHistoryTrackingEnabled, readOnlyReason == nil, !contents.hasHistory else { return false }
        try write { _, connection in
            try connection.inTransaction(until: Deadline(after: lockTimeout)) {
                // Another process may have been quicker.
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
