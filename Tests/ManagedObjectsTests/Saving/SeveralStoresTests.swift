import ChangeMerging
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreStrategies
import TestSupport
import Testing

/// A coordinator with two stores of the same model.
@Suite("Saving to several stores")
struct SeveralStoresTests {
    private let scratch: ScratchFolder
    private let coordinator: PersistentStoreCoordinator
    private let context: ManagedObjectContext
    /// The stores in the order of a save; the first one is committed last.
    private let stores: [PersistentStore]

    init() throws {
        scratch = try ScratchFolder()
        coordinator = PersistentStoreCoordinator(managedObjectModel: SiblingStack.model)
        // Each store gets its object from a separate coordinator.
        for name in ["One", "Two"] {
            var description = PersistentStoreDescription(url: scratch.location("\(name).sqlite").url)
            description.sqlitePragmas = ["journal_mode": "DELETE"]
            description.timeout = 0.2
            let own = PersistentStoreCoordinator(managedObjectModel: SiblingStack.model)
            let store = try own.addPersistentStore(with: description)
            try ManagedObjectContext(.privateQueue, coordinator: own)
                .performAndWait { context in
                    try context.insertDummies(1)
                    try context.save()
                }
            own.remove(store)
            try coordinator.addPersistentStore(with: description)
        }
        stores = coordinator.persistentStores.sorted { $0.identifier < $1.identifier }
        context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    }

    private func connection(_ index: Int) throws -> StoreConnection {
        try StoreConnection(StoreLocation(url: stores[index].url), access: .liveReading)
    }

    private func names(_ index: Int) throws -> String? {
        try connection(index).value("SELECT group_concat(ZNAME) FROM (SELECT ZNAME FROM ZTESTDUMMY ORDER BY Z_PK)")?
            .text
    }

    /// The only object of each store.
    private func dummies(_ context: isolated ManagedObjectContext) throws -> [ManagedObject] {
        try context.fetch(FetchRequest(entityName: "TestDummy")).filter { !$0.isInserted }
            .sorted { $0.objectID.storeUUID ?? "" < $1.objectID.storeUUID ?? "" }
    }

    @Test("One save writes to all stores and posts one notice")
    func both() throws {
        let notices = Notices()
        let observation = context.onDidSave { notices.append($0) }
        try context.performAndWait { context in
            for dummy in try dummies(context) { try dummy.setValue("mine", forKey: "name") }
            try context.save()
            #expect(context.hasChanges == false)
        }
        observation.cancel()
        #expect(try [names(0), names(1)] == ["mine", "mine"])
        #expect(notices.all.map(\.updatedObjectIDs.count) == [2])
    }

    @Test("If one store rejects a save, none is written, and a retry writes nothing twice", arguments: [0, 1])
    func refused(_ refusing: Int) throws {
        try context.performAndWait { context in
            let dummies = try dummies(context)
            for dummy in dummies { try dummy.setValue("mine", forKey: "name") }
            let new = try context.insertDummies(1)[0]
            try new.setValue("new", forKey: "name")
            let process = try StoreWriterProcess(StoreLocation(url: stores[refusing].url).path)
            #expect(try process.execute("UPDATE ZTESTDUMMY SET ZNAME = 'theirs', Z_OPT = 9").hasPrefix("ok"))
            _ = process.waitForExit()
            for _ in 0..<2 {
                #expect(throws: SaveConflict.self) { try context.save() }
                #expect(try names(refusing) == "theirs")
                #expect(try names(1 - refusing) == "dummy 0")
                #expect(new.isInserted && dummies.filter(\.isUpdated) == dummies)
            }
            context.mergePolicy = .mergeByPropertyObjectTrump
            try context.save()
            #expect(try context.count(for: FetchRequest(entityName: "TestDummy")) == 3)
        }
        #expect(try Set([names(0), names(1)]) == ["mine", "mine,new"])
    }

    @Test("If the last commit fails, committed changes are not written again")
    func lastCommit() throws {
        try context.performAndWait { context in
            let dummies = try dummies(context)
            for dummy in dummies { try dummy.setValue("mine", forKey: "name") }
            // A reader of the store that is committed last: with a rollback journal, it blocks the commit.
            let reader = try connection(0)
            try reader.beginReading()
            #expect(try reader.value("SELECT count(*) FROM ZTESTDUMMY") == .integer(1))
            let notices = Notices()
            let observation = context.onDidSave { notices.append($0) }
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.code == .busy)
            #expect(dummies.map(\.isUpdated) == [true, false])
            #expect(notices.all.map(\.updatedObjectIDs) == [[dummies[1].objectID]])
            reader.rollback()
            try context.save()
            #expect(notices.all.map(\.updatedObjectIDs).last == [dummies[0].objectID])
            observation.cancel()
            #expect(context.hasChanges == false)
        }
        #expect(try [names(0), names(1)] == ["mine", "mine"])
        #expect(try connection(1).value("SELECT Z_OPT FROM ZTESTDUMMY") == .integer(2))
    }

    @Test("A relationship to an object of another store fails the save")
    func foreign() throws {
        let scratch = try ScratchFolder()
        let coordinator = PersistentStoreCoordinator(managedObjectModel: Library.model)
        for name in ["One", "Two"] {
            try coordinator.addPersistentStore(
                with: PersistentStoreDescription(url: scratch.location("\(name).sqlite").url)
            )
        }
        let second = coordinator.persistentStores[1]
        try StoreConnection(StoreLocation(url: second.url), access: .liveWriting)
            .execute("INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) SELECT 1, Z_ENT, 1 FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'")
        try ManagedObjectContext(.privateQueue, coordinator: coordinator)
            .performAndWait { context in
                let tag = try context.fetch(FetchRequest(entityName: "Tag"))[0]
                #expect(tag.objectID.storeUUID == second.identifier)
                let book = try context.insertNewObject(forEntityName: "Book")
                try book.add(tag, toKey: "tags")
                let error = #expect(throws: ManagedObjectError.self) { try context.save() }
                #expect(error?.code == .foreignObject)
                #expect(book.isInserted)
            }
    }
}
