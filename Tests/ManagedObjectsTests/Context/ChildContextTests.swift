import StoreAccess
import StoreFormat
import Testing

@testable import ManagedObjects

/// Parent and child contexts instead of siblings, a remedy from the fetched-results investigation.
@Suite("Child contexts")
struct ChildContextTests {
    @Test("A child's save reaches its parent with temporary IDs, and the store with the parent's save")
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
            // The temporary ID still refers to the object.
            #expect(try main.object(with: temporary) === author)
        }
        try child.performAndWait { child in
            let authors = try child.fetch(FetchRequest(entityName: "Author"))
            #expect(try authors.map { try $0.value(String.self, forKey: "name") } == ["A"])
            #expect(try child.fetch(FetchRequest(entityName: "Book")).first?.object(forKey: "author") == authors.first)
        }
    }

    @Test("A child sees its parent's unsaved changes, and the parent sees the child's only after a save")
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

    @Test("A child with automatic merging merges saves of its siblings and of its parent")
    func siblings() async throws {
        let stack = try SiblingStack()
        let id = try await stack.main.perform { main in
            let dummy = try main.insertDummies(1)[0]
            try main.save()
            return dummy.objectID
        }
        let writer = ManagedObjectContext(.privateQueue, parent: stack.main)
        let reader = ManagedObjectContext(.privateQueue, parent: stack.main)
        await reader.perform { reader in
            reader.automaticallyMergesChangesFromParent = true
            reader.retainsRegisteredObjects = true
        }
        func shown() async throws -> AttributeValue? {
            try await reader.perform { try $0.registeredObject(for: id)?.value(forKey: "name") }
        }
        _ = try await reader.perform { try $0.existingObject(with: id).value(forKey: "name") }
        let parentSaves = Notices()
        let observation = stack.main.onDidSave { parentSaves.append($0) }
        try await writer.perform { writer in
            try writer.existingObject(with: id).setValue("child", forKey: "name")
            try writer.save()
        }
        // The merge is already in the reader's queue before this work.
        #expect(try await shown() == "child")
        // The parent has not saved, so it posts no notice.
        #expect(parentSaves.all.isEmpty)
        try await stack.main.perform { main in
            try main.existingObject(with: id).setValue("parent", forKey: "name")
            try main.save()
        }
        #expect(try await shown() == "parent")
        #expect(parentSaves.all.count == 1)
        observation.cancel()
    }

    @Test("A child with automatic merging keeps one object per row when the row gets its permanent ID")
    func permanentIDs() async throws {
        let stack = try SiblingStack(Library.model)
        let child = ManagedObjectContext(.privateQueue, parent: stack.main)
        await child.perform { child in
            child.automaticallyMergesChangesFromParent = true
            child.retainsRegisteredObjects = true
        }
        let temporary = try await child.perform { child in
            let book = try child.insertNewObject(forEntityName: "Book")
            let tag = try child.insertNewObject(forEntityName: "Tag")
            try book.add(tag, toKey: "tags")
            try child.save()
            return [book.objectID, tag.objectID]
        }
        try await stack.main.perform { try $0.save() }
        try await child.perform { child in
            #expect(child.registeredObjects.count == 2)
            let found = temporary.map { child.registeredObject(for: $0) }
            let (book, tag) = (try #require(found[0]), try #require(found[1]))
            #expect(!book.objectID.isTemporaryID && !tag.objectID.isTemporaryID)
            #expect(try child.fetch(FetchRequest(entityName: "Book")) == [book])
            #expect(try book.objects(forKey: "tags") == [tag])
            try tag.setValue("edited", forKey: "word")
            try child.save()
            #expect(child.registeredObjects.count == 2)
        }
        try await stack.main.perform { try $0.save() }
        #expect(try stack.stored("SELECT ZWORD FROM ZTAG") == .text("edited"))
    }

    @Test("A child reads an object under its permanent ID once its parent knows that ID", arguments: [false, true])
    func permanentIDOfReadObject(obtains: Bool) throws {
        let stack = try SiblingStack()
        let parent = ManagedObjectContext(.privateQueue, parent: stack.main)
        let child = ManagedObjectContext(.privateQueue, parent: parent)
        try parent.performAndWait { parent in
            let dummy = try parent.insertDummies(1)[0]
            try parent.save()
            #expect(dummy.objectID.isTemporaryID)
            if obtains {
                try parent.obtainPermanentIDs(for: [dummy])
            } else {
                let notices = Notices()
                let observation = stack.main.onDidSave { notices.append($0) }
                defer { observation.cancel() }
                try stack.main.performAndWait { try $0.save() }
                try parent.mergeChanges(fromContextDidSave: #require(notices.all.first))
            }
            let id = dummy.objectID
            #expect(!id.isTemporaryID)
            try child.performAndWait { child in
                let read = try child.fetch(FetchRequest(entityName: "TestDummy"))
                #expect(read.map(\.objectID) == [id])
                #expect(try child.object(with: id) === read.first)
            }
        }
    }

    @Test("A child's save that the parent rejects leaves the parent unchanged")
    func allOrNothing() throws {
        let stack = try SiblingStack(Library.model)
        let authors = try stack.insertAuthors("A", "B", "C")
        let child = ManagedObjectContext(.privateQueue, parent: stack.main)
        try child.performAndWait { child in
            let mine = try authors.map(child.existingObject)
            try mine[0].setValue(1, forKey: "age")
            let book = try child.insertNewObject(forEntityName: "Book")
            try book.setObject(mine[0], forKey: "author")
            try mine[1].setValue(2, forKey: "age")
            try child.delete(mine[2])
            try stack.main.performAndWait { main in try main.delete(main.existingObject(with: authors[1])) }
            let error = #expect(throws: ManagedObjectError.self) { try child.save() }
            #expect(error?.code == .objectIsGone)
            #expect(child.insertedObjects == [book] && mine[0].isUpdated && mine[2].isDeleted)
        }
        try stack.main.performAndWait { main in
            #expect(main.insertedObjects.isEmpty && main.updatedObjects.isEmpty)
            #expect(main.deletedObjects.map(\.objectID) == [authors[1]])
            let author = try main.existingObject(with: authors[0])
            #expect(try author.value(forKey: "age") == 40)
            #expect(try author.objects(forKey: "books").isEmpty)
            #expect(!(try main.existingObject(with: authors[2])).isDeleted)
            try main.rollback()
        }
        // After the obstacle is removed, the same save succeeds once.
        try child.performAndWait { try $0.save() }
        try stack.main.performAndWait { main in
            #expect(main.insertedObjects.count == 1)
            #expect(main.updatedObjects.map(\.objectID).contains(authors[1]))
            try main.save()
        }
        #expect(try stack.stored("SELECT group_concat(ZAGE) FROM ZAUTHOR") == .text("1,2"))
        #expect(try stack.stored("SELECT count(*) FROM ZBOOK WHERE ZAUTHOR = 1") == .integer(1))
    }

    @Test("The next save throws the error of a failed automatic merge")
    func failedMerge() async throws {
        let stack = try SiblingStack()
        let id = try await stack.main.perform { main in
            let dummy = try main.insertDummies(1)[0]
            try main.save()
            return dummy.objectID
        }
        await stack.main.perform { main in
            main.automaticallyMergesChangesFromParent = true
            main.retainsRegisteredObjects = true
        }
        _ = try await stack.main.perform { try $0.existingObject(with: id).value(forKey: "name") }
        // The merge starts after the store was closed and cannot read.
        let coordinator = stack.container.persistentStoreCoordinator
        await stack.main.perform { $0.stalenessInterval = 0 }
        coordinator.remove(coordinator.persistentStores[0])
        let changes = ObjectIDChanges(updated: [id])
        coordinator.saves.post(
            ContextDidSave(
                objectIDs: changes,
                context: ObjectIdentifier(stack.background),
                contextName: nil,
                transactions: [:],
                permanentIDs: []
            )
        )
        await stack.main.perform { main in
            let error = #expect(throws: ManagedObjectError.self) { try main.save() }
            #expect(error?.code == .foreignObject)
            #expect(throws: Never.self) { try main.save() }
        }
    }
}
