import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting

/// An open store of a test's own model, in a folder that is removed with it.
final class NewStore {
    let folder: TemporaryDirectory
    let location: StoreLocation
    let connection: StoreConnection
    let writer: RowWriter

    init(_ model: ManagedObjectModel, tracksHistory: Bool = false, preparing sql: String = "") throws {
        folder = try TemporaryDirectory(prefix: "store-writing-tests")
        location = StoreLocation(folder: folder.directory.path, name: "Store.sqlite")
        let layout = NewStoreFile.Layout(journalMode: .wal)
        connection = try NewStoreFile.create(location, in: folder.directory, layout: layout)
        var options = StoreBuilder.Options()
        options.tracksHistory = tracksHistory
        let builder = try StoreBuilder(model, uuid: "2E3E5F3E-1DB3-4B0E-8A6B-0F0A3D0C9A11", options: options)
        try builder.writeSchema(to: connection)
        try connection.execute(sql)
        let external = ExternalDataWriter(location, in: folder.directory, identifiers: SeededIdentifiers(seed: "tests"))
        writer = try RowWriter(connection, layout: builder.layout(of: connection), external: external)
    }

    deinit { folder.remove() }

    @discardableResult
    func save(_ body: () throws -> Void) throws -> SaveResult {
        try writer.save(
            from: HistoryWriter.Origin(author: "tests", timestamp: 1),
            deadline: Deadline(after: .seconds(60)),
            body
        )
    }

    /// Inserts one object in a separate save.
    @discardableResult
    func insert(_ entity: String, _ values: [String: SQLValue] = [:]) throws -> ObjectKey {
        var key: ObjectKey?
        try save {
            let new = ObjectKey(entity: entity, primaryKey: try writer.allocateKeys(for: entity, count: 1))
            try writer.insert(new, values)
            key = new
        }
        guard let key else { throw StoreError(.failed, path: "", "nothing was inserted") }
        return key
    }

    func externalFiles() throws -> [String] {
        try ExternalData.open(of: location, in: folder.directory)?.entries() ?? []
    }
}
