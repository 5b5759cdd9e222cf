internal import FoundationEssentials
internal import SafeFiles
internal import StoreFormat
internal import StoreStrategies
internal import StoreWriting

extension AttachedStore {
    /// Makes an empty store where there is none, in Core Data's shape.
    ///
    /// The version hashes of a store made here are stand-ins, and its metadata says so: Core Data's own cannot be computed.
    static func createIfMissing(_ description: PersistentStoreDescription, model: ManagedObjectModel) throws {
        let location = StoreLocation(url: description.url)
        let directory = try Directory.open(path: location.folder)
        guard !description.isReadOnly, try directory.status(of: location.name) == nil else { return }
        var options = StoreBuilder.Options()
        options.tracksHistory = description.isHistoryTrackingEnabled
        let mode = description.sqlitePragmas.first { $0.key.lowercased() == "journal_mode" }?.value.lowercased()
        options.journalMode = mode == nil || mode == "wal" ? .wal : .rollback
        let builder = try StoreBuilder(model, uuid: UUID().uuidString, options: options)
        let connection = try builder.build(at: location, in: directory, mode: description.posixMode ?? 0o644)
        try NewStoreFile.closeClean(connection)
    }
}
