import Dispatch
import FoundationEssentials
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreFormat
import StoreStrategies
import Synchronization
import TestSupport
import Testing

@Suite("Opening stores")
struct ContainerTests {
    @Test("A store of another model is rejected with the entities that differ")
    func otherModel() throws {
        let stack = try SiblingStack()
        let other = PersistentStoreCoordinator(managedObjectModel: Library.model)
        let error = #expect(throws: ManagedObjectError.self) {
            try other.addPersistentStore(with: stack.container.persistentStoreDescriptions[0])
        }
        #expect(error?.code == .incompatibleModel)
        #expect(error?.message.contains("TestDummy") == true)
        #expect(other.persistentStores.isEmpty)
    }

    @Test("A store of a former version is migrated when it is added, unless its description says otherwise")
    func migration() throws {
        let stack = try SiblingStack()
        let document = """
            <model><entity name="TestDummy" syncable="YES">
                <attribute name="id" optional="YES" attributeType="Integer 64"/>
                <attribute name="title" optional="YES" attributeType="String" elementID="name"/>
                <attribute name="isEven" optional="YES" attributeType="Boolean"/>
                <attribute name="goal" attributeType="Integer 64" defaultValueString="3"/>
            </entity></model>
            """
        try stack.scratch.write("contents", Array(document.utf8))
        try stack.main.performAndWait { context in
            try context.insertDummies(2)
            try context.save()
        }
        var description = stack.container.persistentStoreDescriptions[0]
        description.modelFile = stack.scratch.path + "/contents"
        for change in [
            { $0.shouldMigrateStoreAutomatically = false }, { $0.shouldInferMappingModelAutomatically = false },
            { $0.isReadOnly = true },
        ] as [(inout PersistentStoreDescription) -> Void] {
            var refused = description
            change(&refused)
            let error = #expect(throws: ManagedObjectError.self) {
                try PersistentStoreCoordinator().addPersistentStore(with: refused)
            }
            #expect(error?.code == .incompatibleModel)
        }

        let container = PersistentContainer(
            name: "next",
            descriptions: [description],
            viewContextOn: .privateQueue
        )
        _ = try container.loadPersistentStoresAndWait()

        try container.viewContext.performAndWait { context in
            let objects = try context.fetch(FetchRequest(entityName: "TestDummy"))
            #expect(objects.count == 2)
            for object in objects {
                #expect(try object.value(forKey: "goal") == .integer(3))
                #expect(try object.value(forKey: "title") != .null)
            }
            try context.insertNewObject(forEntityName: "TestDummy").setValue("third", forKey: "title")
            try context.save()
        }
        // The former model is the older one: it does not open the store any more.
        let error = #expect(throws: ManagedObjectError.self) {
            try PersistentStoreCoordinator(managedObjectModel: SiblingStack.model)
                .addPersistentStore(
                    with: stack.container.persistentStoreDescriptions[0]
                )
        }
        #expect(error?.message.contains("renamed") == true, "\(error?.message ?? "")")
    }

    @Test("Version hashes decide if both are known")
    func hashes() throws {
        let stack = try SiblingStack()
        var description = stack.container.persistentStoreDescriptions[0]
        description.shouldMigrateStoreAutomatically = false
        let metadata = stack.container.persistentStoreCoordinator
            .metadata(for: stack.container.persistentStoreCoordinator.persistentStores[0])
        guard case .dictionary(let values)? = metadata["NSStoreModelVersionHashes"] else {
            Issue.record("the store has no version hashes")
            return
        }
        let hashes = values.compactMapValues { if case .data(let bytes) = $0 { bytes } else { nil } }
        let same = PersistentStoreCoordinator(managedObjectModel: SiblingStack.model, versionHashes: hashes)
        try same.addPersistentStore(with: description)
        let changed = hashes.mapValues { _ in [UInt8](repeating: 7, count: 32) }
        let other = PersistentStoreCoordinator(managedObjectModel: SiblingStack.model, versionHashes: changed)
        #expect(throws: ManagedObjectError.self) { try other.addPersistentStore(with: description) }
    }

    @Test("A missing store is an error without a model, and created with one")
    func missing() throws {
        let scratch = try ScratchFolder()
        let description = PersistentStoreDescription(url: scratch.location("new.sqlite").url)
        let error = #expect(throws: StoreError.self) {
            try PersistentStoreCoordinator().addPersistentStore(with: description)
        }
        #expect(error?.code == .notFound && error?.path == scratch.path + "/new.sqlite")
        #expect(error?.message == "there is no store yet; open it with a model (managedObjectModel) to create it")
        var readOnly = description
        readOnly.isReadOnly = true
        let refusal = #expect(throws: StoreError.self) {
            try PersistentStoreCoordinator(managedObjectModel: Library.model).addPersistentStore(with: readOnly)
        }
        #expect(refusal?.code == .notFound && refusal?.message.contains("opens it for writing") == true)
        #expect(try scratch.directory.status(of: "new.sqlite") == nil)
        let store = try PersistentStoreCoordinator(managedObjectModel: Library.model)
            .addPersistentStore(with: description)
        #expect(store.journalMode == "wal")
        #expect(try scratch.directory.status(of: "new.sqlite") != nil)
    }

    @Test("A missing folder of a store is an error that names the folder", arguments: [nil, Library.model])
    func missingFolder(model: ManagedObjectModel?) throws {
        let scratch = try ScratchFolder()
        let url = scratch.location("none").url.appending(path: "new.sqlite")
        let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
        let error = #expect(throws: StoreError.self) {
            try coordinator.addPersistentStore(with: PersistentStoreDescription(url: url))
        }
        #expect(error?.code == .notFound && error?.path == scratch.path + "/none")
        #expect(error?.message == "the folder of the store does not exist; create it")
    }

    @Test("A container has the model that it was given, or that of its store once it has loaded it")
    func knownModel() throws {
        let stack = try SiblingStack()
        let model = SiblingStack.model
        let descriptions = stack.container.persistentStoreDescriptions
        let given = PersistentContainer(name: "given", managedObjectModel: model, descriptions: descriptions)
        #expect(given.managedObjectModel == model)
        let found = PersistentContainer(name: "found", descriptions: descriptions, viewContextOn: .privateQueue)
        #expect(found.managedObjectModel == nil)
        try found.loadPersistentStoresAndWait()
        #expect(found.managedObjectModel?.entities.map(\.name) == model.entities.map(\.name))
    }

    @Test("When several containers create a store at once, one creates it and all can write", arguments: [false, true])
    func manyAtFirst(tracksHistory: Bool) throws {
        for round in 1...20 {
            let scratch = try ScratchFolder()
            var description = PersistentStoreDescription(url: scratch.location("new.sqlite").url)
            description.isHistoryTrackingEnabled = tracksHistory
            description.postsRemoteChangeNotifications = true
            description.timeout = 120
            if round.isMultiple(of: 2) { description.sqlitePragmas["journal_mode"] = "delete" }
            let failures = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 6) { [description] number in
                do {
                    let container = PersistentContainer(
                        name: "new",
                        managedObjectModel: SiblingStack.model,
                        descriptions: [description],
                        viewContextOn: .privateQueue
                    )
                    try container.loadPersistentStoresAndWait()
                    try container.insert(Int64(number), named: "\(number)")
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock(\.self) == [])
            let coordinator = PersistentStoreCoordinator(managedObjectModel: SiblingStack.model)
            try coordinator.addPersistentStore(with: description)
            let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
            #expect(try context.performAndWait { try $0.count(for: FetchRequest(entityName: "TestDummy")) } == 6)
            #expect(try scratch.directory.entries().filter { $0.hasPrefix(".store-migrate") } == [])
        }
    }

    @Test(
        "When six containers change the journal mode of one store at once, all can open it",
        arguments: ["wal", "delete"]
    )
    func manyConvert(mode: String) throws {
        for _ in 1...10 {
            let scratch = try ScratchFolder()
            var description = PersistentStoreDescription(url: scratch.location("new.sqlite").url)
            description.timeout = 120
            description.sqlitePragmas["journal_mode"] = mode == "wal" ? "delete" : "wal"
            let first = PersistentStoreCoordinator(managedObjectModel: SiblingStack.model)
            try first.remove(first.addPersistentStore(with: description))
            description.sqlitePragmas["journal_mode"] = mode
            let failures = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 6) { [description] _ in
                do {
                    // Closed again, because leaving WAL mode requires exclusive access.
                    let coordinator = PersistentStoreCoordinator(managedObjectModel: SiblingStack.model)
                    try coordinator.remove(coordinator.addPersistentStore(with: description))
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock(\.self) == [])
        }
    }

    @Test("Files left by a process killed while creating a store block nothing and are removed later")
    func killedWhileMade() throws {
        let scratch = try ScratchFolder()
        let digits = String(repeating: "0a", count: 10)
        let left = try scratch.directory.createDirectory(".store-migrate-new-\(digits)", mode: 0o700)
        try left.createFile("new.sqlite", mode: 0o644).close()
        let description = PersistentStoreDescription(url: scratch.location("new.sqlite").url)
        try PersistentStoreCoordinator(managedObjectModel: Library.model).addPersistentStore(with: description)
        #expect(try scratch.directory.entries().filter { $0.hasPrefix(".store-migrate") } == [])
    }

    @Test("Effective options are read back from the store")
    func options() throws {
        let scratch = try ScratchFolder()
        var description = PersistentStoreDescription(url: scratch.location("new.sqlite").url)
        description.isHistoryTrackingEnabled = true
        description.sqlitePragmas = ["journal_mode": "DELETE", "cache_size": "-64"]
        let store = try PersistentStoreCoordinator(managedObjectModel: Library.model)
            .addPersistentStore(with: description)
        #expect(store.journalMode == "delete")
        #expect(store.sqlitePragmas["cache_size"] == "-64")
        #expect(store.isHistoryTrackingEnabled)
        #expect(!store.isReadOnly)
        description.sqlitePragmas = ["cache_size": "1; DROP TABLE ZTAG"]
        #expect(throws: ManagedObjectError.self) {
            try PersistentStoreCoordinator().addPersistentStore(with: description)
        }
    }

    @Test("A store with history is read-only without history tracking, with the reason")
    func historyOff() throws {
        let stack = try SiblingStack(tracksHistory: true)
        try stack.background.performAndWait { context in
            try context.insertDummies(1)
            try context.save()
        }
        var description = stack.container.persistentStoreDescriptions[0]
        description.isHistoryTrackingEnabled = false
        let coordinator = PersistentStoreCoordinator()
        let store = try coordinator.addPersistentStore(with: description)
        #expect(store.isReadOnly)
        #expect(store.readOnlyReason?.contains("history") == true)
        let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
        try context.performAndWait { context in
            try context.insertDummies(1)
            let error = #expect(throws: ManagedObjectError.self) { try context.save() }
            #expect(error?.code == .readOnlyStore)
            #expect(context.insertedObjects.count == 1)
        }
    }

    @Test("History tracking can be enabled for an existing store, whose rows stay")
    func historyOn() throws {
        let stack = try SiblingStack()
        try stack.background.performAndWait { context in
            try context.insertDummies(2)
            try context.save()
        }
        var description = stack.container.persistentStoreDescriptions[0]
        description.isHistoryTrackingEnabled = true
        let coordinator = PersistentStoreCoordinator()
        let store = try coordinator.addPersistentStore(with: description)
        #expect(store.isHistoryTrackingEnabled && !store.isReadOnly)
        let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
        let count = try context.performAndWait { context in
            try context.insertDummies(1)
            try context.save()
            return try context.count(for: FetchRequest(entityName: "TestDummy"))
        }
        #expect(count == 3)
        #expect(try coordinator.fetchHistory(after: nil).map { $0.changes.count } == [1])
    }

    @Test("A description's model file is used if the coordinator was given no model", arguments: [true, false])
    func modelFile(_ fits: Bool) throws {
        let stack = try SiblingStack()
        let document = """
            <?xml version="1.0" encoding="UTF-8"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="TestDummy" syncable="YES">
                    <attribute name="id" optional="YES" attributeType="\(fits ? "Integer 64" : "Integer 16")"/>
                    <attribute name="name" optional="YES" attributeType="String"/>
                    <attribute name="isEven" optional="YES" attributeType="Boolean"/>
                </entity>
            </model>
            """
        try stack.scratch.write("contents", Array(document.utf8))
        var description = stack.container.persistentStoreDescriptions[0]
        description.modelFile = stack.scratch.path + "/contents"
        let coordinator = PersistentStoreCoordinator()
        if fits {
            try coordinator.addPersistentStore(with: description)
            #expect(coordinator.managedObjectModel?.entitiesByName.keys.sorted() == ["TestDummy"])
        } else {
            let error = #expect(throws: ManagedObjectError.self) {
                try coordinator.addPersistentStore(with: description)
            }
            #expect(error?.code == .incompatibleModel)
        }
    }

    @Test("A second store with the same UUID is rejected, and URIs of other stores resolve to nil")
    func identity() throws {
        let stack = try SiblingStack()
        let coordinator = stack.container.persistentStoreCoordinator
        #expect(throws: ManagedObjectError.self) {
            try coordinator.addPersistentStore(with: stack.container.persistentStoreDescriptions[0])
        }
        let id = try stack.background.performAndWait { context in
            let dummy = try context.insertDummies(1)[0]
            #expect(dummy.objectID.isTemporaryID)
            try context.save()
            return dummy.objectID
        }
        #expect(coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id)
        let foreign = ObjectURI(storeUUID: UUID().uuidString, entity: "TestDummy", primaryKey: 1).description
        #expect(coordinator.managedObjectID(forURIRepresentation: foreign) == nil)
        #expect(coordinator.managedObjectID(forURIRepresentation: "x-coredata:///TestDummy/t1") == nil)
    }

    @Test("Objects have the class registered for their entity")
    func classes() throws {
        let stack = try SiblingStack(Library.model)
        stack.container.persistentStoreCoordinator.register(Book.self, forEntityName: "Book")
        try stack.background.performAndWait { context in
            let comic = try context.insertNewObject(Book.self, forEntityName: "Comic")
            comic.title = "Tintin"
            try context.save()
            #expect(comic.title == "Tintin")
            #expect(throws: ManagedObjectError.self) {
                try context.insertNewObject(Book.self, forEntityName: "Author")
            }
        }
    }

    @Test("A large value is stored in a separate file, and a missing file is an error")
    func externalData() throws {
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                name: "Picture",
                attributes: [
                    AttributeDescription(name: "bytes", type: .binaryData, allowsExternalBinaryDataStorage: true)
                ]
            )
        ])
        let stack = try SiblingStack(model)
        let bytes = Data(repeating: 9, count: 200_000)
        let id = try stack.background.performAndWait { context in
            let picture = try context.insertNewObject(forEntityName: "Picture")
            try picture.setValue(bytes, forKey: "bytes")
            try context.save()
            #expect(try picture.value(Data.self, forKey: "bytes") == bytes)
            return picture.objectID
        }
        let support = try stack.scratch.directory.openDirectory(".TestDummy_SUPPORT").openDirectory("_EXTERNAL_DATA")
        let file = try #require(support.entries().first)
        try stack.main.performAndWait { context in
            let picture = try context.existingObject(with: id)
            #expect(try picture.value(Data.self, forKey: "bytes") == bytes)
            try support.removeFile(file)
            let error = #expect(throws: ManagedObjectError.self) { try picture.value(forKey: "bytes") }
            #expect(error?.code == .missingExternalData)
        }
    }
}

/// An app's own subclass.
private final class Book: ManagedObject {
    var title: String? {
        get { try? value(forKey: "title") }
        set { try? setValue(newValue, forKey: "title") }
    }
}
