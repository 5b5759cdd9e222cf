import StoreFormat
import Testing

@testable import store_migrate

@Suite("Model as a Mermaid graph")
struct ModelGraphTests {
    @Test("Every kind of relationship becomes a line, and names that Mermaid misreads become labels")
    func golden() throws {
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                name: "Author",
                relationships: [
                    RelationshipDescription(name: "books", destination: "Book", inverse: "author", maxCount: 0),
                    RelationshipDescription(name: "friends", destination: "Author", inverse: "friends", maxCount: 0),
                    RelationshipDescription(name: "order", destination: "order", isOptional: false),
                    RelationshipDescription(name: "lost", destination: "Nowhere"),
                ]
            ),
            EntityDescription(
                name: "Book",
                isAbstract: true,
                attributes: [AttributeDescription(name: "a \"title\"", type: .string)],
                relationships: [
                    RelationshipDescription(
                        name: "author",
                        destination: "Author",
                        inverse: "books",
                        isOptional: false
                    ),
                    RelationshipDescription(
                        name: "pages",
                        destination: "Größe {1}",
                        minCount: 2,
                        maxCount: 9,
                        isOptional: false
                    ),
                ]
            ),
            EntityDescription(name: "Comic", superentity: "Book"),
            EntityDescription(name: "Größe {1}"),
            EntityDescription(name: "order"),
        ])
        let text = ModelGraph(model).text
        #expect(
            text == """
                classDiagram
                    class Author
                    class Book {
                        <<abstract>>
                        string? a__title_
                    }
                    class Comic
                    class _4["Größe__1_"]
                    class _5["order"]
                    Book <|-- Comic
                    Author "1" -- "*" Book : books / author
                    Author "*" -- "*" Author : friends
                    Author --> "1" _5 : order
                    Book --> "2..9" _4 : pages
                """
        )
        try MermaidSubset.check(text + "\n")
        #expect(throws: MermaidSubset.Violation.self) { try MermaidSubset.check("classDiagram\n    class order\n") }
    }
}
