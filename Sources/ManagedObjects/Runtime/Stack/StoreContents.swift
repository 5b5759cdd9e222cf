internal import SafeFiles
internal import StoreAccess
internal import StoreFormat

/// A store's data that is read once when it is opened: metadata, model and layout.
struct StoreContents: Sendable {
    let metadata: StoreMetadata
    let model: ModelShape
    /// True when the model was inferred from the tables: reading works, but writing would rely on guesses.
    let isModelInferred: Bool
    let layout: StoreLayout
    let families: ObjectIDFamilies
    /// Nil for a store without history.
    let history: PersistentHistory?
    let journalMode: String

    /// True when the history is not empty.
    let holdsHistory: Bool

    var hasHistory: Bool { history != nil }

    /// Reads a store; a given model must match the store's, as far as hashes show.
    init(reading connection: StoreConnection, givenModel: ManagedObjectModel?, givenHashes: [String: [UInt8]]?) throws {
        let path = connection.location.path
        guard let metadata = try StoreMetadata(reading: connection),
            let numbers = try EntityNumbers(reading: connection)
        else {
            throw ManagedObjectError(
                .open,
                "this is not a Core Data store: it lacks Z_METADATA or Z_PRIMARYKEY: \(path)"
            )
        }
        self.metadata = metadata
        let schema = try StoreSchema(reading: connection)
        let own = try Self.modelCache(of: connection)
        if let givenModel {
            try Self.check(givenModel, hashes: givenHashes, against: metadata, numbers, cached: own, path: path)
        }
        let model = givenModel ?? own ?? .inferred(from: schema, entityNumbers: numbers)
        self.model = ModelShape(model)
        isModelInferred = givenModel == nil && own == nil
        layout = StoreLayout(model: model, schema: schema, entityNumbers: numbers)
        families = ObjectIDFamilies(layout, storeUUID: metadata.uuid)
        // If history was never enabled, its tables may exist, but without entity numbers.
        history = numbers.number(of: "TRANSACTION") == nil ? nil : PersistentHistory(schema: schema)
        holdsHistory = try history != nil && connection.value("SELECT 1 FROM ATRANSACTION LIMIT 1") != nil
        journalMode = try connection.value("PRAGMA journal_mode")?.text ?? ""
    }

    private static func modelCache(of connection: StoreConnection) throws -> ManagedObjectModel? {
        guard try connection.value("SELECT 1 FROM sqlite_schema WHERE name = 'Z_MODELCACHE'") != nil,
            let bytes = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE")?.blob
        else { return nil }
        return try? ManagedObjectModel(modelCache: bytes)
    }

    /// Rejects a store of another model: compares version hashes if both are known, else the entities.
    private static func check(
        _ model: ManagedObjectModel,
        hashes: [String: [UInt8]]?,
        against metadata: StoreMetadata,
        _ numbers: EntityNumbers,
        cached: ManagedObjectModel?,
        path: String
    ) throws {
        let differing: [String]
        if let hashes, !metadata.entityVersionHashes.isEmpty {
            let known = metadata.entityVersionHashes
            differing = Set(hashes.keys).union(known.keys).filter { hashes[$0] != known[$0] }
        } else if let cached {
            differing = Set(model.entitiesByName.keys).union(cached.entitiesByName.keys)
                .filter { model.entitiesByName[$0]?.versionedForm != cached.entitiesByName[$0]?.versionedForm }
        } else {
            let numbered = numbers.named(by: model, guessing: false).modelEntries.map(\.name)
            differing = Array(Set(model.entitiesByName.keys).symmetricDifference(numbered))
        }
        guard differing.isEmpty else {
            let names = differing.sorted(by: ManagedObjectModel.inByteOrder).joined(separator: ", ")
            throw ManagedObjectError(
                .incompatibleModel,
                "the store has another model (\(names) differ); migrate it first: \(path)"
            )
        }
    }
}
