import StoreFormat
import StoreWriting
import Testing

@Suite("The indexes of a model")
struct StoreShapeIndexTests {
    private static func shape(
        of thing: [FetchIndexDescription] = [],
        constraints: [[String]] = [],
        of part: [FetchIndexDescription] = []
    ) throws -> StoreShape {
        try StoreShape(
            ManagedObjectModel(entities: [
                EntityDescription(name: "Mark"),
                EntityDescription(
                    name: "Owner",
                    relationships: [
                        RelationshipDescription(name: "marks", destination: "Mark", maxCount: 0),
                        RelationshipDescription(name: "things", destination: "Thing", inverse: "owner", maxCount: 0),
                    ]
                ),
                EntityDescription(
                    name: "Thing",
                    attributes: [
                        AttributeDescription(name: "code", type: .integer64),
                        AttributeDescription(name: "shown", type: .string, isTransient: true),
                    ],
                    relationships: [RelationshipDescription(name: "owner", destination: "Owner", inverse: "things")],
                    uniquenessConstraints: constraints,
                    fetchIndexes: thing
                ),
                EntityDescription(name: "Part", superentity: "Thing", fetchIndexes: part),
            ])
        )
    }

    @Test("Keys have an index, also those of a to-many without an inverse, and so have the entities of a shared table")
    func keys() throws {
        #expect(
            try Self.shape().indexes.map(\.sql) == [
                "CREATE INDEX ZMARK_Z2MARKS_INDEX ON ZMARK (Z2MARKS)",
                "CREATE INDEX ZTHING_ZOWNER_INDEX ON ZTHING (ZOWNER)",
                "CREATE INDEX ZTHING_Z_ENT_INDEX ON ZTHING (Z_ENT)",
            ]
        )
    }

    @Test("Declared indexes and constraints consist of attributes and to-ones, own and inherited ones")
    func declared() throws {
        let descending = FetchIndexDescription.Element(property: "code", isAscending: false)
        let shape = try Self.shape(
            of: [
                FetchIndexDescription(name: "byCode", properties: ["code"]),
                FetchIndexDescription(name: "byOwner", elements: [.init(property: "owner"), descending]),
            ],
            constraints: [["owner", "code"]],
            of: [FetchIndexDescription(name: "inherited", properties: ["code", "owner"])]
        )
        #expect(
            shape.indexes.dropFirst(3).map(\.sql) == [
                "CREATE INDEX Z_Thing_byCode ON ZTHING (ZCODE COLLATE BINARY ASC)",
                "CREATE INDEX Z_Thing_byOwner ON ZTHING (ZOWNER COLLATE BINARY ASC, ZCODE COLLATE BINARY DESC)",
                "CREATE UNIQUE INDEX Z_Thing_UNIQUE_owner_code ON ZTHING "
                    + "(ZOWNER COLLATE BINARY ASC, ZCODE COLLATE BINARY ASC)",
                "CREATE INDEX Z_Part_inherited ON ZTHING (ZCODE COLLATE BINARY ASC, ZOWNER COLLATE BINARY ASC)",
            ]
        )
    }

    @Test("An index that exists already, lacks a column or is spatial is omitted")
    func omitted() throws {
        let owner = FetchIndexDescription(name: "byOwner", properties: ["owner"])
        let spatial = FetchIndexDescription(name: "spatial", elements: [.init(property: "code", kind: .rTree)])
        let shape = try Self.shape(
            of: [owner, spatial, FetchIndexDescription(name: "byShown", properties: ["code", "shown"])],
            constraints: [["code", "shown"]],
            of: [owner]
        )
        #expect(try shape.indexes == Self.shape().indexes)
    }
}
