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
