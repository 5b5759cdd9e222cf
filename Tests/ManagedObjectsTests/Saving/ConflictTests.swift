import ChangeMerging
import ManagedObjects
import StoreAccess
import StoreFormat
import Testing

/// Which saves conflict, and the context's state after the conflict is resolved.
@Suite("Conflicts of relationships and faults")
struct ConflictTests {
    private let stack: SiblingStack
    private let authors: [ManagedObjectID]

    init() throws {
        stack = try SiblingStack(Library.model)
        authors = try stack.insertAuthors("0", "1", "2")
    }

    /// Inserts an object in the background context and saves it.
    private func insert(_ entity: String) throws -> ManagedObjectID {
        try stack.background.performAndWait { context in
            let object = try context.insertNewObject(forEntityName: entity)
            try context.save()
            return object.objectID
        }
    }

    @Test(
        "A change of members only conflicts with another context's save of their owner",
        arguments: [
            (MergePolicy.error, [1]), (.rollback, [1]), (.mergeByPropertyStoreTrump, [0, 1]),
            (.mergeByPropertyObjectTrump, [0, 1]), (.overwrite, [0, 1]),
        ]
    )
    func members(_ policy: MergePolicy, _ left: [Int]) throws {
        let (book, tags) = (try insert("Book"), [try insert("Tag"), try insert("Tag")])
        try stack.main.performAndWait { context in
            context.mergePolicy = policy
            let mine = try context.existingObject(with: book)
            #expect(try mine.objects(forKey: "tags").isEmpty)
            try mine.add(context.existingObject(with: tags[0]), toKey: "tags")
            try stack.background.performAndWait { background in
                let theirs = try background.existingObject(with: book)
                try theirs.setValue("theirs", forKey: "title")
                try theirs.add(background.existingObject(with: tags[1]), toKey: "tags")
                try background.save()
            }
            if policy == .error {
                let conflict = #expect(throws: SaveConflict.self) { try context.save() }
                #expect(conflict?.conflicts.map(\.object) == [book])
                return
            }
            try context.save()
            #expect(try mine.objects(forKey: "tags").map(\.objectID) == left.map { tags[$0] })
            #expect(try mine.value(forKey: "title") == (policy == .overwrite ? .null : "theirs"))
        }
        #expect(try stack.stored("SELECT count(*) FROM Z_3TAGS")?.integer == Int64(left.count))
    }

    @Test(
        "An order changed by both sides is merged by the policy, and members added elsewhere keep their position",
        arguments: [
            (MergePolicy.mergeByPropertyObjectTrump, [2, 3, 0, 1]), (.mergeByPropertyStoreTrump, [1, 0, 2, 3]),
        ]
    )
    func order(_ policy: MergePolicy, _ wanted: [Int]) throws {
        let book = try insert("Book")
        let chapters = [try insert("Chapter"), try insert("Chapter"), try insert("Chapter"), try insert("Chapter")]
        try stack.background.performAndWait { context in
            let mine = try context.existingObject(with: book)
            try mine.setObjects(chapters.prefix(3).map(context.existingObject), forKey: "chapters")
            try context.save()
        }
        try stack.main.performAndWait { context in
            context.mergePolicy = policy
            let mine = try context.existingObject(with: book)
            try mine.setObjects([2, 0, 1].map { try context.existingObject(with: chapters[$0]) }, forKey: "chapters")
            try stack.background.performAndWait { background in
                let theirs = try background.existingObject(with: book)
                try theirs.setObjects(
                    [1, 0, 2, 3].map { try background.existingObject(with: chapters[$0]) },
                    forKey: "chapters"
                )
                try background.save()
            }
            try context.save()
            #expect(try mine.objects(forKey: "chapters").map(\.objectID) == wanted.map { chapters[$0] })
        }
    }

    @Test("Deleting a stale fault conflicts with another process's save", arguments: [false, true])
    func staleFault(_ isChanged: Bool) throws {
        let tag = try insert("Tag")
        try stack.main.performAndWait { context in
            let mine = try context.fetch(FetchRequest(entityName: "Tag"))[0]
            #expect(mine.isFault)
            if isChanged { try stack.elsewhere("UPDATE ZTAG SET ZWORD = 'theirs', Z_OPT = Z_OPT + 1") }
            try context.delete(mine)
            if isChanged {
                let conflict = #expect(throws: SaveConflict.self) { try context.save() }
                #expect(conflict?.conflicts.map(\.object) == [tag])
                #expect(conflict?.conflicts.first?.store?["word"] == .attribute("theirs"))
            } else {
                try context.save()
            }
        }
        #expect(try stack.stored("SELECT count(*) FROM ZTAG") == .integer(isChanged ? 1 : 0))
    }

    @Test("An object deleted here, changed elsewhere and merged is deleted without a conflict")
    func mergedDeletion() throws {
        let authors = authors
        let notices = Notices()
        let observation = stack.background.onDidSave { notices.append($0) }
        try stack.main.performAndWait { context in
            try context.delete(context.existingObject(with: authors[0]))
            try stack.background.performAndWait { background in
                try background.existingObject(with: authors[0]).setValue(1, forKey: "age")
                try background.save()
            }
            try context.mergeChanges(fromContextDidSave: #require(notices.all.first))
            #expect(context.deletedObjects.map(\.objectID) == [authors[0]])
            try context.save()
            #expect(try context.count(for: FetchRequest(entityName: "Author")) == 2)
        }
        observation.cancel()
    }

    @Test(
        "A change discarded by the policy is also removed from the inverse relationship",
        arguments: [
            MergePolicy.mergeByPropertyStoreTrump, .rollback,
        ]
    )
    func inverse(_ policy: MergePolicy) throws {
        let (authors, book) = (authors, try insert("Book"))
        try stack.main.performAndWait { context in
            context.mergePolicy = policy
            context.retainsRegisteredObjects = true
            let (here, mine) = (try context.existingObject(with: authors[1]), try context.existingObject(with: book))
            #expect(try here.objects(forKey: "books").isEmpty)
            try mine.setObject(here, forKey: "author")
            try stack.background.performAndWait { background in
                let theirs = try background.existingObject(with: book)
                try theirs.setObject(background.existingObject(with: authors[2]), forKey: "author")
                try background.save()
            }
            try context.save()
            #expect(try mine.object(forKey: "author")?.objectID == authors[2])
            #expect(try here.objects(forKey: "books").isEmpty)
        }
    }

    @Test("The greatest row version does not overflow")
    func greatestVersion() throws {
        let authors = authors
        try stack.elsewhere("UPDATE ZAUTHOR SET Z_OPT = 9223372036854775807")
        try stack.main.performAndWait { context in
            context.mergePolicy = .mergeByPropertyObjectTrump
            let (kept, gone) = (
                try context.existingObject(with: authors[0]), try context.existingObject(with: authors[1])
            )
            try kept.setValue(1, forKey: "age")
            try context.save()
            try kept.setValue(2, forKey: "age")
            try context.save()
            try gone.setValue(3, forKey: "age")
            try stack.elsewhere("DELETE FROM ZAUTHOR WHERE Z_PK = \(gone.objectID.primaryKey ?? 0)")
            try context.save()
            #expect(try gone.value(forKey: "age") == 3)
        }
        let versions = "SELECT group_concat(typeof(Z_OPT) || Z_OPT) FROM (SELECT * FROM ZAUTHOR ORDER BY Z_PK)"
        #expect(try stack.stored(versions) == .text("integer2,integer1,integer9223372036854775807"))
    }
}
