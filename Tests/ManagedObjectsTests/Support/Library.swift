import StoreFormat

/// A model with every kind of relationship and delete rule.
enum Library {
    static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Author",
            attributes: [
                AttributeDescription(name: "name", type: .string, isOptional: false),
                AttributeDescription(name: "age", type: .integer16),
            ],
            relationships: [
                RelationshipDescription(
                    name: "books",
                    destination: "Book",
                    inverse: "author",
                    maxCount: 0,
                    deleteRule: .cascade
                ),
                RelationshipDescription(name: "passport", destination: "Passport", inverse: "owner"),
                RelationshipDescription(
                    name: "friends",
                    destination: "Author",
                    inverse: "friends",
                    maxCount: 0
                ),
                RelationshipDescription(
                    name: "awards",
                    destination: "Award",
                    inverse: "winner",
                    maxCount: 0,
                    deleteRule: .deny
                ),
            ],
            uniquenessConstraints: [["name"]]
        ),
        EntityDescription(
            name: "Book",
            attributes: [AttributeDescription(name: "title", type: .string)],
            relationships: [
                RelationshipDescription(name: "author", destination: "Author", inverse: "books"),
                RelationshipDescription(name: "tags", destination: "Tag", inverse: "books", maxCount: 0),
                RelationshipDescription(
                    name: "chapters",
                    destination: "Chapter",
                    inverse: "book",
                    maxCount: 0,
                    isOrdered: true,
                    deleteRule: .cascade
                ),
            ]
        ),
        EntityDescription(
            name: "Comic",
            superentity: "Book",
            attributes: [AttributeDescription(name: "isColoured", type: .boolean, defaultValue: .boolean(true))]
        ),
        EntityDescription(
            name: "Chapter",
            attributes: [AttributeDescription(name: "heading", type: .string)],
            relationships: [RelationshipDescription(name: "book", destination: "Book", inverse: "chapters")]
        ),
        EntityDescription(
            name: "Tag",
            attributes: [AttributeDescription(name: "word", type: .string)],
            relationships: [
                RelationshipDescription(name: "books", destination: "Book", inverse: "tags", maxCount: 0)
            ]
        ),
        EntityDescription(
            name: "Passport",
            attributes: [AttributeDescription(name: "number", type: .integer64)],
            relationships: [RelationshipDescription(name: "owner", destination: "Author", inverse: "passport")]
        ),
        EntityDescription(
            name: "Award",
            relationships: [
                RelationshipDescription(
                    name: "winner",
                    destination: "Author",
                    inverse: "awards",
                    isOptional: false
                )
            ]
        ),
    ])
}
