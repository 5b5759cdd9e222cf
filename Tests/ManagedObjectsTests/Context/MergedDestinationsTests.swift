import ManagedObjects
import StoreAccess
import StoreFormat
import TestSupport
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
            try takeIn(notice, way, [chapter, book], context)
            #expect(try book.objects(forKey: "chapters").isEmpty)
            #expect(try comic.objects(forKey: "chapters") == [chapter])
            try context.save()
            #expect(try book.objects(forKey: "chapters").isEmpty)
            #expect(try comic.objects(forKey: "chapters") == [chapter])
        }
    }

    /// Merges a notice, or refreshes all objects, or these objects.
    private func takeIn(
        _ notice: ContextDidSave,
        _ way: Int,
        _ objects: [ManagedObject],
        _ context: isolated ManagedObjectContext
    ) throws {
        switch way {
        case 0: try context.mergeChanges(fromContextDidSave: notice)
        case 1: try context.refreshAllObjects()
        default: for object in objects { try context.refresh(object, mergeChanges: true) }
        }
    }

    /// Two authors, and two passports without an owner.
    private func makeAuthors() throws -> [ManagedObjectID] {
        try stack.background.performAndWait { context in
            let objects = try ["Author", "Author", "Passport", "Passport"]
                .map { try context.insertNewObject(forEntityName: $0) }
            for (author, name) in zip(objects, ["A", "B"]) { try author.setValue(name, forKey: "name") }
            try context.save()
            return objects.map(\.objectID)
        }
    }

    @Test(
        "An object with another partner here is not the partner of the object that another save gave it",
        arguments: [0, 1, 2]
    )
    func partnerChosenHere(_ way: Int) throws {
        let ids = try makeAuthors()
        try stack.main.performAndWait { context in
            let objects = try ids.map(context.existingObject(with:))
            try objects[2].setObject(objects[1], forKey: "owner")
            let notice = try stack.saveInBackground { context in
                try context.existingObject(with: ids[2])
                    .setObject(context.existingObject(with: ids[0]), forKey: "owner")
            }
            try takeIn(notice, way, [objects[2], objects[0]], context)
            func expectPartners() throws {
                #expect(try objects[0].object(forKey: "passport") == nil)
                #expect(try objects[1].object(forKey: "passport") == objects[2])
                #expect(try objects[2].object(forKey: "owner") == objects[1])
            }
            try expectPartners()
            try context.save()
            try expectPartners()
            try context.refreshAllObjects()
            try expectPartners()
        }
        #expect(try stack.location.findingsOfCoreData() == [])
    }

    @Test("A deleted object is not the partner of the object that another save gave it")
    func partnerOfDeletedObject() throws {
        let ids = try makeAuthors()
        try stack.main.performAndWait { context in
            let author = try context.existingObject(with: ids[0])
            try context.delete(context.existingObject(with: ids[2]))
            let notice = try stack.saveInBackground { context in
                try context.existingObject(with: ids[2])
                    .setObject(context.existingObject(with: ids[0]), forKey: "owner")
            }
            try context.mergeChanges(fromContextDidSave: notice)
            #expect(try author.object(forKey: "passport") == nil)
            try context.save()
            try context.refreshAllObjects()
            #expect(try author.object(forKey: "passport") == nil)
        }
        #expect(try stack.location.findingsOfCoreData() == [])
    }

    @Test(
        "A save that gave an object a partner which another process deleted since is merged as a whole",
        arguments: [true, false],
        [0, 1, 2]
    )
    func partnerIsGone(_ deletesFaults: Bool, _ way: Int) throws {
        let ids = try makeAuthors()
        try stack.main.performAndWait { context in
            context.shouldDeleteInaccessibleFaults = deletesFaults
            context.stalenessInterval = 0
            let objects = try [0, 1, 3].map { try context.existingObject(with: ids[$0]) }
            try objects[0].setObject(objects[2], forKey: "passport")
            let notice = try stack.saveInBackground { context in
                let author = try context.existingObject(with: ids[0])
                try author.setObject(context.existingObject(with: ids[2]), forKey: "passport")
                try author.setValue(5, forKey: "age")
                try context.existingObject(with: ids[1]).setValue(6, forKey: "age")
            }
            let process = try StoreWriterProcess(stack.location.path)
            let key = try #require(ids[2].primaryKey)
            #expect(try process.execute("DELETE FROM ZPASSPORT WHERE Z_PK = \(key)").hasPrefix("ok"))
            _ = process.waitForExit()
            try takeIn(notice, way, Array(objects[0...1]), context)
            #expect(try objects[0].value(forKey: "age") == .integer(5))
            #expect(try objects[1].value(forKey: "age") == .integer(6))
            #expect(try objects[0].object(forKey: "passport") == objects[2])
            try context.save()
            #expect(try objects[0].object(forKey: "passport") == objects[2])
        }
        #expect(try stack.location.findingsOfCoreData() == [])
    }

    @Test(
        "An ordered member that has another owner here leaves the others in the order that another save gave them",
        arguments: [0, 1, 2]
    )
    func orderedMembers(_ way: Int) throws {
        let ids = ids
        let chapters = try stack.background.performAndWait { context in
            let chapters = try (0..<4).map { _ in try context.insertNewObject(forEntityName: "Chapter") }
            try context.existingObject(with: ids[0]).setObjects(chapters, forKey: "chapters")
            try context.save()
            return chapters.map(\.objectID)
        }
        try stack.main.performAndWait { context in
            let (book, comic) = (try context.existingObject(with: ids[0]), try context.existingObject(with: ids[1]))
            let objects = try chapters.map(context.existingObject(with:))
            try objects[1].setObject(comic, forKey: "book")
            let notice = try stack.saveInBackground { context in
                let members = try [3, 1, 0, 2].map { try context.existingObject(with: chapters[$0]) }
                try context.existingObject(with: ids[0]).setObjects(members, forKey: "chapters")
                // The member itself is saved, too.
                try members[1].setValue("theirs", forKey: "heading")
            }
            try takeIn(notice, way, objects + [book], context)
            let wanted = [objects[3], objects[0], objects[2]]
            #expect(try book.objects(forKey: "chapters") == wanted)
            #expect(try comic.objects(forKey: "chapters") == [objects[1]])
            try context.save()
            try context.refreshAllObjects()
            #expect(try book.objects(forKey: "chapters") == wanted)
            #expect(try comic.objects(forKey: "chapters") == [objects[1]])
        }
        #expect(try stack.location.findingsOfCoreData() == [])
    }
}
