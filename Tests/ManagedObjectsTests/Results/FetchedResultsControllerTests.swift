import FoundationEssentials
import ManagedObjects
import Testing

@Suite("FetchedResultsController")
struct FetchedResultsControllerTests {
    @Test("A controller reports insertions, deletions, moves and updates with positions before and after")
    func changes() async throws {
        let stack = try Investigation()
        try await stack.background.perform { context in
            try Investigation.insert(0..<5, into: context)
            try context.save()
        }
        try await stack.observe(stack.main)
        try await stack.background.perform { context in
            try context.delete(Investigation.dummy(1, in: context))
            try Investigation.dummy(4, in: context).setValue(Int64(-1), forKey: "id")
            try Investigation.dummy(2, in: context).setValue("new", forKey: "name")
            try Investigation.insert(7..<8, into: context)
            try context.save()
        }
        #expect(
            try await stack.events(stack.main) == [
                "will", "delete dummy1 0.1 -", "insert dummy7 - 0.4", "move dummy4 0.4 0.0", "update new 0.2 0.2",
                "did",
            ]
        )
        #expect(try await stack.names(stack.main) == ["dummy4", "dummy0", "new", "dummy3", "dummy7"])
    }

    @Test("A controller follows changes of its own context after each piece of work")
    func ownChanges() async throws {
        let stack = try Investigation()
        try await stack.observe(stack.main, "isEven == YES")
        try await stack.main.perform { context in try Investigation.insert(0..<3, isEven: true, into: context) }
        #expect(try await stack.names(stack.main) == ["dummy0", "dummy1", "dummy2"])
        try await stack.main.perform { context in
            try Investigation.setEven([0], false, in: context)
            try context.delete(Investigation.dummy(2, in: context))
        }
        #expect(try await stack.names(stack.main) == ["dummy1"])
        try await stack.main.perform { context in try context.rollback() }
        #expect(try await stack.names(stack.main) == [])
    }

    @Test("A controller keeps sections in order and reports their changes before those of objects")
    func sections() async throws {
        let stack = try Investigation()
        try await stack.background.perform { context in
            try Investigation.insert(0..<4, into: context)
            for (number, group) in ["b", "b", "a", "c"].enumerated() {
                try Investigation.dummy(number, in: context).setValue(group, forKey: "group")
            }
            try context.save()
        }
        try await stack.observe(stack.main, sections: "group")
        try await stack.main.perform { context in
            let controller = try #require(context.userInfo["controller"] as? FetchedResultsController)
            #expect(controller.sections?.map(\.name) == ["a", "b", "c"])
            #expect(controller.sections?.map(\.numberOfObjects) == [1, 2, 1])
            #expect(controller.sectionIndexTitles == ["A", "B", "C"])
            let dummy = try Investigation.dummy(1, in: context)
            #expect(controller.indexPath(forObject: dummy) == .init(item: 1, section: 1))
            #expect(controller.object(at: .init(item: 1, section: 1)) === dummy)
            for (item, section) in [(2, 1), (-1, 1), (0, 3), (0, -1)] {
                #expect(controller.object(at: .init(item: item, section: section)) == nil)
            }
        }
        try await stack.background.perform { context in
            try Investigation.dummy(2, in: context).setValue("b", forKey: "group")
            try Investigation.dummy(3, in: context).setValue("d", forKey: "group")
            try context.save()
        }
        #expect(
            try await stack.events(stack.main) == [
                "will", "delete section a 0", "delete section c 2", "insert section d 1", "move dummy2 0.0 0.2",
                "move dummy3 2.0 1.0", "did",
            ]
        )
    }

    @Test("Without a section key path there is one section, even if empty; with one, an empty result has none")
    func emptySections() async throws {
        let stack = try Investigation()
        for (sections, count) in [(nil, 1), ("group", 0)] as [(String?, Int)] {
            try await stack.observe(stack.main, sections: sections)
            let found = await stack.main.perform { context in
                (context.userInfo["controller"] as? FetchedResultsController)?.sections?.count
            }
            #expect(found == count)
        }
    }

    @Test("A request without an order, or with one that splits sections, is rejected")
    func refusals() async throws {
        let stack = try Investigation()
        try await stack.background.perform { context in
            try Investigation.insert(0..<3, into: context)
            for (number, group) in ["b", "a", "b"].enumerated() {
                try Investigation.dummy(number, in: context).setValue(group, forKey: "group")
            }
            try context.save()
        }
        await #expect(throws: FetchError.self) { try await stack.observe(stack.main) { $0.sortDescriptors = [] } }
        await #expect(throws: FetchError.self) {
            try await stack.observe(stack.main, sections: "group") { $0.sortDescriptors = [.init(keyPath: "id")] }
        }
        await #expect(throws: FetchError.self) { try await stack.observe(stack.main, sections: "owner") }
    }

    @Test("A controller follows changes of other objects that its predicate and order depend on")
    func dependencies() async throws {
        let stack = try Investigation()
        try await stack.background.perform { context in
            try Investigation.insert(0..<3, into: context)
            for name in ["Ann", "Bob"] {
                try context.insertNewObject(forEntityName: "Owner").setValue(name, forKey: "name")
            }
            let owners = try context.fetch(FetchRequest(entityName: "Owner", sortDescriptors: [.init(keyPath: "name")]))
            for (number, owner) in [0, 1, 1].enumerated() {
                try Investigation.dummy(number, in: context).setObject(owners[owner], forKey: "owner")
            }
            try context.save()
        }
        try await stack.observe(stack.main, "owner.name == 'Bob'")
        #expect(try await stack.names(stack.main) == ["dummy1", "dummy2"])
        try await stack.background.perform { context in
            let owners = try context.fetch(FetchRequest(entityName: "Owner", sortDescriptors: [.init(keyPath: "name")]))
            try owners[0].setValue("Bob", forKey: "name")
            try owners[1].setValue("Cem", forKey: "name")
            try context.save()
        }
        #expect(try await stack.names(stack.main) == ["dummy0"])
        #expect(
            try await stack.events(stack.main) == [
                "will", "delete dummy1 0.0 -", "delete dummy2 0.1 -", "insert dummy0 - 0.0", "did",
            ]
        )
    }

    @Test("A controller keeps its window when an object is inserted before it")
    func window() async throws {
        let stack = try Investigation()
        try await stack.background.perform { context in
            try Investigation.insert(0..<5, into: context)
            try context.save()
        }
        try await stack.observe(stack.main) {
            $0.fetchOffset = 1
            $0.fetchLimit = 2
        }
        #expect(try await stack.names(stack.main) == ["dummy1", "dummy2"])
        try await stack.background.perform { context in
            try Investigation.dummy(4, in: context).setValue(Int64(-1), forKey: "id")
            try context.save()
        }
        #expect(try await stack.names(stack.main) == ["dummy0", "dummy1"])
    }

    @Test("A controller with a difference handler reports a difference of IDs instead")
    func difference() async throws {
        let stack = try Investigation()
        try await stack.background.perform { context in
            try Investigation.insert(0..<4, into: context)
            try context.save()
        }
        try await stack.observe(stack.main)
        let before = try await stack.main.perform { context in
            let controller = try #require(context.userInfo["controller"] as? FetchedResultsController)
            let kept = KeptDifference()
            context.userInfo["difference"] = kept
            controller.differenceHandler = { kept.difference = $0 }
            return controller.fetchedObjects?.map(\.objectID) ?? []
        }
        try await stack.background.perform { context in
            try Investigation.dummy(3, in: context).setValue(Int64(-1), forKey: "id")
            try context.delete(Investigation.dummy(1, in: context))
            try Investigation.insert(9..<10, into: context)
            try context.save()
        }
        try await stack.main.perform { context in
            let controller = try #require(context.userInfo["controller"] as? FetchedResultsController)
            let kept = try #require(context.userInfo["difference"] as? KeptDifference)
            let difference = try #require(kept.difference)
            #expect(before.applying(difference) == controller.fetchedObjects?.map(\.objectID))
        }
        #expect(try await stack.events(stack.main) == [])
    }

    @Test("After a reset a controller is empty and silent until it fetches again")
    func reset() async throws {
        let stack = try Investigation()
        try await stack.background.perform { context in
            try Investigation.insert(0..<2, into: context)
            try context.save()
        }
        try await stack.observe(stack.main)
        try await stack.main.perform { try $0.reset() }
        #expect(try await stack.names(stack.main) == [])
        #expect(try await stack.events(stack.main) == [])
        try await stack.main.perform { context in
            try (context.userInfo["controller"] as? FetchedResultsController)?.performFetch()
        }
        #expect(try await stack.names(stack.main) == ["dummy0", "dummy1"])
    }

    @Test(
        "A change that splits a section is an error, and the next valid change is applied in full",
        arguments: [true, false]
    )
    func tornSection(_ isComplete: Bool) throws {
        let stack = try SiblingStack()
        try stack.main.performAndWait { context in
            let dummies = try context.insertDummies(3)
            for (index, dummy) in dummies.enumerated() { try dummy.setValue(index == 2, forKey: "isEven") }
            try context.save()
            let controller = FetchedResultsController(
                fetchRequest: FetchRequest(entityName: "TestDummy", sortDescriptors: [.init(keyPath: "name")]),
                managedObjectContext: context,
                sectionNameKeyPath: "isEven",
                behaviour: isComplete ? .complete : .registeredOnly
            )
            let delegate = Recorder()
            controller.delegate = delegate
            try controller.performFetch()
            // It belongs to the first section but is ordered after the last.
            let torn = try context.insertNewObject(forEntityName: "TestDummy")
            try torn.setValue("dummy 3", forKey: "name")
            try torn.setValue(false, forKey: "isEven")
            try context.processPendingChanges()
            #expect(controller.updateError is FetchError)
            #expect(controller.fetchedObjects == dummies)
            try dummies[0].setValue("dummy 00", forKey: "name")
            try context.processPendingChanges()
            #expect(controller.updateError is FetchError)
            try torn.setValue(true, forKey: "isEven")
            try context.processPendingChanges()
            #expect(controller.updateError == nil)
            #expect(controller.fetchedObjects == dummies + [torn])
            #expect(controller.sections?.map(\.numberOfObjects) == [2, 2])
        }
    }
}

private final class KeptDifference {
    var difference: CollectionDifference<ManagedObjectID>?
}
