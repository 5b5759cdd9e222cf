import ManagedObjects
import StoreAccess
import TestSupport
import Testing

@Suite("Staleness interval")
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

    /// No row of a test is an hour old, and every row is older than zero.
    @Test(
        "The staleness interval decides whether a fault is filled from the cache",
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

    @Test("A refreshing fetch updates registered objects and keeps their unsaved changes")
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

    @Test("A fetch omits an object that another context deleted, of which only a to-many relationship is changed here")
    func deletedElsewhere() throws {
        let stack = try SiblingStack(Library.model)
        let (book, tag) = try stack.background.performAndWait { context in
            let objects = try ["Comic", "Tag"].map { try context.insertNewObject(forEntityName: $0) }
            try context.save()
            return (objects[0].objectID, objects[1].objectID)
        }
        try stack.main.performAndWait { context in
            try context.object(with: tag).add(context.object(with: book), toKey: "books")
        }
        try stack.background.performAndWait { context in
            try context.delete(context.object(with: book))
            try context.save()
        }
        try stack.main.performAndWait { context in
            let books = try context.fetch(FetchRequest(entityName: "Book"))
            let tags = try context.fetch(FetchRequest(entityName: "Tag"))
            #expect(books.isEmpty && tags.map(\.objectID) == [tag])
            #expect(try context.count(for: FetchRequest(entityName: "Comic")) == 0)
        }
    }
}
