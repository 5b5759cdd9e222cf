import ChangeMerging
import Foundation
import ManagedObjects
import StoreFormat
import Testing

/// Saves that meet objects which others deleted: the ones to be saved, or those that they lead to.
@Suite("Saving what leads to objects that are gone")
struct GoneObjectTests {
    private let stack: SiblingStack

    init() throws { stack = try SiblingStack(Library.model) }

    private func bookOfAuthor() throws -> (book: ManagedObjectID, author: ManagedObjectID) {
        let author = try stack.insertAuthors("A")[0]
        return try stack.background.performAndWait { context in
            let book = try context.insertNewObject(forEntityName: "Book")
            try book.setObject(context.existingObject(with: author), forKey: "author")
            try context.save()
            return (book.objectID, author)
        }
    }

    private func delete(_ id: ManagedObjectID) throws {
        try stack.background.performAndWait { context in
            try context.delete(context.object(with: id))
            try context.save()
        }
    }

    @Test(
        "an edited object comes back, alone or with the one that it leads to, whichever was edited first",
        arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite],
        [["book"], ["author", "book"], ["book", "author"]]
    )
    func comesBack(_ policy: MergePolicy, _ edited: [String]) throws {
        let ids = try bookOfAuthor()
        try stack.main.performAndWait { context in
            context.mergePolicy = policy
            let (book, author) = (
                try context.existingObject(with: ids.book), try context.existingObject(with: ids.author)
            )
            for name in edited {
                if name == "book" {
                    try book.setValue("edited", forKey: "title")
                } else {
                    try author.setValue(3, forKey: "age")
                }
            }
            try delete(ids.author)
            try context.save()
            #expect(try context.fetch(FetchRequest(entityName: "Book")) == [book])
            #expect(try book.value(forKey: "title") == "edited")
            #expect(try book.object(forKey: "author") == (edited.count == 2 ? author : nil))
            // They go on where they were, so that nobody takes them for what he knew.
            #expect(try stack.stored("SELECT Z_OPT FROM ZBOOK") == .integer(2))
            try book.setValue("again", forKey: "title")
            try context.save()
        }
        let lost = "SELECT count(*) FROM ZBOOK WHERE ZAUTHOR NOTNULL AND ZAUTHOR NOT IN (SELECT Z_PK FROM ZAUTHOR)"
        #expect(try stack.stored(lost) == .integer(0))
    }

    @Test("overwriting does not lead an object back to one that others deleted")
    func overwrite() throws {
        let ids = try bookOfAuthor()
        try stack.main.performAndWait { context in
            context.mergePolicy = .overwrite
            let book = try context.existingObject(with: ids.book)
            try book.setValue("edited", forKey: "title")
            try stack.background.performAndWait { background in
                try background.object(with: ids.book).setObject(nil, forKey: "author")
                try background.delete(background.object(with: ids.author))
                try background.save()
            }
            try context.save()
            #expect(try book.object(forKey: "author") == nil)
        }
        #expect(
            try stack.stored("SELECT ZTITLE || ifnull(ZAUTHOR, ' of nobody') FROM ZBOOK")?.text == "edited of nobody"
        )
    }

    @Test("a new object leads to nobody where others deleted whom it was to lead to")
    func newObject() throws {
        let ids = try bookOfAuthor()
        try stack.main.performAndWait { context in
            let author = try context.object(with: ids.author)
            let comic = try context.insertNewObject(forEntityName: "Comic")
            try comic.setObject(author, forKey: "author")
            try delete(ids.author)
            #expect(throws: SaveConflict.self) { try context.save() }
            context.mergePolicy = .mergeByPropertyStoreTrump
            try context.save()
            #expect(try comic.object(forKey: "author") == nil)
            #expect(author.isDeleted)
            // What must lead somewhere cannot be saved without.
            let award = try context.insertNewObject(forEntityName: "Award")
            let other = try context.existingObject(with: stack.insertAuthors("B")[0])
            try award.setObject(other, forKey: "winner")
            try delete(other.objectID)
            let error = #expect(throws: ManagedObjectError.self) { try context.save() }
            #expect(error?.code == .objectIsGone)
        }
    }

    @Test(
        "a member that others deleted comes back or is left out, and the save goes through",
        arguments: [
            (MergePolicy.mergeByPropertyStoreTrump, 0), (.rollback, 0), (.mergeByPropertyObjectTrump, 1),
            (.overwrite, 1),
        ]
    )
    func member(_ policy: MergePolicy, left: Int) throws {
        let ids = try bookOfAuthor()
        let tag = try stack.background.performAndWait { context in
            let tag = try context.insertNewObject(forEntityName: "Tag")
            try context.save()
            return tag.objectID
        }
        try stack.main.performAndWait { context in
            let book = try context.existingObject(with: ids.book)
            try book.add(context.existingObject(with: tag), toKey: "tags")
            try delete(tag)
            #expect(throws: SaveConflict.self) { try context.save() }
            context.mergePolicy = policy
            try context.save()
            #expect(context.hasChanges == false)
            #expect(try book.objects(forKey: "tags").count == left)
        }
        #expect(try stack.stored("SELECT count(*) FROM Z_3TAGS")?.integer == Int64(left))
        #expect(try stack.stored("SELECT count(*) FROM ZTAG")?.integer == Int64(left))
    }

    @Test("an object that only lost members here does not come back", arguments: MergePolicy.allCases)
    func lostMember(_ policy: MergePolicy) throws {
        let ids = try bookOfAuthor()
        let heir = try stack.insertAuthors("B")[0]
        try stack.main.performAndWait { context in
            context.mergePolicy = policy
            let book = try context.existingObject(with: ids.book)
            try book.setObject(context.existingObject(with: heir), forKey: "author")
            try stack.background.performAndWait { background in
                try background.object(with: ids.book).setObject(nil, forKey: "author")
                try background.delete(background.object(with: ids.author))
                try background.save()
            }
            if policy == .error {
                #expect(throws: SaveConflict.self) { try context.save() }
            } else {
                try context.save()
                #expect(context.registeredObject(for: ids.author) == nil)
            }
        }
        #expect(try stack.stored("SELECT group_concat(ZNAME) FROM ZAUTHOR") == .text("B"))
    }

    // MARK: Large values

    private static func box() throws -> (SiblingStack, ManagedObjectID) {
        let stack = try SiblingStack(Warehouse.model)
        let id = try stack.background.performAndWait { context in
            let box = try context.insertNewObject(forEntityName: "Box")
            try box.setValue(Warehouse.picture(1), forKey: "picture")
            let part = try context.insertNewObject(forEntityName: "Part")
            try part.setObject(box, forKey: "box")
            try context.save()
            return box.objectID
        }
        return (stack, id)
    }

    @Test(
        "an object comes back without the large value whose file went with it",
        arguments: [
            MergePolicy.mergeByPropertyObjectTrump, .overwrite,
        ]
    )
    func restoredWithoutFile(_ policy: MergePolicy) throws {
        let (stack, id) = try Self.box()
        try stack.main.performAndWait { context in
            context.mergePolicy = policy
            let box = try context.existingObject(with: id)
            try box.setValue("edited", forKey: "name")
            try stack.background.performAndWait { background in
                let theirs = try background.object(with: id)
                for part in try theirs.objects(forKey: "parts") { try background.delete(part) }
                try background.delete(theirs)
                try background.save()
            }
            try context.save()
            #expect(try box.value(forKey: "name") == "edited")
            #expect(try box.value(forKey: "picture") == .null)
        }
    }

    @Test("overwriting keeps the large value that others put in the place of the one that was known")
    func overwrittenFile() throws {
        let (stack, id) = try Self.box()
        try stack.main.performAndWait { context in
            context.mergePolicy = .overwrite
            let box = try context.existingObject(with: id)
            try box.setValue("edited", forKey: "name")
            try stack.background.performAndWait { background in
                try background.existingObject(with: id).setValue(Warehouse.picture(9), forKey: "picture")
                try background.save()
            }
            try context.save()
            #expect(try box.value(Data.self, forKey: "picture") == Warehouse.picture(9))
        }
    }

    @Test("what cannot be without an owner does not come back without it")
    func ownerGone() throws {
        let (stack, id) = try Self.box()
        try stack.main.performAndWait { context in
            context.mergePolicy = .mergeByPropertyObjectTrump
            let part = try context.fetch(FetchRequest(entityName: "Part"))[0]
            try part.setValue("edited", forKey: "name")
            try stack.background.performAndWait { background in
                for part in try background.object(with: id).objects(forKey: "parts") { try background.delete(part) }
                try background.delete(background.object(with: id))
                try background.save()
            }
            try context.save()
            #expect(part.isDeleted)
        }
        #expect(try stack.stored("SELECT count(*) FROM ZPART") == .integer(0))
    }
}
