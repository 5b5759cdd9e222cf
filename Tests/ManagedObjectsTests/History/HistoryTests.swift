import FoundationEssentials
import ManagedObjects
import StoreAccess
import StoreFormat
import StoreStrategies
import TestSupport
import Testing

@Suite("Persistent history")
struct HistoryTests {
    private let stack: SiblingStack
    private var coordinator: PersistentStoreCoordinator { stack.container.persistentStoreCoordinator }
    private var store: PersistentStore { coordinator.persistentStores[0] }

    init() throws { stack = try SiblingStack(tracksHistory: true) }

    private func save(author: String?, _ count: Int = 1) throws {
        try stack.background.performAndWait { context in
            context.transactionAuthor = author
            try context.insertDummies(count)
            try context.save()
        }
    }

    @Test("Transactions after a token have author, context and changes")
    func transactions() throws {
        try save(author: "app")
        let token = try coordinator.currentPersistentHistoryToken()
        try save(author: "widget", 2)
        try stack.background.performAndWait { context in
            context.name = "importer"
            let dummies = try context.fetch(FetchRequest(entityName: "TestDummy"))
            try dummies[0].setValue(true, forKey: "isEven")
            try context.delete(dummies[1])
            try context.save()
        }
        #expect(try coordinator.fetchHistory(after: nil).count == 3)
        let history = try coordinator.fetchHistory(after: token)
        #expect(history.map(\.author) == ["widget", "widget"])
        #expect(history.map { $0.objectIDNotification().inserted.count } == [2, 0])
        #expect(history[1].contextName == "importer")
        #expect(history[1].changes.map(\.changeType) == [.update, .delete])
        #expect(history[1].changes[0].updatedProperties == ["isEven"])
        #expect(try coordinator.fetchHistory(after: history[1].token).isEmpty)
        #expect(try coordinator.fetchHistory(after: nil, by: .allBut(["widget"])).map(\.author) == ["app"])
        #expect(try coordinator.fetchHistory(after: nil, by: .only(["app", nil])).count == 1)
    }

    @Test("Another process catches up by history, transaction by transaction")
    func catchingUp() throws {
        try save(author: "app", 3)
        let other = PersistentStoreCoordinator()
        try other.addPersistentStore(with: stack.container.persistentStoreDescriptions[0])
        let context = ManagedObjectContext(.privateQueue, coordinator: other)
        let token = try other.currentPersistentHistoryToken()
        try context.performAndWait { context in
            context.retainsRegisteredObjects = true
            let dummies = try context.fetch(FetchRequest(entityName: "TestDummy"))
            for dummy in dummies { try dummy.willAccessValue(forKey: nil) }
            try stack.background.performAndWait { background in
                background.transactionAuthor = "widget"
                let theirs = try background.fetch(FetchRequest(entityName: "TestDummy"))
                try theirs[0].setValue("theirs", forKey: "name")
                try background.delete(theirs[2])
                try background.insertDummies(1)
                try background.save()
            }
            let next = try context.mergeHistory(after: token, by: .allBut(["app"]))
            #expect(try dummies[0].value(forKey: "name") == "theirs")
            #expect(dummies[2].isDeleted)
            #expect(context.registeredObjects.count == 3)
            #expect(try other.fetchHistory(after: next).isEmpty)
        }
    }

    @Test("A token survives Core Data's archive format")
    func token() throws {
        try save(author: nil)
        let token = try coordinator.currentPersistentHistoryToken()
        #expect(token.transactionNumbers == [store.identifier: 1])
        let archive = token.archive()
        #expect(try PersistentHistoryToken(archive: archive) == token)
        let reader = try KeyedArchiveReader(PropertyListReader.value(from: [UInt8](archive)))
        #expect(reader.topObject()?.className == "_NSPersistentHistoryToken")
        #expect(throws: (any Error).self) { try PersistentHistoryToken(archive: Data("no archive".utf8)) }
    }

    @Test("Pruning stops at the slowest consumer and purges nothing without consumers")
    func pruning() throws {
        let pruner = HistoryPruner(coordinator)
        for _ in 0..<3 { try save(author: "app") }
        let future = Date(timeIntervalSinceReferenceDate: 1e12)
        #expect(try pruner.prune(store, olderThan: future).transactions == 0)
        try pruner.register("early", for: store)
        for _ in 0..<2 { try save(author: "app") }
        try pruner.register("late", for: store)
        #expect(try pruner.consumers(of: store) == ["early": 3, "late": 5])
        let old = Date(timeIntervalSinceReferenceDate: 0)
        #expect(try pruner.prune(store, olderThan: old).transactions == 0)
        let result = try pruner.prune(store, olderThan: future)
        #expect(result.transactions == 3 && result.changes == 3)
        #expect(result.slowestConsumer == "early")
        #expect(try coordinator.fetchHistory(after: nil).map(\.transactionNumber) == [4, 5])
        let kept = PersistentHistoryToken(transactionNumbers: [store.identifier: 3])
        #expect(try coordinator.fetchHistory(after: kept).count == 2)
        let expired = PersistentHistoryToken(transactionNumbers: [store.identifier: 2])
        let error = #expect(throws: ManagedObjectError.self) { try coordinator.fetchHistory(after: expired) }
        #expect(error?.code == .historyTokenExpired)
        try pruner.acknowledge(
            PersistentHistoryToken(transactionNumbers: [store.identifier: 1]),
            by: "early",
            for: store
        )
        #expect(try pruner.consumers(of: store)["early"] == 3)
        try pruner.drop("early", for: store)
        #expect(try pruner.prune(store, olderThan: future).transactions == 2)
        // Transaction numbers continue.
        try save(author: "app")
        #expect(try coordinator.fetchHistory(after: nil).map(\.transactionNumber) == [6])
        #expect(throws: ManagedObjectError.self) { try pruner.acknowledge(kept, by: "unregistered", for: store) }
    }

    @Test("A program that opened the store earlier and sets metadata keeps the registered consumers")
    func metadataOfOthers() throws {
        try save(author: "app")
        let other = PersistentStoreCoordinator()
        let opened = try other.addPersistentStore(with: stack.container.persistentStoreDescriptions[0])
        try HistoryPruner(coordinator).register("late", for: store)
        try other.setMetadata(["LastSync": .integer(7)], for: opened)
        let context = ManagedObjectContext(.privateQueue, coordinator: other)
        try context.performAndWait { context in
            try context.insertDummies(1)
            try context.save()
        }
        #expect(try HistoryPruner(other).consumers(of: opened) == ["late": 1])
        let refusal = #expect(throws: ManagedObjectError.self) {
            try other.setMetadata(["StoreMigrateHistoryConsumers": nil], for: opened)
        }
        #expect(refusal?.message.contains("consumers") == true)
    }

    @Test("A consumer lost with older metadata blocks pruning until it acknowledges again")
    func staleMetadata() throws {
        let pruner = HistoryPruner(coordinator)
        let future = Date(timeIntervalSinceReferenceDate: 1e12)
        for _ in 0..<2 { try save(author: "app") }
        try pruner.register("early", for: store)
        let connection = try StoreConnection(stack.location, access: .liveWriting, lockTimeout: .seconds(60))
        let older = try #require(try connection.value("SELECT Z_PLIST FROM Z_METADATA"))
        try save(author: "app")
        try pruner.register("late", for: store)
        try pruner.acknowledge(coordinator.currentPersistentHistoryToken(), by: "early", for: store)
        #expect(try pruner.consumers(of: store) == ["early": 3, "late": 3])
        // Core Data does this for an app that read its metadata earlier.
        try connection.run("UPDATE Z_METADATA SET Z_PLIST = ?", [older])
        #expect(try pruner.consumers(of: store) == ["early": 2, "late": 0])
        let held = try pruner.prune(store, olderThan: future)
        #expect(held.transactions == 0 && held.consumers == 2 && held.slowestConsumer == "late")
        try pruner.register("late", for: store)
        #expect(try pruner.consumers(of: store)["late"] == 0)
        try pruner.acknowledge(coordinator.currentPersistentHistoryToken(), by: "late", for: store)
        #expect(try pruner.prune(store, olderThan: future).transactions == 2)
        // A dropped consumer leaves no trace.
        for name in ["early", "late"] { try pruner.drop(name, for: store) }
        #expect(try pruner.consumers(of: store).isEmpty)
        let traces = "SELECT count(*) FROM ATRANSACTIONSTRING WHERE ZNAME LIKE 'StoreMigrate%'"
        #expect(try connection.value(traces) == .integer(0))
        #expect(try stack.location.findingsOfCoreData() == [])
    }

    @Test("A store without history has no token and no transactions")
    func withoutHistory() throws {
        let plain = try SiblingStack()
        let coordinator = plain.container.persistentStoreCoordinator
        #expect(try coordinator.currentPersistentHistoryToken().transactionNumbers.isEmpty)
        #expect(try coordinator.fetchHistory(after: nil).isEmpty)
        #expect(throws: ManagedObjectError.self) {
            try HistoryPruner(coordinator).register("app", for: coordinator.persistentStores[0])
        }
    }

    @Test(
        "Transaction numbers at the limits of 64-bit integers do not overflow",
        arguments: [
            "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807 WHERE Z_NAME = 'TRANSACTION'; DELETE FROM ATRANSACTION",
            "UPDATE ATRANSACTION SET Z_PK = -9223372036854775808",
            "UPDATE ATRANSACTION SET Z_PK = 9223372036854775807",
        ]
    )
    func outermostNumbers(_ sql: String) throws {
        try save(author: "a")
        for statement in sql.split(separator: ";") { try stack.elsewhere(String(statement)) }
        let coordinator = stack.container.persistentStoreCoordinator
        let store = coordinator.persistentStores[0]
        for number in [Int64.min, 1, Int64.max] {
            let token = PersistentHistoryToken(transactionNumbers: [store.identifier: number])
            do {
                #expect(try coordinator.fetchHistory(after: token).count <= 1)
            } catch let error as ManagedObjectError {
                #expect(error.code == .historyTokenExpired)
            }
        }
        let pruner = HistoryPruner(coordinator)
        try pruner.register("me", for: store)
        _ = try pruner.prune(store, olderThan: Date(timeIntervalSinceReferenceDate: 0))
        _ = try pruner.prune(store, olderThan: .distantFuture)
    }

    @Test("A consumer's position never exceeds the end of the history", arguments: [999, .max, -5, 1])
    func futureToken(_ number: Int64) throws {
        let pruner = HistoryPruner(coordinator)
        try save(author: "app")
        try pruner.register("widget", for: store)
        let token = PersistentHistoryToken(transactionNumbers: [store.identifier: number])
        try pruner.acknowledge(token, by: "widget", for: store)
        #expect(try pruner.consumers(of: store) == ["widget": 1])
        for _ in 0..<3 { try save(author: "app") }
        #expect(try pruner.prune(store, olderThan: Date(timeIntervalSinceReferenceDate: 1e12)).transactions == 1)
        #expect(try coordinator.fetchHistory(after: nil).count == 3)
    }

    @Test("A history mirrored to CloudKit is not purged, and the result says so")
    func mirrored() throws {
        let pruner = HistoryPruner(coordinator)
        for _ in 0..<2 { try save(author: "app") }
        try pruner.register("app", for: store)
        let process = try StoreWriterProcess(stack.location.path)
        #expect(try process.execute("CREATE TABLE ANSCKMETADATAENTRY (Z_PK INTEGER PRIMARY KEY)").hasPrefix("ok"))
        _ = process.waitForExit()
        // The tables have changed, so the store is opened again.
        let other = PersistentStoreCoordinator()
        let same = try other.addPersistentStore(with: stack.container.persistentStoreDescriptions[0])
        let result = try HistoryPruner(other).prune(same, olderThan: Date(timeIntervalSinceReferenceDate: 1e12))
        #expect(result.isMirrored && result.transactions == 0 && result.changes == 0)
        #expect(try other.fetchHistory(after: nil).count == 2)
    }

    @Test("A date that is NaN purges nothing")
    func noTime() throws {
        let pruner = HistoryPruner(coordinator)
        try save(author: "app")
        try pruner.register("app", for: store)
        #expect(try pruner.prune(store, olderThan: Date(timeIntervalSinceReferenceDate: .nan)).transactions == 0)
        #expect(try pruner.prune(store, olderThan: Date(timeIntervalSinceReferenceDate: .infinity)).transactions == 1)
    }

    @Test("A store with an emptied history can be written without tracking, and its history stays empty")
    func emptied() throws {
        try save(author: "app")
        let process = try StoreWriterProcess(stack.location.path)
        for table in ["ACHANGE", "ATRANSACTION"] {
            #expect(try process.execute("DELETE FROM \(table)").hasPrefix("ok"))
        }
        _ = process.waitForExit()
        var description = stack.container.persistentStoreDescriptions[0]
        description.isHistoryTrackingEnabled = false
        let untracked = PersistentStoreCoordinator()
        let opened = try untracked.addPersistentStore(with: description)
        #expect(!opened.isReadOnly && !opened.isHistoryTrackingEnabled)
        let context = ManagedObjectContext(.privateQueue, coordinator: untracked)
        try context.performAndWait { context in
            try context.insertDummies(1)
            try context.save()
        }
        let connection = try StoreConnection(stack.location, access: .liveReading)
        #expect(try connection.value("SELECT count(*) FROM ATRANSACTION") == .integer(0))
        #expect(try !PersistentStoreCoordinator().addPersistentStore(with: description).isReadOnly)
        // A reader of a history begun since would miss saves that are not recorded in it.
        try save(author: "app")
        try context.performAndWait { context in
            try context.insertDummies(1)
            let error = #expect(throws: ManagedObjectError.self) { try context.save() }
            #expect(error?.code == .readOnlyStore)
            #expect(context.insertedObjects.count == 1)
        }
        #expect(try connection.value("SELECT count(*) FROM ZTESTDUMMY") == .integer(3))
    }

    @Test(
        "History is enabled in a store that has its tables without entity numbers, as in a genuine store",
        arguments: [false, true]
    )
    func unnumbered(_ hasRows: Bool) throws {
        if hasRows { try save(author: "app") }
        let process = try StoreWriterProcess(stack.location.path)
        #expect(try process.execute("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT > 16000").hasPrefix("ok"))
        _ = process.waitForExit()
        let other = PersistentStoreCoordinator()
        let same = try other.addPersistentStore(with: stack.container.persistentStoreDescriptions[0])
        #expect(same.isHistoryTrackingEnabled)
        let context = ManagedObjectContext(.privateQueue, coordinator: other)
        try context.performAndWait { context in
            try context.insertDummies(1)
            try context.save()
        }
        #expect(try other.fetchHistory(after: nil).map(\.transactionNumber) == (hasRows ? [1, 2] : [1]))
        let connection = try StoreConnection(stack.location, access: .liveReading)
        #expect(try connection.value("SELECT count(*) FROM Z_PRIMARYKEY WHERE Z_ENT > 16000") == .integer(3))
    }
}
