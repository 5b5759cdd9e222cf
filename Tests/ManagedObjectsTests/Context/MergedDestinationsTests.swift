import ManagedObjects
import Testing

/// A context has unsaved changes of an object's relationships, and merges another context's save of the same object.
@Suite("Merging saves of objects whose relationships have unsaved changes")
struct MergedDestinationsTests {
    private let stack: SiblingStack
    /// Two books, a chapter and a tag.
    private let ids: [ManagedObjectID]

    init() throws {
        let stack = try SiblingStack(Library.model)
        self.stack = stack
        ids = try stack.main.performAndWait { context in
            context.retainsRegisteredObjects = true
            let objects = try ["Book", "Comic", "Chapter", "Tag"].map { try context.insertNewObject(forEntityName: $0) }
            try context.save()
            return objects.map(\.objectID)
        }
    }

    @Test("A new object that lost a member by its deletion can be saved after the member was saved elsewhere")
    func memberOfNewObject() throws {
        let ids = ids
        try stack.main.performAndWait { context in
            let tag = try context.existingObject(with: ids[3])
            let book = try context.insertNewObject(forEntityName: "Book")
            try book.add(tag, toKey: "tags")
            try context.delete(tag)
            try context.processPendingChanges()
            let notice = try stack.saveInBackground {
                try $0.existingObject(with: ids[3]).setValue("theirs", forKey: "word")
            }
            try context.mergeChanges(fromContextDidSave: notice)
            try context.save()
            #expect(try book.objects(forKey: "tags").isEmpty)
            #expect(!book.objectID.isTemporaryID)
        }
    }

    @Test("An object deleted here is no member of the owner that another save gave it")
    func ownerOfDeletedObject() throws {
        let ids = ids
        try stack.main.performAndWait { context in
            let book = try context.existingObject(with: ids[0])
            try context.delete(context.existingObject(with: ids[2]))
            let notice = try stack.saveInBackground { context in
                try context.existingObject(with: ids[2])
                    .setObject(context.existingObject(with: ids[0]), forKey: "book")
            }
            try context.mergeChanges(fromContextDidSave: notice)
            #expect(try book.objects(forKey: "chapters").isEmpty)
            try context.save()
            #expect(try book.objects(forKey: "chapters").isEmpty)
        }
    }

    @Test(
        "An object with another owner here is no member of the owner that another save gave it",
        arguments: [0, 1, 2]
    )
    func ownerChosenHere(_ way: Int) throws {
        let ids = ids
        try stack.main.performAndWait { context in
            let (book, comic) = (try context.existingObject(with: ids[0]), try context.existingObject(with: ids[1]))
            let chapter = try context.existingObject(with: ids[2])
            try chapter.setObject(comic, forKey: "book")
            let notice = try stack.saveInBackground { context in
                try context.existingObject(with: ids[2])
                    .setObject(context.existingObject(with: ids[0]), forKey: "book")
            }
            switch way {
            case 0: try context.mergeChanges(fromContextDidSave: notice)
            case 1: try context.refreshAllObjects()
            default: for object in [chapter, book] { try context.refresh(object, mergeChanges: true) }
            }
            #expect(try book.objects(forKey: "chapters").isEmpty)
            #expect(try comic.objects(forKey: "chapters") == [chapter])
            try context.save()
            #expect(try book.objects(forKey: "chapters").isEmpty)
            #expect(try comic.objects(forKey: "chapters") == [chapter])
        }
    }
}
