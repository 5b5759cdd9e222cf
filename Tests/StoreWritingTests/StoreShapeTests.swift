import StoreAccess
import StoreFormat
import StoreWriting
import Testing

@Suite("The tables of a model")
struct StoreShapeTests {
    private static func entity(_ name: String, in superentity: String? = nil) -> EntityDescription {
        EntityDescription(name: name, superentity: superentity)
    }

    @Test("Entities are numbered depth first, siblings by name without regard to case")
    func numbering() throws {
        let model = ManagedObjectModel(entities: [
            Self.entity("ComputeSync"), Self.entity("ComputedAsset"), Self.entity("album", in: "Zoo"),
            Self.entity("Zoo"), Self.entity("Bird", in: "Zoo"), Self.entity("Ant", in: "Bird"),
        ])
        let numbering = try EntityNumbering(model)
        #expect(numbering.names == ["ComputedAsset", "ComputeSync", "Zoo", "album", "Bird", "Ant"])
        #expect(numbering.root(of: "Ant") == "Zoo")
        #expect(numbering.subtree(of: "Bird") == ["Bird", "Ant"])
    }

    @Test("Two columns with one name are numbered in the order of their entities")
    func repeatedNames() throws {
        let code = AttributeDescription(name: "code", type: .string)
        let shape = try StoreShape(
            ManagedObjectModel(entities: [
                Self.entity("Root"),
                EntityDescription(name: "B", superentity: "Root", attributes: [code]),
                EntityDescription(name: "A", superentity: "Root", attributes: [code]),
            ])
        )
        // The columns are in the order of the entities too, so A's is the first.
        #expect(shape.tables.first?.columns.map(\.name).suffix(2) == ["ZCODE", "ZCODE1"])
    }

    @Test("Each column of a join table is named for the entity whose keys it contains")
    func joinTable() throws {
        let shape = try StoreShape(
            ManagedObjectModel(entities: [
                EntityDescription(
                    name: "AdditionalAssetAttributes",
                    relationships: [
                        RelationshipDescription(
                            name: "keywords",
                            destination: "Keyword",
                            inverse: "assetAttributes",
                            maxCount: 0
                        )
                    ]
                ),
                EntityDescription(
                    name: "Keyword",
                    relationships: [
                        RelationshipDescription(
                            name: "assetAttributes",
                            destination: "AdditionalAssetAttributes",
                            inverse: "keywords",
                            maxCount: 0,
                            isOrdered: true
                        )
                    ]
                ),
            ])
        )
        let table = try #require(shape.tables.first { $0.joinKey != nil })
        #expect(
            table.sql
                == "CREATE TABLE Z_1KEYWORDS ( Z_1ASSETATTRIBUTES INTEGER, Z_2KEYWORDS INTEGER, "
                + "Z_FOK_1ASSETATTRIBUTES INTEGER, PRIMARY KEY (Z_1ASSETATTRIBUTES, Z_2KEYWORDS) )"
        )
    }

    struct ManyToMany: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let relationships: [RelationshipDescription]
        let sql: String
    }

    static let manyToMany = [
        ManyToMany(
            testDescription: "two entities, without an order",
            relationships: [
                RelationshipDescription(name: "clubs", destination: "Club", inverse: "members", maxCount: 0)
            ],
            sql: "CREATE TABLE Z_1MEMBERS ( Z_1CLUBS INTEGER, Z_2MEMBERS INTEGER, PRIMARY KEY (Z_1CLUBS, Z_2MEMBERS) )"
        ),
        ManyToMany(
            testDescription: "one entity, named for the ordered side",
            relationships: [
                RelationshipDescription(name: "fans", destination: "Person", inverse: "idols", maxCount: 0),
                RelationshipDescription(
                    name: "idols",
                    destination: "Person",
                    inverse: "fans",
                    maxCount: 0,
                    isOrdered: true
                ),
            ],
            sql: "CREATE TABLE Z_2IDOLS ( Z_2FANS INTEGER, Z_2IDOLS INTEGER, Z_FOK_2IDOLS INTEGER, "
                + "PRIMARY KEY (Z_2FANS, Z_2IDOLS) )"
        ),
        ManyToMany(
            testDescription: "an ordered relationship that is its own inverse",
            relationships: [
                RelationshipDescription(
                    name: "friends",
                    destination: "Person",
                    inverse: "friends",
                    maxCount: 0,
                    isOrdered: true
                )
            ],
            sql: "CREATE TABLE Z_2FRIENDS ( Z_2FRIENDS INTEGER, REFLEXIVE INTEGER, Z_FOK_2FRIENDS INTEGER, "
                + "PRIMARY KEY (Z_2FRIENDS, REFLEXIVE) )"
        ),
    ]

    @Test(
        "A join table has an order key for each ordered side, and one for a symmetric relationship",
        arguments: manyToMany
    )
    func orderKeys(_ pair: ManyToMany) throws {
        let joinsClubs = pair.relationships.contains { $0.destination == "Club" }
        let members = RelationshipDescription(name: "members", destination: "Person", inverse: "clubs", maxCount: 0)
        let shape = try StoreShape(
            ManagedObjectModel(entities: [
                EntityDescription(name: "Club", relationships: joinsClubs ? [members] : []),
                EntityDescription(name: "Person", relationships: pair.relationships),
            ])
        )
        #expect(shape.tables.filter { $0.joinKey != nil }.map(\.sql) == [pair.sql])
    }

    @Test("A to-many and a transient to-one have no column in the table of their owner")
    func withoutColumn() throws {
        let shape = try StoreShape(
            ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Person",
                    relationships: [
                        RelationshipDescription(name: "nearest", destination: "Pet", isTransient: true),
                        RelationshipDescription(name: "pets", destination: "Pet", inverse: "keeper", maxCount: 0),
                    ]
                ),
                EntityDescription(
                    name: "Pet",
                    relationships: [RelationshipDescription(name: "keeper", destination: "Person", inverse: "pets")]
                ),
            ])
        )
        let columns = shape.tables.map { $0.columns.dropFirst(3).map(\.name) }
        #expect(columns == [[], ["ZKEEPER"]])
    }

    @Test("The columns of one relationship have the same digit, even if an entity has the name of the relationship")
    func repeatedKeys() throws {
        func owner(_ name: String, _ inverse: String) -> [RelationshipDescription] {
            [RelationshipDescription(name: name, destination: "Person", inverse: inverse)]
        }
        func owned(_ name: String, _ entity: String, _ inverse: String) -> RelationshipDescription {
            RelationshipDescription(name: name, destination: entity, inverse: inverse, maxCount: 0, isOrdered: true)
        }
        let shape = try StoreShape(
            ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Person",
                    relationships: [owned("badges", "Badge", "Owner"), owned("cards", "Card", "owner")]
                ),
                Self.entity("Child", in: "Person"), Self.entity("Thing"),
                EntityDescription(name: "Badge", superentity: "Thing", relationships: owner("Owner", "badges")),
                EntityDescription(name: "Card", superentity: "Thing", relationships: owner("owner", "cards")),
                Self.entity("Owner", in: "Thing"),
            ])
        )
        let table = try #require(shape.tables.first { $0.name == "ZTHING" })
        #expect(
            table.columns.dropFirst(3).map(\.name) == [
                "ZOWNER", "Z1_OWNER", "ZOWNER1", "Z1_OWNER1", "Z_FOK_OWNER", "Z_FOK_OWNER1",
            ]
        )
    }

    struct WrongModel: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let entities: [EntityDescription]
        let words: String
    }

    static let wrongModels = [
        WrongModel(
            testDescription: "an unknown parent",
            entities: [entity("A", in: "B")],
            words: "entity A has an unknown parent B"
        ),
        WrongModel(
            testDescription: "a cycle of parents",
            entities: [entity("A", in: "B"), entity("B", in: "A")],
            words: "the model's entities descend from each other"
        ),
        WrongModel(
            testDescription: "an unknown destination",
            entities: [
                EntityDescription(
                    name: "A",
                    relationships: [RelationshipDescription(name: "b", destination: "B")]
                )
            ],
            words: "A.b refers to an unknown entity B"
        ),
        WrongModel(
            testDescription: "a missing inverse",
            entities: [
                EntityDescription(
                    name: "A",
                    relationships: [RelationshipDescription(name: "a", destination: "A", inverse: "x")]
                )
            ],
            words: "A.a names an inverse that A does not have"
        ),
        WrongModel(
            testDescription: "names that differ in case only",
            entities: [entity("Habit"), entity("habit")],
            words: "two entities or relationships need the table ZHABIT"
        ),
        WrongModel(
            testDescription: "a type without a column",
            entities: [
                EntityDescription(name: "A", attributes: [AttributeDescription(name: "x", type: .objectID)])
            ],
            words: "A.x has a type that an SQLite store does not keep"
        ),
    ]

    @Test("A model that does not permit a store is rejected with the reason", arguments: wrongModels)
    func refused(_ wrong: WrongModel) {
        let error = #expect(throws: StoreError.self) {
            try StoreShape(ManagedObjectModel(entities: wrong.entities))
        }
        #expect(error?.code == .incompatible)
        #expect(error?.message == wrong.words)
    }
}
