import ChangeMerging
import ManagedObjects
import StoreAccess
import StoreFormat
import Testing

/// Unique values of several objects in one save.
@Suite("Unique values within one save")
struct UniqueValueTests {
    private let stack: SiblingStack
    private let ids: [ManagedObjectID]

    init() throws {
        stack = try SiblingStack(Library.model, tracksHistory: true)
        ids = try stack.insertAuthors("1", "2")
    }

    private func names() throws -> String? {
        try stack.stored("SELECT group_concat(ZNAME) FROM (SELECT ZNAME FROM ZAUTHOR ORDER BY Z_PK)")?.text
    }

    @Test("A new object may take the unique name of a deleted one", arguments: MergePolicy.allCases)
    func successor(_ policy: MergePolicy) throws {
        try stack.main.performAndWait { context in
            context.mergePolicy = policy
            let old = try context.existingObject(with: ids[0])
            let book = try context.insertNewObject(forEntityName: "Book")
            try book.setObject(old, forKey: "author")
            try context.save()
            // Its books are reassigned and not deleted by the cascade rule.
            let new = try context.insertNewObject(forEntityName: "Author")
            try new.setValue("1", forKey: "name")
            try book.setObject(new, forKey: "author")
            try context.delete(old)
            try context.save()
            #expect(new.objectID != ids[0] && !new.objectID.isTemporaryID)
            #expect(try book.object(forKey: "author") === new)
            #expect(old.isDeleted)
        }
        #expect(try names() == "2,1")
        #expect(try stack.stored("SELECT count(*) FROM ZBOOK WHERE ZAUTHOR = 3") == .integer(1))
    }

    @Test("Objects may exchange unique names in one save", arguments: MergePolicy.allCases, [["2", "3"], ["2", "1"]])
    func handedOn(_ policy: MergePolicy, _ wanted: [String]) throws {
        try stack.main.performAndWait { context in
            context.mergePolicy = policy
            for (id, name) in zip(ids, wanted) { try context.existingObject(with: id).setValue(name, forKey: "name") }
            try context.save()
            for (id, name) in zip(ids, wanted) {
                #expect(try context.existingObject(with: id).value(forKey: "name") == .string(name))
            }
        }
        #expect(try names() == wanted.joined(separator: ","))
        // Each is one change and increments the version once.
        #expect(try stack.stored("SELECT group_concat(Z_OPT) FROM ZAUTHOR") == .text("2,2"))
        #expect(try stack.stored("SELECT count(*) FROM ACHANGE WHERE ZCHANGETYPE = 1") == .integer(2))
    }

    @Test("A new object may take the unique name that another object releases", arguments: MergePolicy.allCases)
    func givenUp(_ policy: MergePolicy) throws {
        try stack.main.performAndWait { context in
            context.mergePolicy = policy
            try context.existingObject(with: ids[0]).setValue("9", forKey: "name")
            try context.insertNewObject(forEntityName: "Author").setValue("1", forKey: "name")
            try context.save()
        }
        #expect(try names() == "9,2,1")
    }

    @Test(
        "If a new and a changed object take the same free name, the stored row keeps its key",
        arguments: [
            (MergePolicy.mergeByPropertyStoreTrump, 40), (.rollback, 40), (.mergeByPropertyObjectTrump, 7),
            (.overwrite, 7),
        ]
    )
    func bothWantIt(_ policy: MergePolicy, age: Int) throws {
        try stack.main.performAndWait { context in
            let changed = try context.existingObject(with: ids[0])
            try changed.setValue("9", forKey: "name")
            let new = try context.insertNewObject(forEntityName: "Author")
            try new.setValue("9", forKey: "name")
            try new.setValue(7, forKey: "age")
            #expect(throws: SaveConstraintConflict.self) { try context.save() }
            context.mergePolicy = policy
            try context.save()
            #expect(try changed.value(Int.self, forKey: "age") == age)
            #expect(try context.count(for: FetchRequest(entityName: "Author")) == 2)
        }
        #expect(try names() == "9,2")
    }

    @Test(
        "An object that loses its unique name to a changed one transfers its relationships",
        arguments: [
            MergePolicy.mergeByPropertyObjectTrump, .overwrite,
        ]
    )
    func handsOver(_ policy: MergePolicy) throws {
        let (book, passport) = try stack.background.performAndWait { context in
            let loser = try context.existingObject(with: ids[0])
            let (book, passport) = (
                try context.insertNewObject(forEntityName: "Book"),
                try context.insertNewObject(forEntityName: "Passport")
            )
            try book.setObject(loser, forKey: "author")
            try passport.setObject(loser, forKey: "owner")
            try loser.add(context.existingObject(with: ids[1]), toKey: "friends")
            try context.save()
            return (book.objectID, passport.objectID)
        }
        try stack.main.performAndWait { context in
            context.mergePolicy = policy
            let (loser, winner) = (try context.existingObject(with: ids[0]), try context.existingObject(with: ids[1]))
            let theirs = try context.existingObject(with: book)
            #expect(try theirs.object(forKey: "author") === loser)
            // A reference to the loser in this save becomes one to the winner.
            let own = try context.insertNewObject(forEntityName: "Book")
            try own.setObject(loser, forKey: "author")
            try winner.setValue("1", forKey: "name")
            try context.save()
            #expect(loser.isDeleted)
            #expect(try theirs.object(forKey: "author") === winner)
            #expect(try own.object(forKey: "author") === winner)
            #expect(try Set(winner.objects(forKey: "books")) == [theirs, own])
            #expect(try winner.object(forKey: "passport")?.objectID == passport)
            #expect(try winner.objects(forKey: "friends").isEmpty)
        }
        #expect(try names() == "1")
        #expect(try stack.stored("SELECT count(*) FROM ZBOOK WHERE ZAUTHOR = 2") == .integer(2))
    }

    @Test(
        "A restored object takes over the relationships of the object that has its unique name",
        arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite]
    )
    func comesBack(_ policy: MergePolicy) throws {
        try stack.main.performAndWait { context in
            context.mergePolicy = policy
            let author = try context.existingObject(with: ids[0])
            try author.setValue(7, forKey: "age")
            let others = try stack.background.performAndWait { context in
                try context.delete(context.existingObject(with: ids[0]))
                try context.save()
                let holder = try context.insertNewObject(forEntityName: "Author")
                try holder.setValue("1", forKey: "name")
                let (book, passport) = (
                    try context.insertNewObject(forEntityName: "Book"),
                    try context.insertNewObject(forEntityName: "Passport")
                )
                try book.setObject(holder, forKey: "author")
                try passport.setObject(holder, forKey: "owner")
                try holder.add(context.existingObject(with: ids[1]), toKey: "friends")
                try context.save()
                return [holder, book, passport].map(\.objectID)
            }
            let book = try context.existingObject(with: others[1])
            try context.save()
            #expect(author.objectID == ids[0] && !author.isDeleted)
            #expect(context.hasChanges == false)
            #expect(throws: ManagedObjectError.self) { try context.existingObject(with: others[0]) }
            #expect(try book.object(forKey: "author") === author)
            #expect(try author.objects(forKey: "books") == [book])
            #expect(try author.object(forKey: "passport")?.objectID == others[2])
            #expect(try author.objects(forKey: "friends").map(\.objectID) == [ids[1]])
            #expect(try author.value(Int.self, forKey: "age") == 7)
        }
        #expect(try names() == "1,2")
        #expect(try stack.stored("SELECT group_concat(ZAUTHOR) FROM ZBOOK") == .text("1"))
        let passport = "SELECT ZOWNER || (SELECT ZPASSPORT = p.Z_PK FROM ZAUTHOR WHERE Z_PK = 1) FROM ZPASSPORT p"
        #expect(try stack.stored(passport) == .text("11"))
    }

    @Test("A large import updates objects that exist and inserts the others")
    func manyAtOnce() throws {
        let known = (0..<300).map { "known \($0)" }
        try stack.background.performAndWait { context in
            for name in known { try context.insertNewObject(forEntityName: "Author").setValue(name, forKey: "name") }
            try context.save()
        }
        try stack.main.performAndWait { context in
            context.mergePolicy = .mergeByPropertyObjectTrump
            let imported = known + ["new", "new", "other"]
            let authors = try imported.map { name in
                let author = try context.insertNewObject(forEntityName: "Author")
                try author.setValue(name, forKey: "name")
                try author.setValue(7, forKey: "age")
                try context.insertNewObject(forEntityName: "Book").setObject(author, forKey: "author")
                return author
            }
            try context.save()
            // Each represents the row with its name; of two with the same name only one remains.
            #expect(Set(authors.filter { $0.managedObjectContext != nil }.map(\.objectID)).count == 302)
            #expect(context.hasChanges == false)
        }
        #expect(try stack.stored("SELECT count(*) FROM ZAUTHOR") == .integer(304))
        #expect(try stack.stored("SELECT count(*) FROM ZAUTHOR WHERE ZAGE = 7") == .integer(302))
        let books = "SELECT count(*) FROM ZBOOK b JOIN ZAUTHOR a ON a.Z_PK = b.ZAUTHOR WHERE a.ZAGE = 7"
        #expect(try stack.stored(books) == .integer(303))
        // Failed attempts left no transaction in history.
        #expect(try stack.stored("SELECT count(*) FROM ATRANSACTION") == .integer(3))
    }

    @Test("A batch that violates a constraint throws and inserts nothing")
    func batch() throws {
        stack.main.performAndWait { context in
            let conflict = #expect(throws: SaveConstraintConflict.self) {
                try context.batchInsert(entityName: "Author", objects: [["name": "8"], ["name": "1"]])
            }
            #expect(conflict?.constraint == ["name"])
            #expect(conflict?.databaseObjectID == ids[0])
        }
        #expect(try names() == "1,2")
    }
}
