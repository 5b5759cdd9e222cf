import ManagedObjects
import StoreAccess
import Testing

@Suite("Predicates that refer to objects")
struct PredicateObjectTests {
    @Test("A predicate matches an object given as object or ID, and by its temporary ID after the save")
    func saved() throws {
        let stack = try SiblingStack(Library.model)
        try stack.main.performAndWait { context in
            let author = try context.insertNewObject(forEntityName: "Author")
            try author.setValue("Ann", forKey: "name")
            let book = try context.insertNewObject(forEntityName: "Book")
            try book.setObject(author, forKey: "author")
            let orphan = try context.insertNewObject(forEntityName: "Book")
            func books(_ format: String, _ argument: any PredicateArgument) throws -> FetchRequest<ManagedObject> {
                FetchRequest(
                    entityName: "Book",
                    predicate: try FetchPredicate(format: format, argument),
                    sortDescriptors: [.init(keyPath: "title")]
                )
            }
            let requests = try [
                books("author == %@", author.objectID), books("author == %@", author), books("SELF IN %@", [book]),
                books("SUBQUERY(author.books, $b, $b == %@).@count == 1", book), books("NOT SELF == %@", orphan),
            ]
            let controller = FetchedResultsController(fetchRequest: requests[0], managedObjectContext: context)
            try controller.performFetch()
            let replay = ListReplay(controller)
            controller.delegate = replay
            for request in requests { #expect(try context.fetch(request) == [book]) }
            try context.save()
            for request in requests {
                #expect(try context.fetch(request) == [book])
                #expect(try context.count(for: request) == 1)
                #expect(try context.fetchDictionaries(request).count == 1)
            }
            // From here on, unsaved changes are evaluated in memory.
            try book.setValue("b", forKey: "title")
            for request in requests { #expect(try context.fetch(request) == [book]) }
            let second = try context.insertNewObject(forEntityName: "Book")
            try second.setValue("c", forKey: "title")
            try second.setObject(author, forKey: "author")
            try context.processPendingChanges()
            #expect(controller.fetchedObjects == [book, second])
            #expect(replay.sections == [[book, second]])
        }
    }

    @Test("A dangling reference has no entity, in SQL and in memory")
    func dangling() throws {
        let stack = try SiblingStack(Library.model)
        try stack.main.performAndWait { context in
            let author = try context.insertNewObject(forEntityName: "Author")
            try author.setValue("Ann", forKey: "name")
            try context.insertNewObject(forEntityName: "Book").setObject(author, forKey: "author")
            try context.save()
            try context.reset()
        }
        let connection = try StoreConnection(stack.location, access: .liveWriting, lockTimeout: .seconds(60))
        try connection.execute("DELETE FROM ZAUTHOR")
        try connection.close()
        try stack.main.performAndWait { context in
            let books = try context.fetch(FetchRequest(entityName: "Book"))
            for (format, count) in [
                ("author != nil", 1), ("author.entity == 'Author'", 0), ("author.entity != 'Author'", 1),
                ("author.entity IN {'Author', 'Book'}", 0), ("author.name == nil", 1), ("entity == 'Book'", 1),
            ] {
                let predicate = try FetchPredicate(format: format)
                let found = try context.fetch(FetchRequest(entityName: "Book", predicate: predicate))
                #expect(found.count == count, "\(format)")
                let evaluator = PredicateEvaluator(try predicate.resolved(for: "Book", in: Library.model))
                #expect(try books.filter { try evaluator.matches($0) }.count == count, "\(format)")
            }
        }
    }
}
