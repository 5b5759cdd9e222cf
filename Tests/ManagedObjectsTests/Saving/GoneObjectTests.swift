import ChangeMerging
import Foundation
import ManagedObjects
import StoreAccess
import StoreFormat
import Testing

/// Saves of objects that were deleted elsewhere, or whose destinations were.
@Suite("Saving with objects deleted elsewhere")
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
        "A changed object deleted elsewhere is restored, alone or with its changed destination, in any order",
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
            // Versions continue, so that other contexts detect a conflict with the former row.
            #expect(try stack.stored("SELECT Z_OPT FROM ZBOOK") == .integer(2))
            try book.setValue("again", forKey: "title")
            try context.save()
        }
        let lost = "SELECT count(*) FROM ZBOOK WHERE ZAUTHOR NOTNULL AND ZAUTHOR NOT IN (SELECT Z_PK FROM ZAUTHOR)"
        #expect(try stack.stored(lost) == .integer(0))
    }

    @Test("Overwriting does not restore a reference to an object deleted elsewhere")
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
            try stack.stored("SELECT ZTITLE || ifnull(ZAUTHOR, ' -') FROM ZBOOK")?.text == "edited -"
        )
    }

    @Test("A new object loses its reference to an object deleted elsewhere, or fails if it is mandatory")
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
            // An object with a mandatory relationship cannot be saved without its destination.
            let award = try context.insertNewObject(forEntityName: "Award")
            let other = try context.existingObject(with: stack.insertAuthors("B")[0])
            try award.setObject(other, forKey: "winner")
            try delete(other.objectID)
            let error = #expect(throws: ManagedObjectError.self) { try context.save() }
            #expect(error?.code == .objectIsGone)
        }
    }

    @Test(
        "A member deleted elsewhere is restored or dropped by the policy, and the save succeeds",
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

    @Test("An object deleted elsewhere is not restored for a loss of members here", arguments: MergePolicy.allCases)
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
        "A restored object loses the large value whose file was deleted",
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

    @Test("Overwriting keeps another context's new large value")
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

    @Test("An object without its mandatory, deleted owner is not restored")
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
