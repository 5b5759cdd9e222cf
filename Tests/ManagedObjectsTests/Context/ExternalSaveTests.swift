import ManagedObjects
import StoreAccess
import StoreFormat
import TestSupport
import Testing

/// Another process saves while a context displays objects.
@Suite("Saves of another process")
struct ExternalSaveTests {
    private let stack: SiblingStack
    private let ids: [ManagedObjectID]

    init() throws {
        let stack = try SiblingStack()
        self.stack = stack
        ids = try stack.background.performAndWait { context in
            let dummies = try context.insertDummies(3)
            try context.save()
            return dummies.map(\.objectID)
        }
    }

    private func saveElsewhere(_ name: String, key: Int64) throws {
        let process = try StoreWriterProcess(stack.location.path)
        let sql = "UPDATE ZTESTDUMMY SET ZNAME = '\(name)', Z_OPT = Z_OPT + 1 WHERE Z_PK = \(key)"
        #expect(try process.execute(sql).hasPrefix("ok"))
        _ = process.waitForExit()
    }

    @Test("A refresh uses the cached row while the staleness interval is infinite")
    func staleRows() throws {
        let key = try #require(ids[0].primaryKey)
        try stack.main.performAndWait { context in
            let dummy = try context.existingObject(with: ids[0])
            #expect(try dummy.value(forKey: "name") == "dummy 0")
            try saveElsewhere("elsewhere", key: key)
            try context.refreshAllObjects()
            #expect(dummy.isFault)
            #expect(try dummy.value(forKey: "name") == "dummy 0")
            context.stalenessInterval = 0
            try context.refreshAllObjects()
            context.stalenessInterval = -1
            #expect(try dummy.value(forKey: "name") == "elsewhere")
        }
    }

    @Test("viewContextDidSaveExternally shows another process's save and keeps unsaved changes")
    func external() throws {
        let keys = try ids.map { try #require($0.primaryKey) }
        try stack.main.performAndWait { context in
            let dummies = try ids.map(context.existingObject(with:))
            try dummies[1].setValue(true, forKey: "isEven")
            try saveElsewhere("elsewhere 0", key: keys[0])
            try saveElsewhere("elsewhere 1", key: keys[1])
            #expect(try context.viewContextDidSaveExternally())
            #expect(context.stalenessInterval == -1)
            #expect(try dummies[0].value(forKey: "name") == "elsewhere 0")
            #expect(try dummies[1].value(forKey: "name") == "elsewhere 1")
            #expect(try dummies[1].value(forKey: "isEven") == true)
            #expect(context.updatedObjects == [dummies[1]])
            // The merged row is the new base, so the save has no conflict.
            try context.save()
            #expect(try dummies[1].value(forKey: "name") == "elsewhere 1")
        }
    }

    @Test("Without another process's save, nothing is refreshed and no row is read")
    func nothingNew() throws {
        try stack.main.performAndWait { context in
            let dummy = try context.existingObject(with: ids[0])
            let seen = Seen()
            _ = context.addObserver { seen.add($0) }
            let rowsRead = stack.container.persistentStoreCoordinator.rowsRead
            #expect(rowsRead > 0)
            #expect(try context.viewContextDidSaveExternally() == false)
            #expect(stack.container.persistentStoreCoordinator.rowsRead == rowsRead)
            #expect(dummy.isFault == false)
            #expect(seen.count == 0)
        }
        // A save of this coordinator is not external.
        try stack.background.performAndWait { context in
            try context.existingObject(with: ids[1]).setValue("own", forKey: "name")
            try context.save()
        }
        let isRefreshed = try stack.main.performAndWait { try $0.viewContextDidSaveExternally() }
        #expect(!isRefreshed)
        try saveElsewhere("elsewhere", key: 1)
        let results = try stack.main.performAndWait { context in
            [try context.viewContextDidSaveExternally(), try context.viewContextDidSaveExternally()]
        }
        #expect(results == [true, false])
    }

    @Test("An object deleted by another process is shown as deleted without values, or throws")
    func deletedElsewhere() throws {
        let process = try StoreWriterProcess(stack.location.path)
        #expect(try process.execute("DELETE FROM ZTESTDUMMY WHERE Z_PK = 2").hasPrefix("ok"))
        _ = process.waitForExit()
        let gone = try #require(ids.first { $0.primaryKey == 2 })
        try stack.main.performAndWait { context in
            #expect(throws: ManagedObjectError.self) { try context.existingObject(with: gone) }
            let object = try context.object(with: gone)
            #expect(try object.value(forKey: "name") == .null)
            #expect(object.isDeleted)
        }
        let other = ManagedObjectContext(.privateQueue, coordinator: stack.container.persistentStoreCoordinator)
        try other.performAndWait { context in
            context.shouldDeleteInaccessibleFaults = false
            let object = try context.object(with: gone)
            #expect(throws: ManagedObjectError.self) { try object.value(forKey: "name") }
        }
    }
}

/// Relationships and lists, whose changed objects may not be retained.
@Suite("Relationship changes by another process")
struct ExternalRelationshipTests {
    private let stack: SiblingStack
    private let author: ManagedObjectID
    private let book: ManagedObjectID

    init() throws {
        let stack = try SiblingStack(Library.model)
        self.stack = stack
        (author, book) = try stack.background.performAndWait { context in
            let author = try context.insertNewObject(forEntityName: "Author")
            try author.setValue("A", forKey: "name")
            let book = try context.insertNewObject(forEntityName: "Book")
            try book.setObject(author, forKey: "author")
            try context.save()
            return (author.objectID, book.objectID)
        }
    }

    private func elsewhere(_ sql: String) throws {
        let process = try StoreWriterProcess(stack.location.path)
        #expect(try process.execute(sql).hasPrefix("ok"))
        _ = process.waitForExit()
    }

    @Test("A refresh reads the members of a fault's relationship again")
    func membersOfFault() throws {
        try stack.main.performAndWait { context in
            let author = try context.object(with: author)
            #expect(try author.objectIDs(forRelationshipNamed: "books") == [book])
            #expect(author.isFault)
            try elsewhere("UPDATE ZBOOK SET ZAUTHOR = NULL, Z_OPT = Z_OPT + 1")
            #expect(try context.viewContextDidSaveExternally())
            #expect(try author.objects(forKey: "books").isEmpty)
            #expect(author.isFault)
        }
    }

    @Test("Unsaved members of a fault's relationship stay, with the members now in the store")
    func pendingMembersOfFault() throws {
        try stack.main.performAndWait { context in
            let author = try context.object(with: author)
            let new = try context.insertNewObject(forEntityName: "Book")
            try author.add(new, toKey: "books")
            #expect(try author.objects(forKey: "books").count == 2)
            #expect(author.isFault)
            try elsewhere("DELETE FROM ZBOOK")
            #expect(try context.viewContextDidSaveExternally())
            #expect(try author.objects(forKey: "books") == [new])
            try context.save()
            #expect(try author.objects(forKey: "books") == [new])
        }
    }

    @Test("A merging refresh reads the members again, of a fault and of a filled object", arguments: [true, false])
    func refresh(_ isFault: Bool) throws {
        try stack.main.performAndWait { context in
            let author = try isFault ? context.object(with: author) : context.existingObject(with: author)
            #expect(try author.objects(forKey: "books").count == 1)
            #expect(author.isFault == isFault)
            try stack.background.performAndWait { background in
                let book = try background.insertNewObject(forEntityName: "Comic")
                try book.setObject(background.existingObject(with: self.author), forKey: "author")
                try background.save()
            }
            try context.refresh(author, mergeChanges: true)
            #expect(try author.objects(forKey: "books").count == 2)
        }
    }

    /// Reacts to a notification from another process, in one call or in the published steps.
    private func hear(_ context: isolated ManagedObjectContext, _ stepByStep: Bool) throws {
        guard stepByStep else {
            #expect(try context.viewContextDidSaveExternally())
            return
        }
        context.stalenessInterval = 0
        try context.refreshAllObjects()
        context.stalenessInterval = -1
    }

    @Test(
        "A complete controller shows inserted rows, drops deleted ones and notifies its delegate",
        arguments: [true, false]
    )
    func controller(_ stepByStep: Bool) throws {
        try stack.main.performAndWait { context in
            let request = FetchRequest(entityName: "Tag", sortDescriptors: [.init(keyPath: "word")])
            let controllers = [FetchedResultsController.Behaviour.complete, .registeredOnly]
                .map { FetchedResultsController(fetchRequest: request, managedObjectContext: context, behaviour: $0) }
            let delegates = controllers.map { _ in Recorder() }
            for (controller, delegate) in zip(controllers, delegates) {
                controller.delegate = delegate
                try controller.performFetch()
            }
            try elsewhere(
                "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZWORD) SELECT 1, Z_ENT, 1, 'w' FROM Z_PRIMARYKEY "
                    + "WHERE Z_NAME = 'Tag'"
            )
            try hear(context, stepByStep)
            #expect(controllers.map(\.fetchedObjects?.count) == [1, 0])
            #expect(delegates.map(\.kinds) == [[.insert], []])
            try elsewhere("DELETE FROM ZTAG")
            try hear(context, stepByStep)
            #expect(controllers.map(\.fetchedObjects?.count) == [0, 0])
            #expect(delegates.map(\.kinds) == [[.insert, .delete], []])
        }
    }

    @Test("A controller shows another process's changes to all objects and reports each once")
    func updates() throws {
        try stack.background.performAndWait { context in
            for number in 0..<40 {
                try context.insertNewObject(forEntityName: "Tag").setValue("word \(number)", forKey: "word")
            }
            try context.save()
        }
        try stack.main.performAndWait { context in
            let controller = FetchedResultsController(
                fetchRequest: FetchRequest(entityName: "Tag", sortDescriptors: [.init(keyPath: "word")]),
                managedObjectContext: context
            )
            let delegate = Recorder()
            controller.delegate = delegate
            try controller.performFetch()
            try elsewhere("UPDATE ZTAG SET ZWORD = ZWORD || '!', Z_OPT = Z_OPT + 1")
            #expect(try context.viewContextDidSaveExternally())
            let words = try controller.fetchedObjects?.map { try $0.value(String.self, forKey: "word") }
            #expect(words?.allSatisfy { $0?.hasSuffix("!") == true } == true)
            #expect(delegate.kinds == [FetchedResultsController.ChangeType](repeating: .update, count: 40))
        }
    }
}
