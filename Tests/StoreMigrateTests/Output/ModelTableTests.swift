import RunReports
import StoreFormat
import Testing

@testable import store_migrate

@Suite("The table of entities in a report")
struct ModelTableTests {
    @Test("Each entity has a row with its objects, attributes, relationships and the entity that it inherits from")
    func table() {
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                name: "Author",
                relationships: [
                    RelationshipDescription(name: "books", destination: "Book", inverse: "author", maxCount: 0),
                    RelationshipDescription(name: "lost", destination: "Nowhere"),
                ]
            ),
            EntityDescription(
                name: "Book",
                attributes: [
                    AttributeDescription(name: "title", type: .string),
                    AttributeDescription(name: "pages", type: .integer64),
                ],
                relationships: [RelationshipDescription(name: "author", destination: "Author", inverse: "books")]
            ), EntityDescription(name: "Comic", superentity: "Book", isAbstract: true),
        ])
        let table = ReportTable(model, objects: ["Book": 1_000])
        #expect(table.columns.map(\.heading) == ["entity", "objects", "attributes", "relationships"])
        #expect(
            table.rows.map { $0.map(\.text) } == [
                ["Author", "", "", "books: many Book, inverse author; lost: Nowhere"],
                [
                    "Book", "1,000", "title: string, optional; pages: integer64, optional",
                    "author: Author, inverse books",
                ],
                ["Comic", "", "", ""],
            ]
        )
        #expect(table.rows.map { $0[0].note } == [nil, nil, "abstract, inherits from Book"])
    }
}
