import ManagedObjects
import Testing

/// Remedy j of the investigation: parents and children instead of siblings.
@Suite("Child contexts")
struct ChildContextTests {
    @Test("a child's save ends in its parent, with temporary ids, until the parent saves")
    func insertion() throws {
        let stack = try SiblingStack(Library.model)
        let child = ManagedObjectContext(.privateQueue, parent: stack.main)
        let temporary = try child.performAndWait { child in
            let author = try child.insertNewObject(forEntityName: "Author")
            try author.setValue("A", forKey: "name")
            let book = try child.insertNewObject(forEntityName: "Book")
            try book.setObject(author, forKey: "author")
            try child.save()
            #expect(child.hasChanges == false)
            #expect(author.objectID.isTemporaryID)
            return author.objectID
        }
        try stack.main.performAndWait { main in
            #expect(main.insertedObjects.count == 2)
            let author = try main.object(with: temporary)
            #expect(try author.objects(forKey: "books").count == 1)
            try main.save()
            #expect(!author.objectID.isTemporaryID)
            // The old id still leads to the object.
            #expect(try main.object(with: temporary) === author)
        }
        try child.performAndWait { child in
            let authors = try child.fetch(FetchRequest(entityName: "Author"))
            #expect(try authors.map { try $0.value(String.self, forKey: "name") } == ["A"])
            #expect(try child.fetch(FetchRequest(entityName: "Book")).first?.object(forKey: "author") == authors.first)
        }
    }

    @Test("a child sees what its parent has not saved, and its own changes stay its own until it saves")
    func isolation() throws {
        let stack = try SiblingStack()
        let ids = try stack.main.performAndWait { main in
            let dummies = try main.insertDummies(3)
            try main.save()
            try dummies[0].setValue("unsaved", forKey: "name")
            try main.delete(dummies[1])
            return dummies.map(\.objectID)
        }
        let child = ManagedObjectContext(.privateQueue, parent: stack.main)
        let first = ids[0]
        try child.performAndWait { child in
            let dummies = try child.fetch(FetchRequest(entityName: "TestDummy"))
            #expect(dummies.map(\.objectID) == [ids[0], ids[2]])
            #expect(try dummies[0].value(forKey: "name") == "unsaved")
            try dummies[0].setValue("child", forKey: "name")
            try child.delete(dummies[1])
            let here = try stack.main.performAndWait { try $0.object(with: first).value(String.self, forKey: "name") }
            #expect(here == "unsaved")
            try child.save()
        }
        try stack.main.performAndWait { main in
            #expect(try main.object(with: ids[0]).value(forKey: "name") == "child")
            #expect(Set(main.deletedObjects.map(\.objectID)) == [ids[1], ids[2]])
            try main.save()
            #expect(try main.count(for: FetchRequest(entityName: "TestDummy")) == 1)
        }
    }
}
