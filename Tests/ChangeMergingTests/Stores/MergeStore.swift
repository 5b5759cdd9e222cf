import ChangeMerging
import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting

/// An open store of a merge test.
final class MergeStore {
    let connection: StoreConnection
    let writer: RowWriter
    let model: ManagedObjectModel
    private let folder: Directory
    let location: StoreLocation
    /// The time of the last save; each save is one second later.
    var clock = 0.0

    init(_ location: StoreLocation, in folder: Directory, _ model: ManagedObjectModel) throws {
        self.location = location
        self.folder = folder
        self.model = model
        connection = try StoreConnection(location, access: .liveWriting)
        try connection.execute("PRAGMA synchronous=OFF")
        guard let layout = try StoreLayout(reading: connection, model: model) else {
            throw StoreError(.failed, path: location.path, "no layout")
        }
        writer = try RowWriter(
            connection,
            layout: layout,
            external: ExternalDataWriter(location, in: folder, identifiers: SeededIdentifiers(seed: location.name))
        )
    }

    func side() throws -> MergeSide {
        try MergeSide(connection, externalData: externalData(), model: model)
    }

    func place() throws -> MergePlace { MergePlace(connection, externalData: try externalData(), model: model) }

    func externalData() throws -> Directory? { try ExternalData.open(of: location, in: folder) }

    func save(_ body: (RowWriter) throws -> Void) throws {
        clock += 1
        _ = try writer.save(
            from: HistoryWriter.Origin(author: location.name, timestamp: clock),
            deadline: Deadline(after: .seconds(60))
        ) { try body(writer) }
    }

    @discardableResult
    func insert(_ entity: String, _ values: [String: SQLValue] = [:]) throws -> ObjectKey {
        var key = ObjectKey(entity: entity, primaryKey: 0)
        try save {
            key = ObjectKey(entity: entity, primaryKey: try $0.allocateKeys(for: entity, count: 1))
            try $0.insert(key, values)
        }
        return key
    }

    /// All objects, in the order of their entities and keys.
    func objects() throws -> [ObjectKey] {
        var found: [ObjectKey] = []
        for entity in writer.layout.entities.values.sorted(by: { $0.number < $1.number }) {
            try connection.forEachRow(
                "SELECT Z_PK FROM \(SQLName.quoted(entity.table)) WHERE Z_ENT = \(entity.number) ORDER BY Z_PK"
            ) { found.append(ObjectKey(entity: entity.name, primaryKey: $0.integer(0))) }
        }
        return found
    }

    func value(_ attribute: String, of key: ObjectKey) throws -> SQLValue? {
        try side().stored([attribute], of: key.entity, key.primaryKey)?[attribute]
    }
}
