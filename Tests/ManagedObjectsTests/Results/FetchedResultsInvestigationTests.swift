import FoundationEssentials
import ManagedObjects
import StoreFormat
import Testing

/// The fetched-results investigation (FLOWS F4), row by row; rows a to e look at the controllers, not at the sets alone.
@Suite("The fetched results investigation")
struct FetchedResultsInvestigationTests {
    @Test("a: inserted objects are registered in both contexts after the save, and both controllers have them")
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

    @Test("b and c: an update before the first save is told as an insertion, one after it as an update")
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

    @Test("d and e: a deletion before the first save is no deletion, one after it reaches the other controller")
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

    @Test("f: without a delegate the result stays at the first fetch")
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
        "g and h: with a predicate, what matches when it is first saved is fetched",
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

    /// Inserts four objects that do not match, and then makes two of them match.
    private static func updateToMatch(_ stack: Investigation) async throws {
        try await stack.background.perform { context in
            try Investigation.insert(0..<4, into: context)
            try context.save()
            try Investigation.setEven([0, 2], in: context)
            try context.save()
        }
    }

    @Test("i: what is updated to match after its first save is missed by Core Data's behaviour, and not by ours")
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
        // Nothing else was read into the context.
        let registered = await complete.main.perform { $0.registeredObjects.count }
        #expect(registered == 2)
        try await complete.background.perform { context in
            try Investigation.setEven([0], false, in: context)
            try context.save()
        }
        #expect(try await complete.names(complete.main) == ["dummy2"])
    }

    @Test("j: a child context cures it")
    func child() async throws {
        let stack = try Investigation(isMerging: false, isChild: true)
        try await stack.observe(stack.main, "isEven == YES", .registeredOnly)
        try await Self.updateToMatch(stack)
        try await stack.main.perform { try $0.processPendingChanges() }
        #expect(try await stack.names(stack.main) == ["dummy0", "dummy2"])
    }

    @Test("k and l: refreshing every updated object after the merge cures it", arguments: [false, true])
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

    @Test("m: refreshing only what matches and is not registered cures it, and touches nothing else")
    func targetedRefresh() async throws {
        let stack = try Investigation()
        try await stack.observe(stack.main, "isEven == YES", .registeredOnly)
        let main = stack.main
        let predicate = try FetchPredicate(format: "isEven == YES")
        let observation = stack.background.onDidSave { notice in
            main.performAndWait { context in
                let strangers = notice.insertedObjectIDs.union(notice.updatedObjectIDs)
                    .filter { context.registeredObject(for: $0) == nil }
                guard let these = try? FetchPredicate(format: "SELF IN %@", strangers) else { return }
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

    @Test("n: accessing the objects before the merge cures it")
    func access() async throws {
        let stack = try Investigation(isMerging: false)
        try await stack.observe(stack.main, "isEven == YES", .registeredOnly)
        let main = stack.main
        let observation = stack.background.onDidSave { notice in
            main.performAndWait { context in
                let objects = notice.updatedObjectIDs.compactMap { try? context.object(with: $0) }
                for object in objects { try? object.willAccessValue(forKey: nil) }
                // The context holds none of them by itself, and what it has lost the merge does not find.
                withExtendedLifetime(objects) { try? context.mergeChanges(fromContextDidSave: notice) }
            }
        }
        try await Self.updateToMatch(stack)
        #expect(try await stack.names(stack.main) == ["dummy0", "dummy2"])
        observation.cancel()
    }

    @Test("o: fetching anew at every save is right, and the delegate is never told")
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
