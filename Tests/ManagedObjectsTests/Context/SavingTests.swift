import ChangeMerging
import ManagedObjects
import StoreAccess
import StoreFormat
import Testing

@Suite("Saving a context")
struct SavingTests {
    private let stack: SiblingStack
    private let author: ManagedObjectID

    init() throws {
        let stack = try SiblingStack(Library.model)
        self.stack = stack
        author = try stack.background.performAndWait { context in
            let author = try context.insertNewObject(forEntityName: "Author")
            try author.setValue("Ursula", forKey: "name")
            try author.setValue(40, forKey: "age")
            try context.save()
            return author.objectID
        }
    }

    /// The stored values, read without any cache.
    private func stored() throws -> [AttributeValue?] {
        let fresh = PersistentStoreCoordinator()
        try fresh.addPersistentStore(with: stack.container.persistentStoreDescriptions[0])
        return try ManagedObjectContext(.privateQueue, coordinator: fresh)
            .performAndWait { context in
                let object = try context.all("Author").first
                return [try object?.value(forKey: "name"), try object?.value(forKey: "age")]
            }
    }

    /// Two contexts change the same object: both its age, the first also its name if given.
    private func collide(_ policy: MergePolicy, name: String?, age: Int?, theirs: Int = 41) throws -> [AttributeValue?]
    {
        let author = author
        return try stack.main.performAndWait { context in
            context.mergePolicy = policy
            let mine = try context.existingObject(with: author)
            if let name { try mine.setValue(name, forKey: "name") }
            if let age { try mine.setValue(age, forKey: "age") }
            try stack.background.performAndWait { background in
                try background.existingObject(with: author).setValue(theirs, forKey: "age")
                try background.save()
            }
            do {
                try context.save()
                #expect(context.hasChanges == false)
            } catch let conflict as SaveConflict {
                #expect(policy == .error)
                #expect(conflict.conflicts.map(\.object) == [author])
                #expect(conflict.conflicts.first?.base["age"] == .attribute(40))
                #expect(conflict.conflicts.first?.store?["age"] == .attribute(41))
                #expect(context.updatedObjects == [mine])
            }
            return [try mine.value(forKey: "name"), try mine.value(forKey: "age")]
        }
    }

    @Test(
        "A property changed by both contexts is resolved by the merge policy",
        arguments: [
            (MergePolicy.error, ["Ursula", 41], ["Le Guin", 39]),
            (.mergeByPropertyStoreTrump, ["Le Guin", 41], ["Le Guin", 41]),
            (.mergeByPropertyObjectTrump, ["Le Guin", 39], ["Le Guin", 39]),
            (.overwrite, ["Le Guin", 39], ["Le Guin", 39]),
            (.rollback, ["Ursula", 41], ["Ursula", 41]),
        ] as [(MergePolicy, [AttributeValue], [AttributeValue])]
    )
    func policies(_ policy: MergePolicy, inStore: [AttributeValue], inContext: [AttributeValue]) throws {
        let here = try collide(policy, name: "Le Guin", age: 39)
        #expect(here == inContext)
        let there = try stored()
        #expect(there == inStore)
    }

    @Test("The policy overwrite writes the whole object and loses another context's changes")
    func overwrite() throws {
        _ = try collide(.overwrite, name: "Le Guin", age: nil)
        let there = try stored()
        #expect(there == ["Le Guin", 40])
    }

    @Test(
        "A conflict between a deletion and a change is resolved by the merge policy",
        arguments: [
            (MergePolicy.mergeByPropertyStoreTrump, false, 1), (.mergeByPropertyStoreTrump, true, 0),
            (.mergeByPropertyObjectTrump, false, 0), (.mergeByPropertyObjectTrump, true, 1),
            (.rollback, false, 1), (.rollback, true, 0),
        ]
    )
    func deletion(_ policy: MergePolicy, deletedThere: Bool, left: Int) throws {
        let author = author
        try stack.main.performAndWait { context in
            context.mergePolicy = policy
            let mine = try context.existingObject(with: author)
            if deletedThere { try mine.setValue(39, forKey: "age") } else { try context.delete(mine) }
            try stack.background.performAndWait { background in
                let theirs = try background.existingObject(with: author)
                if deletedThere { try background.delete(theirs) } else { try theirs.setValue(41, forKey: "age") }
                try background.save()
            }
            try context.save()
            #expect(context.hasChanges == false)
            #expect(try context.count(for: FetchRequest(entityName: "Author")) == left)
        }
    }

    @Test(
        "A new object with the unique name of a stored one is resolved by the merge policy",
        arguments: [
            (MergePolicy.mergeByPropertyStoreTrump, AttributeValue.integer(40)),
            (.mergeByPropertyObjectTrump, 7), (.rollback, 40),
        ]
    )
    func uniqueness(_ policy: MergePolicy, age: AttributeValue) throws {
        let author = author
        try stack.main.performAndWait { context in
            let new = try context.insertNewObject(forEntityName: "Author")
            try new.setValue("Ursula", forKey: "name")
            try new.setValue(7, forKey: "age")
            let book = try context.insertNewObject(forEntityName: "Book")
            try book.setObject(new, forKey: "author")
            let error = #expect(throws: SaveConstraintConflict.self) { try context.save() }
            #expect(error?.constraint == ["name"])
            #expect(error?.databaseObjectID == author)
            #expect(context.insertedObjects == [new, book])
            context.mergePolicy = policy
            try context.save()
            #expect(try context.count(for: FetchRequest(entityName: "Author")) == 1)
            // The stored object replaces the new one.
            #expect(try book.objectIDs(forRelationshipNamed: "author") == [author])
            let survivor = try context.existingObject(with: author)
            #expect(try survivor.value(forKey: "age") == age)
        }
    }

    @Test("Missing required values fail the save before any write, and the error lists every affected object")
    func validation() throws {
        try stack.main.performAndWait { context in
            let authors = [
                try context.insertNewObject(forEntityName: "Author"),
                try context.insertNewObject(forEntityName: "Author"),
            ]
            let error = #expect(throws: ManagedObjectError.self) { try context.save() }
            #expect(error?.code == .multipleValidationErrors)
            #expect(error.map { Set($0.objectIDs) } == Set(authors.map(\.objectID)))
            #expect(authors.filter(\.isInserted) == authors)
            try context.delete(authors[0])
            let award = try context.insertNewObject(forEntityName: "Award")
            try authors[1].setValue("B", forKey: "name")
            let other = #expect(throws: ManagedObjectError.self) { try context.save() }
            #expect(other?.code == .missingMandatoryProperty)
            try award.setObject(authors[1], forKey: "winner")
            try context.save()
            #expect(!authors[1].objectID.isTemporaryID)
        }
    }

    @Test("Setting an equal value is a change that writes nothing")
    func equalValue() throws {
        let author = author
        let notices = Notices()
        let observation = stack.main.onDidSave { notices.append($0) }
        try stack.main.performAndWait { context in
            let mine = try context.existingObject(with: author)
            try mine.setValue(40, forKey: "age")
            #expect(mine.isUpdated && mine.hasChanges && !mine.hasPersistentChangedValues)
            try context.save()
            #expect(!mine.hasChanges)
        }
        #expect(notices.all.first?.updatedObjectIDs == [author])
        let connection = try StoreConnection(stack.location, access: .liveReading)
        #expect(try connection.value("SELECT Z_OPT FROM ZAUTHOR") == .integer(1))
        observation.cancel()
    }

    @Test("A rollback discards unsaved changes")
    func rollback() throws {
        let author = author
        try stack.main.performAndWait { context in
            let mine = try context.existingObject(with: author)
            try mine.setValue("changed", forKey: "name")
            try context.insertNewObject(forEntityName: "Tag").setValue("t", forKey: "word")
            try context.rollback()
            #expect(context.hasChanges == false)
            #expect(try mine.value(forKey: "name") == "Ursula")
            try context.delete(mine)
            try context.rollback()
            #expect(!mine.isDeleted)
            #expect(try mine.value(forKey: "age") == 40)
            #expect(try context.count(for: FetchRequest(entityName: "Tag")) == 0)
        }
    }

    @Test("A save succeeds after another process's VACUUM, CREATE INDEX or ANALYZE, and fails after its RENAME COLUMN")
    func tidied() throws {
        let author = author
        try stack.main.performAndWait { context in
            let mine = try context.existingObject(with: author)
            for (age, sql) in [(50, "VACUUM"), (51, "CREATE INDEX own ON ZAUTHOR (ZAGE)"), (52, "ANALYZE")] {
                try stack.elsewhere(sql)
                try mine.setValue(age, forKey: "age")
                try context.save()
                #expect(try stack.stored("SELECT ZAGE FROM ZAUTHOR")?.integer == Int64(age))
            }
            try stack.elsewhere("ALTER TABLE ZAUTHOR RENAME COLUMN ZAGE TO ZYEARS")
            try mine.setValue(53, forKey: "age")
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.code == .changedMeanwhile)
        }
    }

    @Test("A save fails after another store's content replaced the opened store, and succeeds after a reopen")
    func replacedContent() throws {
        let author = author
        let coordinator = stack.container.persistentStoreCoordinator
        let store = try #require(coordinator.persistentStores.first)
        let other = "9E4D7A2C-3A54-4B0E-9B5C-0D6B8F1F2A11"
        try stack.elsewhere("UPDATE Z_METADATA SET Z_UUID = '\(other)'")

        try stack.main.performAndWait { context in
            try context.existingObject(with: author).setValue(50, forKey: "age")
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.code == .replaced)
            #expect(try stack.stored("SELECT ZAGE FROM ZAUTHOR")?.integer == 40)
        }
        let reopened = try coordinator.reopen(store)

        #expect(reopened.identifier == other)
        let context = stack.container.newBackgroundContext()
        try context.performAndWait { context in
            try #require(try context.all("Author").first).setValue(51, forKey: "age")
            try context.save()
        }
        #expect(try stack.stored("SELECT ZAGE FROM ZAUTHOR")?.integer == 51)
    }

    @Test("Delete rules that failed to run are run by the next save")
    func interruptedDeleteRules() throws {
        let stack = stack
        let ids = try stack.background.performAndWait { context in
            let book = try context.insertNewObject(forEntityName: "Book")
            let chapter = try context.insertNewObject(forEntityName: "Chapter")
            try chapter.setObject(book, forKey: "book")
            try context.save()
            return [book.objectID, chapter.objectID]
        }
        let coordinator = stack.container.persistentStoreCoordinator
        try stack.main.performAndWait { context in
            try context.delete(context.object(with: ids[0]))
            coordinator.remove(coordinator.persistentStores[0])
            #expect(throws: ManagedObjectError.self) { try context.processPendingChanges() }
            #expect(throws: ManagedObjectError.self) { try context.save() }
            try coordinator.addPersistentStore(with: stack.container.persistentStoreDescriptions[0])
            try context.save()
        }
        #expect(try stack.stored("SELECT count(*) FROM ZCHAPTER") == .integer(0))
    }
}
