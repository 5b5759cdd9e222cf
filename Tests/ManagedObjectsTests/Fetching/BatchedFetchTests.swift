import ManagedObjects
import StoreFormat
import Testing

@Suite("Fetching in batches")
struct BatchedFetchTests {
    private static let count = 1000
    private static let size = 50
    private let stack: SiblingStack
    private let coordinator: PersistentStoreCoordinator

    init() throws {
        stack = try SiblingStack()
        coordinator = stack.container.persistentStoreCoordinator
        try stack.background.performAndWait { context in
            try context.insertDummies(Self.count)
            try context.save()
            try context.reset()
        }
    }

    private static func request() -> FetchRequest<ManagedObject> {
        var request = FetchRequest(entityName: "TestDummy", sortDescriptors: [.init(keyPath: "id", ascending: false)])
        request.fetchBatchSize = size
        return request
    }

    @Test("A batch is read once when one of its objects is accessed, and only one batch is retained")
    func counting() throws {
        try stack.main.performAndWait { context in
            let start = coordinator.rowsRead
            let dummies = try context.fetchInBatches(Self.request())
            #expect(dummies.count == Self.count)
            #expect(coordinator.rowsRead == start)
            #expect(context.registeredObjects.isEmpty)
            #expect(try dummies[Self.size].value(forKey: "id") == .integer(Int64(Self.count - 1 - Self.size)))
            #expect(coordinator.rowsRead == start + Self.size)
            var most = 0
            for (index, dummy) in dummies.enumerated() {
                #expect(try dummy.value(forKey: "id") == .integer(Int64(Self.count - 1 - index)))
                most = max(most, context.registeredObjects.count)
            }
            // One object of the previous batch may still be retained.
            #expect(most <= Self.size + 1)
            #expect(coordinator.rowsRead == start + Self.size + Self.count)
            // Rows of released objects are not cached, so another access reads the store.
            let first = try context.existingObject(with: dummies.objectIDs[0])
            #expect(try first.value(forKey: "name") == "dummy \(Self.count - 1)")
            #expect(coordinator.rowsRead == start + Self.size + Self.count + 1)
        }
    }

    @Test("A batched fetch equals a plain fetch, with unsaved changes, a window and an uneven last batch")
    func sameAsFetch() throws {
        try stack.main.performAndWait { context in
            var request = Self.request()
            request.predicate = try FetchPredicate(format: "id < 500 OR name == 'mine'")
            request.fetchOffset = 3
            request.fetchLimit = 120
            for _ in 0..<2 {
                let expected = try context.fetch(request)
                let batches = try context.fetchInBatches(request)
                #expect(Array(batches) == expected)
                #expect(Array(batches.reversed()) == expected.reversed())
                #expect(try context.fetchObjectIDs(request) == expected.map(\.objectID))
                #expect(batches.objectIDs == expected.map(\.objectID))
                let dummy = try context.insertNewObject(forEntityName: "TestDummy")
                try dummy.setValue("mine", forKey: "name")
                try expected[40].setValue("mine", forKey: "name")
                try context.delete(expected[41])
            }
            request.fetchBatchSize = 0
            #expect(try Array(context.fetchInBatches(request)) == context.fetch(request))
            request.predicate = try FetchPredicate(format: "id < 0")
            #expect(try context.fetchInBatches(request).isEmpty)
        }
    }

    @Test("A batched fetch keeps a retained, changed object and shows an object deleted elsewhere as deleted")
    func passingTime() throws {
        try stack.main.performAndWait { context in
            let dummies = try context.fetchInBatches(Self.request())
            let held = dummies[0]
            try held.setValue("mine", forKey: "name")
            _ = dummies[Self.count - 1]
            #expect(dummies[0] === held)
            #expect(try dummies[0].value(forKey: "name") == "mine")
            try stack.elsewhere("DELETE FROM ZTESTDUMMY WHERE ZID = 100")
            context.shouldDeleteInaccessibleFaults = false
            let gone = dummies[Self.count - 1 - 100]
            #expect(throws: ManagedObjectError.self) { try gone.value(forKey: "name") }
            context.shouldDeleteInaccessibleFaults = true
            #expect(try gone.value(forKey: "name") == .null)
            #expect(gone.isDeleted)
        }
    }

    @Test("A child reads batches through its parent, with the parent's unsaved changes")
    func child() throws {
        try stack.main.performAndWait { try $0.insertNewObject(forEntityName: "TestDummy").setValue(-1, forKey: "id") }
        let child = ManagedObjectContext(.privateQueue, parent: stack.main)
        try child.performAndWait { context in
            let dummies = try context.fetchInBatches(Self.request())
            #expect(dummies.count == Self.count + 1)
            #expect(try dummies.last?.value(forKey: "id") == .integer(-1))
        }
    }

    @Test("Prefetching reads relationships batch by batch, and an invalid path throws")
    func prefetching() throws {
        let library = try SiblingStack(Library.model)
        try library.background.performAndWait { context in
            for number in 0..<20 {
                let book = try context.insertNewObject(forEntityName: "Book")
                try book.setValue("book \(number)", forKey: "title")
                let author = try context.insertNewObject(forEntityName: "Author")
                try author.setValue("author \(number)", forKey: "name")
                try book.setObject(author, forKey: "author")
            }
            try context.save()
            try context.reset()
        }
        try library.main.performAndWait { context in
            var request = FetchRequest(entityName: "Book")
            request.fetchBatchSize = 5
            request.relationshipKeyPathsForPrefetching = ["author"]
            let books = try context.fetchInBatches(request)
            _ = books[7]
            let rows = library.container.persistentStoreCoordinator.rowsRead
            #expect(rows == 10)
            #expect(try books[8].object(forKey: "author")?.value(forKey: "name") == "author 8")
            #expect(library.container.persistentStoreCoordinator.rowsRead == rows)
            request.relationshipKeyPathsForPrefetching = ["author.title"]
            #expect(throws: FetchError.self) { try context.fetchInBatches(request) }
        }
    }

    @Test("A fetch without property values reads only IDs, and each object on access")
    func withoutValues() throws {
        try stack.main.performAndWait { context in
            let start = coordinator.rowsRead
            var request = Self.request()
            request.fetchLimit = 10
            request.includesPropertyValues = false
            let dummies = try context.fetch(request)
            #expect(coordinator.rowsRead == start)
            #expect(dummies.filter(\.isFault) == dummies)
            #expect(try dummies[3].value(forKey: "name") == "dummy \(Self.count - 4)")
            #expect(coordinator.rowsRead == start + 1)
            #expect(try context.fetchObjectIDs(request) == dummies.map(\.objectID))
            #expect(coordinator.rowsRead == start + 1)
            request.includesPropertyValues = true
            #expect(try context.fetch(request) == dummies)
            #expect(coordinator.rowsRead == start + 11)
            // returnsObjectsAsFaults = false implies property values.
            request.includesPropertyValues = false
            request.returnsObjectsAsFaults = false
            #expect(try context.fetch(request).filter(\.isFault).isEmpty)
        }
    }
}
