import ManagedObjects
import StoreFormat
import Testing

@Suite("Relationships of objects")
struct RelationshipTests {
    private let stack: SiblingStack

    init() throws { stack = try SiblingStack(Library.model) }

    /// Calls `body` in the background context, saves, and checks the objects there and in a new coordinator's context.
    private func save(
        _ body: @Sendable (isolated ManagedObjectContext) throws -> Void,
        then check: @Sendable (isolated ManagedObjectContext) throws -> Void
    ) throws {
        try stack.background.performAndWait { context in
            try body(context)
            try check(context)
            try context.save()
            try check(context)
        }
        let fresh = PersistentStoreCoordinator()
        try fresh.addPersistentStore(with: stack.container.persistentStoreDescriptions[0])
        try ManagedObjectContext(.privateQueue, coordinator: fresh).performAndWait { try check($0) }
        #expect(try stack.location.findingsOfCoreData() == [])
    }

    @Test("Setting a to-one relationship updates its inverse, before and after the save")
    func oneToMany() throws {
        try save { context in
            let (first, second) = (try context.author("A"), try context.author("B"))
            let book = try context.insertNewObject(forEntityName: "Comic")
            try book.setValue("Moving", forKey: "title")
            try book.setObject(first, forKey: "author")
            #expect(try first.objects(forKey: "books") == [book])
            try second.add(book, toKey: "books")
            #expect(context.updatedObjects.isSubset(of: context.insertedObjects))
        } then: { context in
            let (first, second) = (try context.find("Author", "A"), try context.find("Author", "B"))
            #expect(try first.objects(forKey: "books").isEmpty)
            let books = try second.objects(forKey: "books")
            #expect(try books.map { try $0.value(String.self, forKey: "title") } == ["Moving"])
            #expect(books.first?.entity.name == "Comic")
            #expect(try books.first?.value(forKey: "isColoured") == true)
            #expect(try books.first?.object(forKey: "author") == second)
        }
    }

    @Test("A one-to-one relationship is cleared in its former owner")
    func oneToOne() throws {
        try save { context in
            let (first, second) = (try context.author("A"), try context.author("B"))
            let passport = try context.insertNewObject(forEntityName: "Passport")
            try passport.setObject(first, forKey: "owner")
            try context.save()
            try second.setObject(passport, forKey: "passport")
        } then: { context in
            let (first, second) = (try context.find("Author", "A"), try context.find("Author", "B"))
            #expect(try first.object(forKey: "passport") == nil)
            #expect(try second.object(forKey: "passport")?.object(forKey: "owner") == second)
        }
    }

    @Test("A many-to-many relationship is visible from both sides, also if it is its own inverse")
    func manyToMany() throws {
        try save { context in
            let (first, second) = (try context.author("A"), try context.author("B"))
            try first.add(second, toKey: "friends")
            let books = try ["x", "y"]
                .map { title in
                    let book = try context.insertNewObject(forEntityName: "Book")
                    try book.setValue(title, forKey: "title")
                    return book
                }
            let tag = try context.insertNewObject(forEntityName: "Tag")
            try tag.setValue("red", forKey: "word")
            try tag.setObjects(books, forKey: "books")
            try context.save()
            try books[0].remove(tag, fromKey: "tags")
        } then: { context in
            let (first, second) = (try context.find("Author", "A"), try context.find("Author", "B"))
            #expect(try first.objects(forKey: "friends") == [second])
            #expect(try second.objects(forKey: "friends") == [first])
            let tag = try context.find("Tag", "red", key: "word")
            #expect(try tag.objects(forKey: "books").map { try $0.value(String.self, forKey: "title") } == ["y"])
            #expect(try context.find("Book", "x", key: "title").objects(forKey: "tags").isEmpty)
        }
    }

    @Test("An ordered relationship keeps its order")
    func ordered() throws {
        try save { context in
            let book = try context.insertNewObject(forEntityName: "Book")
            try book.setValue("x", forKey: "title")
            let chapters = try ["1", "2", "3"]
                .map { heading in
                    let chapter = try context.insertNewObject(forEntityName: "Chapter")
                    try chapter.setValue(heading, forKey: "heading")
                    return chapter
                }
            try book.setObjects([chapters[1], chapters[0]], forKey: "chapters")
            try context.save()
            try book.setObjects([chapters[2], chapters[0], chapters[1]], forKey: "chapters")
        } then: { context in
            let book = try context.find("Book", "x", key: "title")
            let headings = try book.objects(forKey: "chapters").map { try $0.value(String.self, forKey: "heading") }
            #expect(headings == ["3", "1", "2"])
        }
    }

    @Test("A deletion applies the delete rules cascade, nullify and deny")
    func deleteRules() throws {
        try save { context in
            let author = try context.author("A")
            let book = try context.insertNewObject(forEntityName: "Book")
            let tag = try context.insertNewObject(forEntityName: "Tag")
            let chapter = try context.insertNewObject(forEntityName: "Chapter")
            let passport = try context.insertNewObject(forEntityName: "Passport")
            let award = try context.insertNewObject(forEntityName: "Award")
            try book.setObject(author, forKey: "author")
            try book.add(tag, toKey: "tags")
            try book.add(chapter, toKey: "chapters")
            try author.setObject(passport, forKey: "passport")
            try award.setObject(author, forKey: "winner")
            try context.save()
            try context.delete(author)
            let error = #expect(throws: ManagedObjectError.self) { try context.save() }
            #expect(error?.code == .relationshipDeniesDeletion)
            try context.delete(award)
            try context.save()
            #expect(chapter.isDeleted && book.isDeleted && !tag.isDeleted)
        } then: { context in
            for (entity, count) in ["Author": 0, "Book": 0, "Chapter": 0, "Award": 0, "Tag": 1, "Passport": 1] {
                let found = try context.count(for: FetchRequest(entityName: entity))
                #expect(found == count, "\(entity)")
            }
            let (passport, tag) = (try #require(context.all("Passport").first), try #require(context.all("Tag").first))
            #expect(try passport.object(forKey: "owner") == nil)
            #expect(try tag.objects(forKey: "books").isEmpty)
        }
    }

    @Test("Invalid names and values are rejected with entity and property, and nothing changes")
    func refusals() throws {
        try stack.background.performAndWait { context in
            let (author, tag) = (try context.author("A"), try context.insertNewObject(forEntityName: "Tag"))
            let failures: [() throws -> Void] = [
                { _ = try author.value(forKey: "nickname") },
                { try author.setValue("text", forKey: "age") },
                { try author.setValue(70_000, forKey: "age") },
                { try author.setValue("x", forKey: "books") },
                { try author.setObject(tag, forKey: "passport") },
                { try author.add(tag, toKey: "books") },
                { _ = try author.object(forKey: "books") },
                { _ = try author.objects(forKey: "name") },
                { _ = try context.insertNewObject(forEntityName: "Unknown") },
            ]
            for (index, failure) in failures.enumerated() {
                #expect(throws: ManagedObjectError.self, "\(index)") { try failure() }
            }
            #expect(try author.value(forKey: "age") == .null)
            #expect(try author.objects(forKey: "books").isEmpty)
        }
    }
}

extension ManagedObjectContext {
    fileprivate func author(_ name: String) throws -> ManagedObject {
        let author = try insertNewObject(forEntityName: "Author")
        try author.setValue(name, forKey: "name")
        return author
    }

    fileprivate func find(_ entity: String, _ text: String, key: String = "name") throws -> ManagedObject {
        let request = FetchRequest(entityName: entity, predicate: try FetchPredicate(format: "%K == %@", key, text))
        return try #require(try fetch(request).first)
    }
}
