import ManagedObjects
import StoreFormat
import TestSupport
import Testing

/// Another process saves while a context shows objects (FLOWS F3 step 4).
@Suite("What another process saved")
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

    @Test("a refresh shows the cached row as long as cached rows never expire")
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

    @Test("viewContextDidSaveExternally shows what was saved elsewhere, and keeps what is being edited here")
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
            // What was merged is the new base: saving is no conflict.
            try context.save()
            #expect(try dummies[1].value(forKey: "name") == "elsewhere 1")
        }
    }

    @Test("nothing is refreshed and no row read when nobody else has saved")
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
        // A save of this very coordinator is none from outside.
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

    @Test("an object that was deleted elsewhere is a deleted one without values, or an error")
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
