import ManagedObjects
import Testing

@Suite("Merging saves of other contexts")
struct MergingTests {
    private let stack: SiblingStack
    private let ids: [ManagedObjectID]

    init() throws {
        let stack = try SiblingStack()
        self.stack = stack
        ids = try stack.background.performAndWait { context in
            let dummies = try context.insertDummies(4)
            try context.save()
            return dummies.map(\.objectID)
        }
    }

    @Test("A merge refreshes values and keeps unsaved changes")
    func update() throws {
        let ids = ids
        try stack.main.performAndWait { context in
            let (clean, edited) = (try context.existingObject(with: ids[0]), try context.existingObject(with: ids[1]))
            try edited.setValue("mine", forKey: "name")
            let seen = Seen()
            _ = context.addObserver { seen.add($0) }
            let notice = try stack.saveInBackground { background in
                for id in [ids[0], ids[1]] {
                    let dummy = try background.existingObject(with: id)
                    try dummy.setValue("theirs", forKey: "name")
                    try dummy.setValue(true, forKey: "isEven")
                }
            }
            try context.mergeChanges(fromContextDidSave: notice)
            #expect(try clean.value(forKey: "name") == "theirs")
            #expect(try edited.value(forKey: "name") == "mine")
            #expect(try edited.value(forKey: "isEven") == true)
            #expect(seen.refreshed == [ids[0]])
            #expect(seen.updated == [ids[1]])
            #expect(edited.changedValueKeys == ["name"])
            // The merged row is the new base, so the save has no conflict.
            try context.save()
            #expect(try edited.value(forKey: "name") == "mine")
        }
    }

    @Test("A merge leaves a fault unreported, and the fault reads the new values on access")
    func fault() throws {
        let ids = ids
        let notice = try stack.saveInBackground {
            try $0.existingObject(with: ids[0]).setValue("theirs", forKey: "name")
        }
        try stack.main.performAndWait { context in
            let dummy = try context.object(with: ids[0])
            let seen = Seen()
            _ = context.addObserver { seen.add($0) }
            try context.mergeChanges(fromContextDidSave: notice)
            #expect(dummy.isFault)
            #expect(seen.refreshed.isEmpty)
            #expect(try dummy.value(forKey: "name") == "theirs")
        }
    }

    @Test("A merge registers inserted objects as faults and removes deleted ones with their unsaved changes")
    func insertAndDelete() throws {
        let ids = ids
        try stack.main.performAndWait { context in
            let doomed = try context.existingObject(with: ids[3])
            try doomed.setValue("edited", forKey: "name")
            let seen = Seen()
            _ = context.addObserver { seen.add($0) }
            let notice = try stack.saveInBackground { background in
                try background.insertDummies(1)
                try background.delete(background.object(with: ids[3]))
            }
            try context.mergeChanges(fromContextDidSave: notice)
            #expect(seen.inserted == notice.insertedObjectIDs)
            #expect(seen.deleted == [ids[3]])
            #expect(context.registeredObject(for: ids[3]) == nil)
            #expect(doomed.isDeleted && doomed.managedObjectContext == nil)
            #expect(context.hasChanges == false)
            // A repeated merge changes nothing.
            try context.mergeChanges(fromContextDidSave: notice)
            #expect(seen.deleted == [ids[3]])
        }
    }

    @Test("A remote save given by IDs or URIs is merged past the row cache; other stores' objects are ignored")
    func remote() async throws {
        let id = ids[2]
        let other = try SiblingStack()
        let elsewhere = try await other.background.perform { context in
            let dummy = try context.insertDummies(1)[0]
            try context.save()
            return dummy.objectID
        }
        // A second coordinator represents another process: it has its own row cache.
        let process = PersistentStoreCoordinator()
        try process.addPersistentStore(with: stack.container.persistentStoreDescriptions[0])
        for (round, name) in ["by id", "by URI"].enumerated() {
            let before = try await stack.main.perform { context in
                context.retainsRegisteredObjects = true
                return try context.existingObject(with: id).value(String.self, forKey: "name")
            }
            let writer = ManagedObjectContext(.privateQueue, coordinator: process)
            try await writer.perform { context in
                let uri = id.uriRepresentation()
                let own = try #require(process.managedObjectID(forURIRepresentation: uri))
                let dummy = try context.existingObject(with: own)
                try dummy.setValue(name, forKey: "name")
                try context.save()
            }
            #expect(before != name)
            if round == 0 {
                let changes = ObjectIDChanges(updated: [id, elsewhere])
                try await ManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [stack.main])
            } else {
                let changes = ObjectURIChanges(
                    updated: [id.uriRepresentation(), elsewhere.uriRepresentation(), "no URI", "x-coredata:///A/t1"]
                )
                try await ManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [stack.main])
            }
            let after = try await stack.main.perform { context in
                try context.existingObject(with: id).value(String.self, forKey: "name")
            }
            #expect(after == name)
        }
    }

    @Test("A notice that names only the members updates an owner's to-many relationship that was read before")
    func membersNamedOnly() async throws {
        let stack = try SiblingStack(Library.model)
        let (author, book) = try await stack.main.perform { context in
            context.retainsRegisteredObjects = true
            let author = try context.insertNewObject(forEntityName: "Author")
            try author.setValue("a", forKey: "name")
            let book = try context.insertNewObject(forEntityName: "Book")
            try context.save()
            #expect(try author.objects(forKey: "books").isEmpty)
            return (author.objectID, book.objectID)
        }
        try stack.elsewhere("UPDATE ZBOOK SET ZAUTHOR = (SELECT Z_PK FROM ZAUTHOR), Z_OPT = Z_OPT + 1")
        try await ManagedObjectContext.mergeChanges(
            fromRemoteContextSave: ObjectIDChanges(updated: [book]),
            into: [stack.main]
        )
        let books = try await stack.main.perform { context in
            try context.existingObject(with: author).objects(forKey: "books").map(\.objectID)
        }
        #expect(books == [book])
    }

    @Test("The delete rule of an owner whose deletion is not saved also applies to a member that another save adds")
    func ownerDeletedHere() async throws {
        let stack = try SiblingStack(Library.model)
        let author = try await stack.main.perform { context in
            context.retainsRegisteredObjects = true
            let author = try context.insertNewObject(forEntityName: "Author")
            try author.setValue("a", forKey: "name")
            try context.save()
            #expect(try author.objects(forKey: "books").isEmpty)
            try context.delete(author)
            return author.objectID
        }
        let notices = LockedArray<ContextDidSave>()
        let observation = stack.background.onDidSave { notices.append($0) }
        defer { observation.cancel() }
        try await stack.background.perform { context in
            let book = try context.insertNewObject(forEntityName: "Book")
            try book.setObject(context.existingObject(with: author), forKey: "author")
            try context.save()
        }
        let deleted = try await stack.main.perform { context in
            for notice in notices.take() { try context.mergeChanges(fromContextDidSave: notice) }
            return Set(context.deletedObjects.map(\.objectID.entityName))
        }
        #expect(deleted == ["Author", "Book"])
    }

    @Test("Automatic merging merges every sibling's save")
    func automatic() async throws {
        let ids = ids
        let main = stack.main
        await main.perform { context in
            context.retainsRegisteredObjects = true
            context.automaticallyMergesChangesFromParent = true
        }
        _ = try await main.perform { try $0.existingObject(with: ids[0]).value(forKey: "name") }
        try await stack.background.perform { context in
            try context.existingObject(with: ids[0]).setValue("theirs", forKey: "name")
            try context.insertDummies(1)
            try context.save()
        }
        // The merge is already in the context's queue before this work.
        let (name, count) = try await main.perform { context in
            (
                try context.registeredObject(for: ids[0])?.value(String.self, forKey: "name"),
                context.registeredObjects.count
            )
        }
        #expect(name == "theirs")
        #expect(count == 2)
    }

    @Test("A merge combines this context's changes of a to-many relationship with another context's")
    func toMany() throws {
        let stack = try SiblingStack(Library.model)
        let (author, books) = try stack.background.performAndWait { context in
            let author = try context.insertNewObject(forEntityName: "Author")
            try author.setValue("Ursula", forKey: "name")
            let books = try ["one", "two"]
                .map { title in
                    let book = try context.insertNewObject(forEntityName: "Book")
                    try book.setValue(title, forKey: "title")
                    try book.setObject(author, forKey: "author")
                    return book
                }
            try context.save()
            return (author.objectID, books.map(\.objectID))
        }
        let notices = Notices()
        let observation = stack.background.onDidSave { notices.append($0) }
        try stack.main.performAndWait { context in
            let mine = try context.existingObject(with: author)
            #expect(try mine.objects(forKey: "books").count == 2)
            let new = try context.insertNewObject(forEntityName: "Book")
            try new.setValue("mine", forKey: "title")
            try mine.add(new, toKey: "books")
            let added = try stack.background.performAndWait { background in
                let book = try background.insertNewObject(forEntityName: "Book")
                try book.setValue("theirs", forKey: "title")
                try book.setObject(background.object(with: author), forKey: "author")
                try background.delete(background.object(with: books[0]))
                try background.save()
                return book.objectID
            }
            try context.mergeChanges(fromContextDidSave: #require(notices.all.first))
            #expect(try Set(mine.objectIDs(forRelationshipNamed: "books")) == [books[1], added, new.objectID])
            try context.save()
            #expect(try Set(mine.objectIDs(forRelationshipNamed: "books")) == [books[1], added, new.objectID])
        }
        observation.cancel()
    }
}
