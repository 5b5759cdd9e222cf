import ChangeMerging
import ManagedObjects
import StoreAccess
import StoreStrategies
import Testing

@Suite("Permanent IDs before the first save")
struct PermanentIDTests {
    private let stack: SiblingStack

    init() throws { stack = try SiblingStack(Library.model, tracksHistory: true) }

    private func keys(_ table: String) throws -> SQLValue? {
        try stack.stored("SELECT group_concat(Z_PK) FROM (SELECT Z_PK FROM \(table) ORDER BY Z_PK)")
    }

    @Test("Objects are saved under the permanent IDs obtained before, also when referenced by temporary IDs")
    func saved() throws {
        try stack.main.performAndWait { context in
            let author = try context.insertNewObject(forEntityName: "Author")
            try author.setValue("A", forKey: "name")
            let books = try (0..<3).map { _ in try context.insertNewObject(forEntityName: "Book") }
            for book in books { try book.setObject(author, forKey: "author") }
            let temporary = author.objectID
            try context.obtainPermanentIDs(for: [author, books[2], author])
            #expect(author.isInserted && books[2].isInserted && context.insertedObjects.count == 4)
            #expect(!author.objectID.isTemporaryID && books[0].objectID.isTemporaryID)
            let uri = author.objectID.uriRepresentation()
            #expect(
                stack.container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri) == author.objectID
            )
            #expect(context.registeredObject(for: temporary) === author)
            #expect(context.registeredObject(for: author.objectID) === author)
            #expect(try books[0].object(forKey: "author") === author)
            #expect(try author.objects(forKey: "books").count == 3)
            // Nothing was saved, and no notice was posted.
            #expect(try stack.stored("SELECT count(*) FROM ATRANSACTION") == .integer(0))
            #expect(try keys("ZAUTHOR") == .null)
            let (id, bookID) = (author.objectID, books[2].objectID)
            try context.save()
            #expect(author.objectID == id && books[2].objectID == bookID)
            #expect(!author.isInserted)
            #expect(context.hasChanges == false)
            try author.setValue("B", forKey: "name")
            try context.save()
        }
        #expect(try stack.stored("SELECT count(*) FROM ZBOOK WHERE ZAUTHOR = 1") == .integer(3))
        #expect(try keys("ZBOOK") == .text("1,2,3"))
        #expect(try stack.stored("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'") == .integer(3))
        #expect(try stack.stored("SELECT ZNAME || Z_OPT FROM ZAUTHOR") == .text("B2"))
        #expect(try stack.stored("SELECT count(*) FROM ACHANGE WHERE ZCHANGETYPE = 0") == .integer(4))
    }

    @Test("Permanent IDs of objects that are never saved stay unused")
    func unused() throws {
        try stack.main.performAndWait { context in
            let (author, book) = (
                try context.insertNewObject(forEntityName: "Author"), try context.insertNewObject(forEntityName: "Book")
            )
            try author.setValue("A", forKey: "name")
            try book.setObject(author, forKey: "author")
            try context.obtainPermanentIDs(for: [author, book])
            // Deleted before its owner, whose delete rule would cascade to it.
            try context.delete(book)
            try context.processPendingChanges()
            try context.delete(author)
            try context.save()
            #expect(context.hasChanges == false)
            let rolledBack = try context.insertNewObject(forEntityName: "Author")
            try context.obtainPermanentIDs(for: [rolledBack])
            try context.rollback()
            let last = try context.insertNewObject(forEntityName: "Author")
            try last.setValue("B", forKey: "name")
            try context.save()
            try context.obtainPermanentIDs(for: [last])
            #expect(try keys("ZAUTHOR") == .text("3"))
        }
        #expect(try keys("ZBOOK") == .null)
        #expect(try stack.stored("SELECT count(*) FROM ACHANGE WHERE ZCHANGETYPE = 2") == .integer(0))
    }

    @Test("An object with a permanent ID can be referenced and can lose a uniqueness conflict")
    func conflicts() throws {
        let ids = try stack.insertAuthors("1")
        try stack.main.performAndWait { context in
            context.mergePolicy = .mergeByPropertyObjectTrump
            let book = try context.insertNewObject(forEntityName: "Book")
            try context.save()
            let (free, taken) = (
                try context.insertNewObject(forEntityName: "Author"),
                try context.insertNewObject(forEntityName: "Author")
            )
            try free.setValue("2", forKey: "name")
            try taken.setValue("1", forKey: "name")
            try taken.setValue(7, forKey: "age")
            try context.obtainPermanentIDs(for: [free, taken])
            try book.setObject(free, forKey: "author")
            try stack.elsewhere("UPDATE ZBOOK SET ZTITLE = 'theirs', Z_OPT = Z_OPT + 1")
            try context.save()
            #expect(try book.object(forKey: "author") === free)
            #expect(taken.objectID == ids[0])
            #expect(try context.existingObject(with: ids[0]).value(Int.self, forKey: "age") == 7)
        }
        #expect(try keys("ZAUTHOR") == .text("1,2"))
        #expect(try stack.stored("SELECT ZTITLE || ZAUTHOR FROM ZBOOK") == .text("theirs2"))
    }

    @Test(
        "A child obtains the same permanent ID as its parent, before or after saving to it",
        arguments: [false, true]
    )
    func child(_ savesFirst: Bool) throws {
        let child = ManagedObjectContext(.privateQueue, parent: stack.main)
        let id = try child.performAndWait { context in
            context.automaticallyMergesChangesFromParent = true
            let author = try context.insertNewObject(forEntityName: "Author")
            try author.setValue("A", forKey: "name")
            context.userInfo["author"] = author
            if savesFirst { try context.save() }
            try context.obtainPermanentIDs(for: [author])
            #expect(!author.objectID.isTemporaryID)
            try context.save()
            return author.objectID
        }
        try stack.main.performAndWait { context in
            #expect(context.insertedObjects.map(\.objectID) == [id])
            try context.save()
            #expect(try context.fetch(FetchRequest(entityName: "Author")).map(\.objectID) == [id])
        }
        try child.performAndWait { context in
            let author = try #require(context.userInfo["author"] as? ManagedObject)
            let found = try context.fetch(FetchRequest(entityName: "Author"))
            #expect(found == [author])
        }
        #expect(try keys("ZAUTHOR") == .text("1"))
    }

    @Test("A sibling child that knows the temporary ID ends with one object")
    func siblingChild() throws {
        let temporary = try stack.main.performAndWait { context in
            let author = try context.insertNewObject(forEntityName: "Author")
            try author.setValue("A", forKey: "name")
            context.userInfo["author"] = author
            return author.objectID
        }
        let child = ManagedObjectContext(.privateQueue, parent: stack.main)
        try child.performAndWait { context in context.userInfo["author"] = try context.object(with: temporary) }
        let saved = LockedArray<ContextDidSave>()
        let observation = stack.main.onDidSave { saved.append($0) }
        defer { observation.cancel() }
        try stack.main.performAndWait { context in
            let author = try #require(context.userInfo["author"] as? ManagedObject)
            try context.obtainPermanentIDs(for: [author])
            try context.save()
        }
        try child.performAndWait { context in
            for notice in saved.take() { try context.mergeChanges(fromContextDidSave: notice) }
            let author = try #require(context.userInfo["author"] as? ManagedObject)
            #expect(try context.fetch(FetchRequest(entityName: "Author")) == [author])
            #expect(!author.objectID.isTemporaryID)
        }
    }

    @Test("Obtaining permanent IDs fails for a read-only store and for objects of another context")
    func refused() throws {
        try stack.main.performAndWait { context in
            let author = try context.insertNewObject(forEntityName: "Author")
            try context.reset()
            let other = try context.insertNewObject(forEntityName: "Author")
            let foreign = #expect(throws: ManagedObjectError.self) {
                try context.obtainPermanentIDs(for: [other, author])
            }
            #expect(foreign?.code == .foreignObject)
            #expect(author.objectID.isTemporaryID && other.objectID.isTemporaryID)
        }
        var description = PersistentStoreDescription(url: stack.location.url)
        description.isReadOnly = true
        let coordinator = PersistentStoreCoordinator()
        try coordinator.addPersistentStore(with: description)
        try ManagedObjectContext(.privateQueue, coordinator: coordinator)
            .performAndWait { context in
                let author = try context.insertNewObject(forEntityName: "Author")
                let error = #expect(throws: ManagedObjectError.self) { try context.obtainPermanentIDs(for: [author]) }
                #expect(error?.code == .readOnlyStore)
                #expect(author.objectID.isTemporaryID)
            }
    }
}
