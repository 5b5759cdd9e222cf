import ChangeMerging
import StoreFormat
import TestSupport
import Testing

@testable import ManagedObjects

/// One context changes a comic without saving, a second context saves other values of it, and the first one reads these.
@Suite("Unsaved changes of an object that is read again")
struct UnsavedChangesTests {
    enum Edit: CaseIterable {
        case setTitle
        case clearTitle
        case setAuthor
        case clearAuthor
        case loseAuthor
        case addTag
        case removeTag
        case removeChapter
    }

    enum Reading: CaseIterable {
        case merge
        case rereadingMerge
        case refresh
        case refreshAll
    }

    private let stack: SiblingStack
    /// A comic with an author, a tag and a chapter, another author and another tag.
    private let ids: [ManagedObjectID]

    init() throws {
        let stack = try SiblingStack(Library.model)
        self.stack = stack
        ids = try stack.main.performAndWait { context in
            context.retainsRegisteredObjects = true
            let names = ["Comic", "Author", "Author", "Tag", "Tag", "Chapter"]
            let objects = try names.map { try context.insertNewObject(forEntityName: $0) }
            try objects[0].setValue("title", forKey: "title")
            for (index, name) in [(1, "one"), (2, "other")] { try objects[index].setValue(name, forKey: "name") }
            try objects[0].setObject(objects[1], forKey: "author")
            try objects[0].add(objects[3], toKey: "tags")
            try objects[0].add(objects[5], toKey: "chapters")
            try context.save()
            return objects.map(\.objectID)
        }
    }

    private func perform(_ edit: Edit, in context: isolated ManagedObjectContext) throws {
        let objects = try ids.map { try context.existingObject(with: $0) }
        let (book, author, otherAuthor, tag, otherTag, chapter) = (
            objects[0], objects[1], objects[2], objects[3], objects[4], objects[5]
        )
        switch edit {
        case .setTitle: try book.setValue("mine", forKey: "title")
        case .clearTitle: try book.setValue(AttributeValue.null, forKey: "title")
        case .setAuthor: try book.setObject(otherAuthor, forKey: "author")
        case .clearAuthor: try book.setObject(nil, forKey: "author")
        case .loseAuthor: try author.remove(book, fromKey: "books")
        case .addTag: try book.add(otherTag, toKey: "tags")
        case .removeTag: try book.remove(tag, fromKey: "tags")
        case .removeChapter: try book.remove(chapter, fromKey: "chapters")
        }
    }

    /// The book and its chapter, as a context shows them.
    private func shown(_ context: isolated ManagedObjectContext) throws -> [String: [String]] {
        let book = try context.existingObject(with: ids[0])
        let chapter = try context.existingObject(with: ids[5])
        func destinations(_ object: ManagedObject, _ name: String) throws -> [String] {
            try object.objectIDs(forRelationshipNamed: name).map { "\($0)" }.sorted()
        }
        return [
            "title": [try book.value(String.self, forKey: "title") ?? "-"],
            "author": try destinations(book, "author"),
            "tags": try destinations(book, "tags"),
            "chapters": try destinations(book, "chapters"),
            "book": try destinations(chapter, "book"),
        ]
    }

    @Test("An unsaved change stays, and is saved", arguments: Edit.allCases, Reading.allCases)
    func stays(_ edit: Edit, _ reading: Reading) async throws {
        let (main, ids) = (stack.main, ids)
        let wanted = try main.performAndWait { context in
            try perform(edit, in: context)
            return try shown(context)
        }
        // Every object gets another version, and none of the properties that the edit changes another value.
        let notice = try stack.saveInBackground { context in
            for id in ids {
                let object = try context.existingObject(with: id)
                switch id.entityName {
                case "Comic": try object.setValue(false, forKey: "isColoured")
                case "Author": try object.setValue(7, forKey: "age")
                case "Tag": try object.setValue("theirs", forKey: "word")
                default: try object.setValue("theirs", forKey: "heading")
                }
            }
        }
        switch reading {
        case .merge: try await main.perform { try $0.mergeChanges(fromContextDidSave: notice) }
        case .rereadingMerge:
            try await ManagedObjectContext.mergeChanges(fromRemoteContextSave: notice.objectIDs, into: [main])
        case .refresh:
            try main.performAndWait { context in
                for id in ids { try context.refresh(context.existingObject(with: id), mergeChanges: true) }
            }
        case .refreshAll: try main.performAndWait { try $0.refreshAllObjects() }
        }
        try main.performAndWait { context in
            #expect(try shown(context) == wanted)
            context.mergePolicy = .mergeByPropertyObjectTrump
            try context.save()
            #expect(try shown(context) == wanted)
        }
        let fresh = PersistentStoreCoordinator()
        try fresh.addPersistentStore(with: stack.container.persistentStoreDescriptions[0])
        #expect(try ManagedObjectContext(.privateQueue, coordinator: fresh).performAndWait { try shown($0) } == wanted)
    }
}
