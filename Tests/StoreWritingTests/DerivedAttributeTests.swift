import StoreAccess
import StoreFormat
import StoreWriting
import Testing

@Suite("Derived attributes of new stores")
struct DerivedAttributeTests {
    private static func derived(_ name: String, _ expression: String) -> AttributeDescription {
        AttributeDescription(name: name, type: .integer64, isDerived: true, derivationExpression: expression)
    }

    private static let model = ManagedObjectModel(entities: [
        EntityDescription(name: "Thing", attributes: [AttributeDescription(name: "mass", type: .integer64)]),
        EntityDescription(
            name: "Shelf",
            superentity: "Thing",
            attributes: [derived("booksCount", "books.@count"), derived("loud", "uppercase:(label)")],
            relationships: [
                RelationshipDescription(name: "books", destination: "Book", inverse: "shelf", maxCount: 0)
            ]
        ),
        EntityDescription(
            name: "Book",
            attributes: [derived("shelfMass", "shelf.mass")],
            relationships: [RelationshipDescription(name: "shelf", destination: "Shelf", inverse: "books")]
        ),
    ])

    @Test("A trigger reports the row that it changed with the function that genuine triggers call")
    func functions() throws {
        let triggers = try StoreShape(Self.model).triggers
        let sql = Dictionary(uniqueKeysWithValues: triggers.map { ($0.name, $0.sql) })
        let counting = "Z_DA_ZBOOK_Shelf_booksCount_PARAMETER_INSERT"
        #expect(
            sql[counting]
                == "CREATE TRIGGER \(counting) AFTER INSERT ON ZBOOK FOR EACH ROW WHEN (NEW.ZSHELF NOT NULL) BEGIN "
                + "UPDATE ZTHING SET ZBOOKSCOUNT = IFNULL(ZBOOKSCOUNT, 0) + 1 WHERE Z_PK = NEW.ZSHELF; "
                + "SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue"
                + "('ZTHING', Z_ENT, Z_PK, 'booksCount', ZBOOKSCOUNT) FROM ZTHING WHERE Z_PK = NEW.ZSHELF; END"
        )
        // A count changes an existing row; the other triggers that follow an insertion report a new one.
        let inserting = sql.filter { $0.value.contains("NSCoreDataDATriggerInsertUpdatedAffectedObjectValue(") }
        #expect(
            inserting.keys.sorted() == [
                "Z_DA_ZBOOK_Book_shelfMass_SOURCE_INSERT", "Z_DA_ZTHING_Book_shelfMass_PARAMETER_INSERT",
                "Z_DA_ZTHING_Shelf_booksCount_SOURCE_INSERT",
            ]
        )
    }

    @Test("Triggers maintain counts and followed values; other derived attributes are listed as unmaintained")
    func kept() throws {
        #expect(try StoreShape(Self.model).unmaintained == ["Shelf.loud"])
        let store = try NewStore(Self.model, tracksHistory: true)
        let thing = try store.insert("Thing", ["mass": .integer(1)])
        let shelf = try store.insert("Shelf", ["mass": .integer(7)])
        let book = try store.insert("Book")
        try store.save { try store.writer.connect(book, "shelf", to: shelf) }
        let counts = "SELECT group_concat(ifnull(ZBOOKSCOUNT, '-')) FROM (SELECT ZBOOKSCOUNT FROM ZTHING ORDER BY Z_PK)"
        #expect(try store.connection.value(counts) == .text("-,1"))
        #expect(try store.connection.value("SELECT ZSHELFMASS FROM ZBOOK") == .integer(7))

        let result = try store.save { try store.writer.update(shelf, ["mass": .integer(8)]) }
        #expect(try store.connection.value("SELECT ZSHELFMASS FROM ZBOOK") == .integer(8))
        #expect(Set(result.changes.updated) == [shelf, book])
        try store.save { try store.writer.delete([thing, book]) }
        #expect(try store.connection.value(counts) == .text("0"))
    }
}
