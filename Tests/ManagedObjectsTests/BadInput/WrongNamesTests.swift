import FoundationEssentials
import ManagedObjects
import StoreAccess
import StoreFormat
import Testing

@Suite("Names and values that do not fit the model")
struct WrongNamesTests {
    /// A programming error.
    enum Mistake: String, CaseIterable, Sendable {
        case fetchOfNoEntity, predicateOverNoAttribute, predicateOfWrongType, orderByNoAttribute, orderByToMany
        case dictionaryOfNoAttribute, prefetchOfNoRelationship, insertOfNoEntity, insertOfAbstractEntity
        case valueForNoKey, valueForRelationship, valueOfWrongType, valueOutOfRange, readOfNoKey
        case destinationForAttribute, destinationOfOtherEntity, toManyForToOne
        case batchInsertOfNoEntity, batchInsertOfNoAttribute, batchInsertOfWrongType
        case batchUpdateOfNoAttribute, batchUpdateOfWrongType, batchDeleteOfNoEntity, controllerWithoutOrder
    }

    @Test("Errors for wrong names and values name them, leave the store unchanged and do not affect later saves")
    func mistakes() throws {
        let shelf = try Shelf()
        let context = try shelf.open()
        let before = try shelf.content()
        try context.performAndWait { context in
            let author = try #require(try context.fetch(FetchRequest(entityName: "Author")).first)
            let book = try #require(try context.fetch(FetchRequest(entityName: "Book")).first)
            try author.setValue("B", forKey: "name")
            for mistake in Mistake.allCases {
                let error = #expect(throws: (any Error).self, "\(mistake)") {
                    try make(mistake, book, author, in: context)
                }
                let isOurs =
                    error is FetchError || error is ManagedObjectError || (error as? StoreError)?.code == .incompatible
                #expect(isOurs, "\(mistake): \(String(describing: error))")
                let text = error.map { "\($0)" } ?? ""
                #expect(text.contains(name(of: mistake)), "\(mistake): \(text)")
                #expect(!text.contains("secret"), "\(mistake) reveals a value: \(text)")
                #expect(context.insertedObjects.isEmpty, "\(mistake)")
                #expect(context.updatedObjects == [author], "\(mistake)")
            }
        }
        #expect(try shelf.content() == before)
        try context.performAndWait { try $0.save() }
        #expect(try shelf.content() != before)
    }

    private func make(
        _ mistake: Mistake,
        _ book: ManagedObject,
        _ author: ManagedObject,
        in context: isolated ManagedObjectContext
    ) throws {
        var books = FetchRequest(entityName: "Book")
        switch mistake {
        case .fetchOfNoEntity: _ = try context.fetch(FetchRequest(entityName: "Bok"))
        case .predicateOverNoAttribute:
            books.predicate = try FetchPredicate(format: "author.nme == 'secret'")
            _ = try context.fetch(books)
        case .predicateOfWrongType:
            books.predicate = try FetchPredicate(format: "pages == 'secret'")
            _ = try context.fetch(books)
        case .orderByNoAttribute:
            books.sortDescriptors = [.init(keyPath: "titel")]
            _ = try context.fetch(books)
        case .orderByToMany:
            books.sortDescriptors = [.init(keyPath: "author.books.title")]
            _ = try context.fetch(books)
        case .dictionaryOfNoAttribute:
            books.propertiesToFetch = ["titel"]
            _ = try context.fetchDictionaries(books)
        case .prefetchOfNoRelationship:
            books.relationshipKeyPathsForPrefetching = ["autor"]
            _ = try context.fetch(books)
        case .insertOfNoEntity: _ = try context.insertNewObject(forEntityName: "Bok")
        case .insertOfAbstractEntity: _ = try context.insertNewObject(forEntityName: "Item")
        case .valueForNoKey: try book.setValue("secret", forKey: "titel")
        case .valueForRelationship: try book.setValue("secret", forKey: "author")
        case .valueOfWrongType: try book.setValue("secret", forKey: "pages")
        case .valueOutOfRange: try book.setValue(Int64(1 << 40), forKey: "pages")
        case .readOfNoKey: _ = try book.value(forKey: "titel")
        case .destinationForAttribute: try book.setObject(author, forKey: "title")
        case .destinationOfOtherEntity: try book.setObject(book, forKey: "author")
        case .toManyForToOne: try book.setObjects([author], forKey: "author")
        case .batchInsertOfNoEntity: _ = try context.batchInsert(entityName: "Bok", objects: [[:]])
        case .batchInsertOfNoAttribute:
            _ = try context.batchInsert(
                entityName: "Author",
                objects: [["name": .string("x")], ["nme": .string("secret")]]
            )
        case .batchInsertOfWrongType:
            _ = try context.batchInsert(entityName: "Author", objects: [["name": .string("x")], ["name": .integer(5)]])
        case .batchUpdateOfNoAttribute: _ = try context.batchUpdate(books, values: ["titel": .string("secret")])
        case .batchUpdateOfWrongType: _ = try context.batchUpdate(books, values: ["pages": .string("secret")])
        case .batchDeleteOfNoEntity: _ = try context.batchDelete(FetchRequest(entityName: "Bok"))
        case .controllerWithoutOrder:
            try FetchedResultsController(fetchRequest: books, managedObjectContext: context).performFetch()
        }
    }

    /// The name that the message must contain.
    private func name(of mistake: Mistake) -> String {
        switch mistake {
        case .fetchOfNoEntity, .insertOfNoEntity, .batchInsertOfNoEntity, .batchDeleteOfNoEntity: "Bok"
        case .insertOfAbstractEntity: "Item"
        case .predicateOverNoAttribute, .batchInsertOfNoAttribute: "nme"
        case .orderByNoAttribute, .dictionaryOfNoAttribute, .valueForNoKey, .readOfNoKey, .batchUpdateOfNoAttribute:
            "titel"
        case .predicateOfWrongType, .valueOfWrongType, .valueOutOfRange, .batchUpdateOfWrongType: "pages"
        case .orderByToMany: "books"
        case .prefetchOfNoRelationship: "autor"
        case .valueForRelationship, .destinationOfOtherEntity, .toManyForToOne: "author"
        case .destinationForAttribute: "title"
        case .batchInsertOfWrongType: "name"
        case .controllerWithoutOrder: "Book"
        }
    }
}
