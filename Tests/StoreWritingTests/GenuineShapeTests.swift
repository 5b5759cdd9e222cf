import StoreAccess
import StoreFormat
import StoreWriting
import TestSupport
import Testing

/// Compares name by name; differences that have an explanation are passed over.
///
/// - which side names a join table is not derivable, nor the digit after a column name that is there twice in one;
/// - frameworks before 850 know indexed attributes instead of fetch indexes, which our model does not;
/// - partial, spatial and expression indexes cannot be made from our model;
/// - a store in which the kept model is not the one of its tables (one carries another version's).
@Suite(
    "The schema of new stores, compared with genuine ones",
    .genuineStores
)
struct GenuineShapeTests {
    private struct Genuine: Sendable {
        let shape: StoreShape
        let schema: StoreSchema
        let metadata: StoreMetadata
        let entities: [String]

        /// Nil for a store without a model of its own tables.
        private init?(_ connection: StoreConnection) throws {
            let hasCache = "SELECT count(*) FROM sqlite_schema WHERE name = 'Z_MODELCACHE'"
            guard try connection.value(hasCache) == .integer(1),
                let cache = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE")?.blob,
                let numbers = try EntityNumbers(reading: connection),
                let metadata = try StoreMetadata(reading: connection)
            else { return nil }
            shape = try StoreShape(ManagedObjectModel(modelCache: cache))
            schema = try StoreSchema(reading: connection)
            self.metadata = metadata
            entities = numbers.modelEntries.map(\.name)
            guard Set(shape.numbering.names) == Set(entities) else { return nil }
        }

        static func read(_ store: String) throws -> Genuine? {
            try Corpus.withCopy(store) { try Genuine($0) }
        }
    }

    @Test("Entity tables have the genuine columns in the genuine order", arguments: Corpus.stores)
    func entityTables(_ store: String) throws {
        guard let genuine = try Genuine.read(store) else { return }
        #expect(genuine.shape.numbering.names == genuine.entities)
        for table in genuine.shape.tables where table.joinKey == nil {
            let theirs = try #require(genuine.schema.table(named: table.name))
            #expect(
                table.columns.map { "\($0.name) \($0.type)".replacing(" PRIMARY KEY", with: "") }
                    == theirs.columns.map { "\($0.name) \($0.declaredType)" }
            )
        }
    }

    @Test("Join tables have genuine names and columns, named after either side", arguments: Corpus.stores)
    func joinTables(_ store: String) throws {
        guard let genuine = try Genuine.read(store) else { return }
        let known = Set(genuine.shape.tables.map(\.name))
        let unknown = genuine.schema.tables.filter { $0.name.hasPrefix("Z") && !known.contains($0.name) }
            .filter { $0.kind == .ordinary && !Self.bookkeeping.contains($0.name) }
        for table in genuine.shape.tables where table.joinKey != nil {
            let mine = Set(table.columns.map { Self.withoutDigit($0.name) })
            let theirs = genuine.schema.table(named: table.name).map { [$0] } ?? unknown
            #expect(theirs.contains { mine == Set($0.columns.map { Self.withoutDigit($0.name) }) })
        }
        // Each table without our name exists under the other side's name.
        #expect(unknown.count == genuine.shape.tables.filter { genuine.schema.table(named: $0.name) == nil }.count)
    }

    @Test("Indexes of entity tables have the genuine statements", arguments: Corpus.stores)
    func indexes(_ store: String) throws {
        guard let genuine = try Genuine.read(store), (genuine.metadata.frameworkVersion ?? 0) >= 850 else { return }
        let special = Set(
            genuine.shape.model.entitiesByName.values.flatMap { entity in
                entity.fetchIndexes.filter(Self.isSpecial).map { "Z_\(entity.name)_\($0.name)" }
            }
        )
        let tables = Set(genuine.shape.tables.filter { $0.joinKey == nil }.map(\.name))
        let theirs = genuine.schema.tables.filter { tables.contains($0.name) }.flatMap(\.indexes)
            .filter { !special.contains($0.name) && !$0.isPartial }.compactMap(\.sql)
        let joins = genuine.shape.tables.filter { $0.joinKey != nil }.map { " ON \($0.name) (" }
        let mine = genuine.shape.indexes.filter { index in
            !special.contains(index.name) && !joins.contains { index.sql.contains($0) }
        }
        #expect(Set(mine.map(\.sql)) == Set(theirs))
    }

    @Test("Triggers of derived attributes have the genuine statements", arguments: Corpus.stores)
    func triggers(_ store: String) throws {
        guard let genuine = try Genuine.read(store) else { return }
        let theirs = genuine.schema.triggers.filter { $0.name.hasPrefix("Z_DA_") }.map(\.sql)
        #expect(Set(genuine.shape.triggers.map(\.sql)) == Set(theirs))
        #expect(genuine.shape.unmaintained == [])
    }

    @Test("A written model cache decodes to the genuine model", arguments: Corpus.stores)
    func modelCache(_ store: String) throws {
        guard let genuine = try Genuine.read(store) else { return }
        let model = genuine.shape.model
        #expect(try ManagedObjectModel(modelCache: ModelCacheWriter.bytes(of: model)) == model)
    }

    @Test("Written metadata decodes to the same values", arguments: Corpus.stores)
    func metadata(_ store: String) throws {
        guard let metadata = try Corpus.withCopy(store, { try StoreMetadata(reading: $0) }) else { return }
        let bytes = PropertyListWriter.bytes(of: .dictionary(metadata.values))
        #expect(try PropertyListReader.value(from: bytes) == .dictionary(metadata.values))
        if let recorded = metadata.recordedModelDigest {
            #expect(MetadataWriter.versionHashesDigest(metadata.entityVersionHashes) == recorded)
        }
        if let recorded = metadata.recordedModelChecksum {
            #expect(MetadataWriter.versionChecksum(metadata.entityVersionHashes) == recorded)
        }
    }

    private static let bookkeeping: Set = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]

    private static func isSpecial(_ index: FetchIndexDescription) -> Bool {
        index.isPartial || index.elements.contains { $0.kind != .binary || $0.property.hasPrefix("expression") }
    }

    private static func withoutDigit(_ name: String) -> String {
        String(name.reversed().drop { $0.isNumber }.reversed())
    }
}
