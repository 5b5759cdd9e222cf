import ManagedObjects
import StoreAccess
import StoreFormat
import Testing

@Suite("Batch operations")
struct BatchTests {
    @Test("Batch inserts, updates and deletes reach the store and its history, and contexts only by a merge")
    func batches() async throws {
        let stack = try SiblingStack(tracksHistory: true)
        let coordinator = stack.container.persistentStoreCoordinator
        let notices = Notices()
        let observation = stack.background.onDidSave { notices.append($0) }
        let inserted = try await stack.background.perform { context in
            context.transactionAuthor = "batches"
            return try context.batchInsert(
                entityName: "TestDummy",
                objects: (0..<5).map { ["id": .integer($0), "isEven": .boolean($0.isMultiple(of: 2))] }
            )
        }
        #expect(inserted.count == 5)
        try await stack.main.perform { main in
            main.retainsRegisteredObjects = true
            for id in inserted { _ = try main.existingObject(with: id).value(forKey: "name") }
        }
        let updated = try await stack.background.perform { context in
            let request = FetchRequest(entityName: "TestDummy", predicate: try FetchPredicate(format: "isEven == YES"))
            return try context.batchUpdate(request, values: ["name": "even"])
        }
        let deleted = try await stack.background.perform { context in
            try context.batchDelete(FetchRequest(entityName: "TestDummy", predicate: FetchPredicate(format: "id == 1")))
        }
        #expect(Set(updated) == [inserted[0], inserted[2], inserted[4]])
        #expect(deleted == [inserted[1]])
        #expect(notices.all.isEmpty)
        let before = try await stack.main.perform { try $0.object(with: inserted[0]).value(forKey: "name") }
        #expect(before == .null)
        let changes = ObjectIDChanges(updated: Set(updated), deleted: Set(deleted))
        try await ManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [stack.main])
        let after = try await stack.main.perform { try $0.object(with: inserted[0]).value(forKey: "name") }
        #expect(after == "even")
        let isRegistered = await stack.main.perform { $0.registeredObject(for: inserted[1]) != nil }
        #expect(!isRegistered)
        let history = try coordinator.fetchHistory(after: nil)
        #expect(history.map { $0.changes.count } == [5, 3, 1])
        #expect(Set(history.map(\.author)) == ["batches"])
        observation.cancel()
    }

    @Test("A batch insert with an invalid value writes nothing")
    func refusal() throws {
        let stack = try SiblingStack()
        try stack.background.performAndWait { context in
            #expect(throws: StoreError.self) {
                try context.batchInsert(entityName: "TestDummy", objects: [["id": 1], ["id": "one"]])
            }
            #expect(throws: ManagedObjectError.self) { try context.batchInsert(entityName: "Unknown", objects: []) }
            let count = try context.count(for: FetchRequest(entityName: "TestDummy"))
            #expect(count == 0)
        }
    }

    @Test(
        "A batch update of a property that is not an attribute fails, even without matching objects",
        arguments: ["unknown", "books", "passport"]
    )
    func unknownProperty(_ name: String) throws {
        let stack = try SiblingStack(Library.model)
        stack.background.performAndWait { context in
            let error = #expect(throws: ManagedObjectError.self) {
                try context.batchUpdate(FetchRequest(entityName: "Author"), values: [name: "x"])
            }
            #expect(error?.code == .unknownProperty)
        }
    }
}
