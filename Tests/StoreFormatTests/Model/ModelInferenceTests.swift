import StoreAccess
import StoreFormat
import TestSupport
import Testing

@Suite("Inferring a model from the tables")
struct ModelInferenceTests {
    @Test(
        "The inferred types and join tables of every genuine store match its model cache",
        .genuineStores,
        arguments: Corpus.stores
    )
    func corpus(store: String) throws {
        let scratch = try ScratchFolder()
        let connection = try StoreConnection(Corpus.copy(store, into: scratch), access: .privateCopy)
        let numbers = try #require(try EntityNumbers(reading: connection))
        let schema = try StoreSchema(reading: connection)
        let inferred = StoreLayout(
            model: .inferred(from: schema, entityNumbers: numbers),
            schema: schema,
            entityNumbers: numbers
        )
        #expect(inferred.unresolved == [])
        guard schema.table(named: "Z_MODELCACHE") != nil,
            let cache = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE")?.blob
        else { return }
        let model = StoreLayout(
            model: try ManagedObjectModel(modelCache: cache),
            schema: schema,
            entityNumbers: numbers
        )
        #expect(Set(inferred.joinTables.map(\.name)) == Set(model.joinTables.map(\.name)))
        for entity in inferred.entities.values where numbers.entry(entity.number)?.parent == 0 {
            let known = model.entities(inTable: entity.table)
            for attribute in entity.attributes {
                let types = known.flatMap(\.attributes).filter { $0.column == attribute.column }
                    .compactMap(\.description.type.declaredColumnType)
                #expect(types.allSatisfy { $0 == attribute.description.type.declaredColumnType })
            }
            for relationship in entity.relationships {
                guard case .toOne(let key) = relationship.storage else { continue }
                let destinations = known.flatMap(\.relationships)
                    .filter { if case .toOne(key) = $0.storage { true } else { false } }.map(\.description.destination)
                #expect(destinations.allSatisfy { $0 == relationship.description.destination })
            }
        }
    }

    @Test("Keys, types and join tables are inferred from the tables")
    func small() throws {
        let scratch = try ScratchFolder()
        try scratch.makeStore(
            """
            CREATE TABLE ZSHOW (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCOVER INTEGER, Z2_COVER INTEGER,
                ZVENUE INTEGER, ZROOM INTEGER, ZWHEN TIMESTAMP, ZPRICE DECIMAL, ZNAME VARCHAR, ZSCORE FLOAT, ZBLOB BLOB,
                Z_FOK_VENUE INTEGER, OWN TEXT);
            CREATE INDEX ZSHOW_ZVENUE_INDEX ON ZSHOW (ZVENUE);
            CREATE TABLE ZIMAGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
            CREATE TABLE ZVENUE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
            CREATE TABLE Z_1IMAGES (Z_1SHOWS INTEGER, Z_2IMAGES INTEGER, Z_FOK_2IMAGES INTEGER);
            CREATE TABLE Z_9LOST (Z_9LOST INTEGER, REFLEXIVE INTEGER);
            """
        )
        let numbers = EntityNumbers([
            .init(number: 1, name: "Show"), .init(number: 2, name: "Image"),
            .init(number: 3, name: "LocalImage", parent: 2), .init(number: 4, name: "Venue"),
        ])
        let model = ManagedObjectModel.inferred(
            from: try StoreSchema(reading: scratch.open()),
            entityNumbers: numbers
        )
        let show = try #require(model.entitiesByName["Show"])
        #expect(
            show.attributes.map { "\($0.name) \($0.type)" } == [
                "ROOM integer64", "WHEN date", "PRICE decimal", "NAME string", "SCORE double", "BLOB binaryData",
            ]
        )
        #expect(
            show.relationships == [
                RelationshipDescription(
                    name: "IMAGES",
                    destination: "Image",
                    inverse: "SHOWS",
                    maxCount: 0,
                    isOrdered: true
                ),
                RelationshipDescription(name: "COVER", destination: "Image"),
                RelationshipDescription(name: "VENUE", destination: "Venue"),
            ]
        )
        #expect(model.entitiesByName["LocalImage"]?.superentity == "Image")
    }
}
