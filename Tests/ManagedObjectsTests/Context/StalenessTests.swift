import ManagedObjects
import StoreFormat
import TestSupport
import Testing

@Suite("How old a cached row may be")
struct StalenessTests {
    private let stack: SiblingStack
    private let id: ManagedObjectID

    init() throws {
        stack = try SiblingStack()
        id = try stack.background.performAndWait { context in
            let dummy = try context.insertDummies(1)[0]
            try context.save()
            return dummy.objectID
        }
    }

    private func saveElsewhere() throws {
        let process = try StoreWriterProcess(stack.location.path)
        #expect(try process.execute("UPDATE ZTESTDUMMY SET ZNAME = 'elsewhere'").hasPrefix("ok"))
        _ = process.waitForExit()
    }

    /// No row of a test gets as old as an hour, and every row is older than no time at all.
    @Test(
        "an interval of any kind says whether a fault is filled from the cache",
        arguments: [
            (-1, true), (-.infinity, true), (.nan, true), (.infinity, true), (1e300, true), (1e18, true),
            (3600, true), (0, false), (-0.0, false), (.leastNonzeroMagnitude, false), (1e-300, false),
        ] as [(Double, Bool)]
    )
    func interval(_ interval: Double, _ isCached: Bool) throws {
        try stack.main.performAndWait { context in
            let dummy = try context.existingObject(with: id)
            try saveElsewhere()
            context.stalenessInterval = interval
            try context.refresh(dummy, mergeChanges: false)
            #expect(try dummy.value(forKey: "name") == (isCached ? "dummy 0" : "elsewhere"))
            try context.refresh(dummy, mergeChanges: true)
            #expect(try dummy.value(forKey: "name") == (isCached ? "dummy 0" : "elsewhere"))
            try context.refreshAllObjects()
            #expect(try dummy.value(forKey: "name") == (isCached ? "dummy 0" : "elsewhere"))
        }
    }

    @Test("a fetch that refreshes shows what is new in objects that the context has, and keeps what was edited")
    func refetch() throws {
        try stack.main.performAndWait { context in
            let dummies = try [context.existingObject(with: id)] + context.insertDummies(1)
            try context.save()
            try dummies[1].setValue("mine", forKey: "name")
            try saveElsewhere()
            var request = FetchRequest(entityName: "TestDummy")
            #expect(try context.fetch(request) == dummies)
            #expect(try dummies.map { try $0.value(forKey: "name") } == ["dummy 0", "mine"])
            request.shouldRefreshRefetchedObjects = true
            #expect(try context.fetch(request) == dummies)
            #expect(try dummies.map { try $0.value(forKey: "name") } == ["elsewhere", "mine"])
        }
    }
}
