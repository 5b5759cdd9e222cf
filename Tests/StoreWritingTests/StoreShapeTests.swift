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
