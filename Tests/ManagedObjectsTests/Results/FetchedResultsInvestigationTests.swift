import FoundationEssentials
import ManagedObjects
import StoreFormat
import Testing

/// The fetched-results investigation, case by case; cases a to e check the controllers, not only the change sets.
@Suite("The fetched results investigation")
struct FetchedResultsInvestigationTests {
    @Test("Case a: after a save, inserted objects are registered in both contexts and shown by both controllers")
    func insertion() async throws {
        let stack = try Investigation()
        try await stack.observe(stack.main)
        try await stack.observe(stack.background)
        try await stack.background.perform { context in
            try Investigation.insert(0..<4, into: context)
            #expect(context.insertedObjects == context.registeredObjects)
            try context.save()
            #expect(context.insertedObjects.isEmpty)
        }
        let all = ["dummy0", "dummy1", "dummy2", "dummy3"]
        #expect(try await stack.names(stack.background) == all)
        #expect(try await stack.names(stack.main) == all)
        let inserts = (0..<4).map { "insert dummy\($0) - 0.\($0)" }
        #expect(try await stack.events(stack.main) == ["will"] + inserts + ["did"])
        #expect(try await stack.events(stack.background).filter { $0.hasPrefix("insert") } == inserts)
        let ids = await stack.main.perform { Set($0.registeredObjects.map(\.objectID)) }
        #expect(await stack.background.perform { Set($0.registeredObjects.map(\.objectID)) } == ids)
    }

    @Test("Cases b and c: an update before the first save is reported as an insertion, a later one as an update")
    func updates() async throws {
        let stack = try Investigation()
        try await stack.observe(stack.main)
        try await stack.background.perform { context in
            try Investigation.insert(0..<4, into: context)
            try Investigation.setEven([0, 2], in: context)
            try context.save()
        }
        #expect(try await stack.events(stack.main).filter { $0.hasPrefix("update") } == [])
        try await stack.background.perform { context in
            try Investigation.setEven([1, 3], in: context)
            try context.save()
        }
        #expect(
            try await stack.events(stack.main) == ["will", "update dummy1 0.1 0.1", "update dummy3 0.3 0.3", "did"]
        )
    }

    @Test("Cases d and e: a deletion before the first save is not reported, a later one reaches the other controller")
    func deletions() async throws {
        let stack = try Investigation()
        try await stack.observe(stack.main)
        try await stack.background.perform { context in
            try Investigation.insert(0..<4, into: context)
            try context.delete(Investigation.dummy(1, in: context))
            #expect(context.deletedObjects.isEmpty)
            try context.save()
        }
        #expect(try await stack.names(stack.main) == ["dummy0", "dummy2", "dummy3"])
        _ = try await stack.events(stack.main)
        try await stack.background.perform { context in
            try context.delete(Investigation.dummy(2, in: context))
            try context.save()
        }
        #expect(try await stack.names(stack.main) == ["dummy0", "dummy3"])
        #expect(try await stack.events(stack.main) == ["will", "delete dummy2 0.1 -", "did"])
    }

    @Test("Case f: without a delegate the result stays as first fetched")
    func noDelegate() async throws {
        let stack = try Investigation()
        try await stack.observe(stack.main, hasDelegate: false)
        try await stack.background.perform { context in
            try Investigation.insert(0..<4, into: context)
            try context.save()
        }
        #expect(try await stack.names(stack.main) == [])
    }

    @Test(
        "Cases g and h: an object that matches the predicate at its first save is inserted",
        arguments: [FetchedResultsController.Behaviour.complete, .registeredOnly],
        [true, false]
    )
    func matching(behaviour: FetchedResultsController.Behaviour, isUpdated: Bool) async throws {
        let stack = try Investigation()
        try await stack.observe(stack.main, "isEven == YES", behaviour)
        try await stack.background.perform { context in
            try Investigation.insert(0..<2, isEven: !isUpdated, into: context)
            if isUpdated { try Investigation.setEven([0, 1], in: context) }
            try context.save()
        }
        #expect(try await stack.names(stack.main) == ["dummy0", "dummy1"])
        #expect(
            try await stack.events(stack.main) == ["will", "insert dummy0 - 0.0", "insert dummy1 - 0.1", "did"]
        )
    }

    /// Inserts four objects that do not match, then changes two of them to match.
    private static func updateToMatch(_ stack: Investigation) async throws {
        try await stack.background.perform { context in
            try Investigation.insert(0..<4, into: context)
            try context.save()
            try Investigation.setEven([0, 2], in: context)
            try context.save()
        }
    }

    @Test("Case i: an object updated to match after its first save is missed by registeredOnly, not by complete")
    func updateToMatch() async throws {
        let stack = try Investigation()
        try await stack.observe(stack.main, "isEven == YES", .registeredOnly)
        try await Self.updateToMatch(stack)
        #expect(try await stack.names(stack.main) == [])
        #expect(try await stack.events(stack.main) == [])

        let complete = try Investigation()
        try await complete.observe(complete.main, "isEven == YES")
        try await Self.updateToMatch(complete)
        #expect(try await complete.names(complete.main) == ["dummy0", "dummy2"])
        #expect(
            try await complete.events(complete.main) == ["will", "insert dummy0 - 0.0", "insert dummy2 - 0.1", "did"]
        )
        // No other object was read into the context.
        let registered = await complete.main.perform { $0.registeredObjects.count }
        #expect(registered == 2)
        try await complete.background.perform { context in
            try Investigation.setEven([0], false, in: context)
            try context.save()
        }
        #expect(try await complete.names(complete.main) == ["dummy2"])
    }

    @Test("Case j: with a child context, registeredOnly finds an object updated to match")
    func child() async throws {
        let stack = try Investigation(isMerging: false, isChild: true)
        try await stack.observe(stack.main, "isEven == YES", .registeredOnly)
        try await Self.updateToMatch(stack)
        try await stack.main.perform { try $0.processPendingChanges() }
        #expect(try await stack.names(stack.main) == ["dummy0", "dummy2"])
    }

    @Test("Cases k and l: a refresh after a merge makes registeredOnly find updated objects", arguments: [false, true])
    func refreshing(mergeChanges: Bool) async throws {
        let stack = try Investigation()
        try await stack.observe(stack.main, "isEven == YES", .registeredOnly)
        let main = stack.main
        let observation = stack.background.onDidSave { notice in
            main.performAndWait { context in
                for id in notice.updatedObjectIDs {
                    guard let object = try? context.object(with: id) else { continue }
                    if mergeChanges { try? object.willAccessValue(forKey: nil) }
                    try? context.refresh(object, mergeChanges: mergeChanges)
                }
                try? context.processPendingChanges()
            }
        }
        try await Self.updateToMatch(stack)
        #expect(try await stack.names(stack.main) == ["dummy0", "dummy2"])
        observation.cancel()
    }

    @Test("Case m: refreshing only matching, unregistered objects makes registeredOnly find them")
    func targetedRefresh() async throws {
        let stack = try Investigation()
        try await stack.observe(stack.main, "isEven == YES", .registeredOnly)
        let main = stack.main
        let predicate = try FetchPredicate(format: "isEven == YES")
        let observation = stack.background.onDidSave { notice in
            main.performAndWait { context in
                let unregistered = notice.insertedObjectIDs.union(notice.updatedObjectIDs)
                    .filter { context.registeredObject(for: $0) == nil }
                guard let these = try? FetchPredicate(format: "SELF IN %@", unregistered) else { return }
                let request = FetchRequest(entityName: "TestDummy", predicate: .and([predicate, these]))
                for object in (try? context.fetch(request)) ?? [] {
                    try? context.refresh(object, mergeChanges: false)
                }
                try? context.processPendingChanges()
            }
        }
        try await Self.updateToMatch(stack)
        #expect(try await stack.names(stack.main) == ["dummy0", "dummy2"])
        #expect(try await stack.events(stack.main).filter { $0.hasPrefix("insert") }.count == 2)
        observation.cancel()
    }

    @Test("Case n: accessing the objects before the merge makes registeredOnly find them")
    func access() async throws {
        let stack = try Investigation(isMerging: false)
        try await stack.observe(stack.main, "isEven == YES", .registeredOnly)
        let main = stack.main
        let observation = stack.background.onDidSave { notice in
            main.performAndWait { context in
                let objects = notice.updatedObjectIDs.compactMap { try? context.object(with: $0) }
                for object in objects { try? object.willAccessValue(forKey: nil) }
                // The context does not retain them, and the merge ignores released objects.
                withExtendedLifetime(objects) { try? context.mergeChanges(fromContextDidSave: notice) }
            }
        }
        try await Self.updateToMatch(stack)
        #expect(try await stack.names(stack.main) == ["dummy0", "dummy2"])
        observation.cancel()
    }

    @Test("Case o: fetching again at every save gives the right result without notifying the delegate")
    func fetchingAnew() async throws {
        let stack = try Investigation()
        try await stack.observe(stack.main, "isEven == YES", .registeredOnly)
        let main = stack.main
        let observation = stack.background.onDidSave { _ in
            main.performAndWait { context in
                try? (context.userInfo["controller"] as? FetchedResultsController)?.performFetch()
            }
        }
        try await Self.updateToMatch(stack)
        #expect(try await stack.names(stack.main) == ["dummy0", "dummy2"])
        #expect(try await stack.events(stack.main) == [])
        observation.cancel()
    }
}
