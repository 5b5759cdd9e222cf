import SafeFiles
import StoreFormat

extension CoreDataStore {
    /// True when the database is a Core Data store.
    static func isOne(_ connection: StoreConnection) throws -> Bool {
        try StoreMetadata(reading: connection) != nil && EntityNumbers(reading: connection) != nil
    }

    /// Nil for a plain SQLite store.
    ///
    /// Without a model in the store, what only the model defines, such as required values, is not checked.
    init?(_ connection: StoreConnection, location: StoreLocation, externalData: Directory?) throws {
        let schema = try StoreSchema(reading: connection)
        guard Self.hasColumns(["Z_VERSION", "Z_UUID", "Z_PLIST"], schema.table(named: "Z_METADATA")),
            let recorded = try EntityNumbers(reading: connection)
        else { return nil }
        let cached = try Self.cachedModel(connection, schema)
        let model = cached ?? ManagedObjectModel.inferred(from: schema, entityNumbers: recorded)
        let entityNumbers = recorded.named(by: model)
        let layout = StoreLayout(model: model, schema: schema, entityNumbers: entityNumbers)
        let spread = SpreadModel(layout, entityNumbers)

        self.connection = connection
        self.location = location
        self.externalData = externalData
        self.schema = schema
        metadata = try StoreMetadata(reading: connection) ?? StoreMetadata(uuid: "", values: [:])
        self.entityNumbers = entityNumbers
        formerNames = Dictionary(
            uniqueKeysWithValues: zip(recorded.entries, entityNumbers.entries).filter { $0.name != $1.name }
                .map { ($1.name, $0.name) }
        )
        self.model = cached
        unresolved = layout.unresolved
        abstractEntities = Set(layout.entities.values.filter(\.isAbstract).map(\.number))
        roots = entityNumbers.roots.compactMap { entry in
            // The tables of history and of the CloudKit mirror begin with another letter.
            let name = (entry.isOfModel ? "Z" : "A") + entry.name.uppercased()
            guard let table = schema.table(named: name), Self.hasColumns(["Z_PK", "Z_ENT"], table) else { return nil }
            return Root(entry: entry, table: table.name)
        }
        attributes = spread.attributes
        toOnes = spread.toOnes
        joins = spread.joins
        constraints = spread.constraints
        historyColumnLengths = cached == nil ? [:] : spread.historyColumnLengths
    }

    /// The model that Core Data keeps in the store; nil when there is none, or none that can be decoded.
    private static func cachedModel(_ connection: StoreConnection, _ schema: StoreSchema) throws -> ManagedObjectModel?
    {
        guard hasColumns(["Z_CONTENT"], schema.table(named: "Z_MODELCACHE")),
            let bytes = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")?.blob
        else { return nil }
        return try? ManagedObjectModel(modelCache: bytes)
    }

    private static func hasColumns(_ names: [String], _ table: StoreSchema.Table?) -> Bool {
        guard let table, table.holdsRows else { return false }
        return names.allSatisfy { table.column(named: $0) != nil }
    }
}
