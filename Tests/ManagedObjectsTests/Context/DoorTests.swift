import ManagedObjects
import StoreAccess
import StoreStrategies
import TestSupport
import Testing

@Suite("perform and performAndWait", .timeLimit(.minutes(30)))
struct DoorTests {
    @Test("The view context runs on the main queue and can be entered from any thread")
    func mainQueue() async throws {
        let scratch = try ScratchFolder()
        let container = PersistentContainer(
            name: "TestDummy",
            managedObjectModel: SiblingStack.model,
            descriptions: [PersistentStoreDescription(url: scratch.location("store.sqlite").url)]
        )
        try container.loadPersistentStoresAndWait()
        try await container.performBackgroundTask { context in
            try context.insertDummies(2)
            try context.save()
        }
        let fromElsewhere = try await container.viewContext.perform { try $0.all("TestDummy").count }
        let waiting =
            try await Task.detached {
                try container.viewContext.performAndWait { try $0.all("TestDummy").count }
            }
            .value
        let onMain = try await MainActor.run {
            try container.viewContext.performAndWait { try $0.all("TestDummy").count }
        }
        #expect([fromElsewhere, waiting, onMain] == [2, 2, 2])
    }

    @Test("Several contexts of the main queue are entered on it, also from inside each other")
    func severalOnMainQueue() async throws {
        let stack = try SiblingStack()
        let contexts = (0..<3)
            .map { _ in
                ManagedObjectContext(.mainQueue, coordinator: stack.container.persistentStoreCoordinator)
            }
        let counts = try await MainActor.run {
            try contexts.map { context in
                try context.performAndWait { outer in
                    try outer.insertDummies(1)
                    try outer.save()
                    return try contexts.reduce(0) { sum, inner in
                        try sum + inner.performAndWait { try $0.all("TestDummy").count }
                    }
                }
            }
        }
        #expect(counts == [3, 6, 9])
    }

    @Test("A context can be entered from inside itself and from inside another context")
    func nesting() throws {
        let stack = try SiblingStack()
        let (main, background) = (stack.main, stack.background)
        let count = try main.performAndWait { _ in
            try main.performAndWait { _ in
                try background.performAndWait { context in
                    try context.insertDummies(3)
                    try context.save()
                }
                return try main.performAndWait { try $0.all("TestDummy").count }
            }
        }
        #expect(count == 3)
    }

    @Test("A context is entered again from inside another context that was entered from it")
    func enteredAgain() throws {
        let stack = try SiblingStack()
        let (main, background) = (stack.main, stack.background)
        for _ in 0..<2 {
            try main.performAndWait { outer in
                try background.performAndWait { context in
                    try main.performAndWait { inner in
                        try inner.insertDummies(1)
                        try background.performAndWait { _ = try $0.all("TestDummy") }
                    }
                    try context.insertDummies(1)
                    try context.save()
                }
                try outer.save()
            }
        }
        #expect(try background.performAndWait { try $0.all("TestDummy").count } == 4)
    }

    @Test("A child of a context on the main queue reads and saves on that queue")
    func childOnMainQueue() async throws {
        let stack = try SiblingStack()
        let parent = ManagedObjectContext(.mainQueue, coordinator: stack.container.persistentStoreCoordinator)
        let child = ManagedObjectContext(.privateQueue, parent: parent)
        let counts = try await MainActor.run {
            try child.performAndWait { child in
                try child.insertDummies(2)
                try child.save()
            }
            let saved = try parent.performAndWait { parent in
                try parent.save()
                return try child.performAndWait { try $0.all("TestDummy").count }
            }
            return try [saved, child.performAndWait { try $0.all("TestDummy").count }]
        }
        #expect(counts == [2, 2])
    }

    @Test("perform runs work in order and rethrows its errors")
    func order() async throws {
        let stack = try SiblingStack()
        let numbers = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try await stack.background.perform { context in
                        try context.insertDummies(1)
                        try context.save()
                        return number
                    }
                }
            }
            var done: [Int] = []
            for try await number in group { done.append(number) }
            return done
        }
        #expect(numbers.sorted() == Array(0..<20))
        let count = try await stack.main.perform { try $0.all("TestDummy").count }
        #expect(count == 20)
        await #expect(throws: ManagedObjectError.self) {
            try await stack.main.perform { try $0.insertNewObject(forEntityName: "Unknown").isFault }
        }
    }

    @Test("An observer that is released with another observation of the same context ends both")
    func nestedObservations() throws {
        final class Screen: Sendable {
            let notices = Notices()
            let observation: ChangeObservation
            init(_ context: ManagedObjectContext) {
                observation = context.onDidSave { [notices] in notices.append($0) }
            }
        }
        let stack = try SiblingStack()
        let screen = Screen(stack.background)
        let notices = screen.notices
        let observation = stack.background.onDidSave { [screen] in screen.notices.append($0) }
        let save = {
            try stack.background.performAndWait { context in
                try context.insertDummies(1)
                try context.save()
            }
        }
        try save()
        #expect(notices.all.count == 2)
        withExtendedLifetime(consume screen) {}
        observation.cancel()
        try save()
        #expect(notices.all.count == 2)
    }

    @Test("Saves arrive in the stream, and a cancelled observation receives none")
    func stream() async throws {
        let stack = try SiblingStack()
        var iterator = stack.background.didSaveNotices.makeAsyncIterator()
        let notices = Notices()
        let observation = stack.background.onDidSave { notices.append($0) }
        for _ in 0..<2 {
            try await stack.background.perform { context in
                try context.insertDummies(1)
                try context.save()
            }
            observation.cancel()
        }
        let first = await iterator.next()
        let second = await iterator.next()
        #expect(first?.insertedObjectIDs.count == 1)
        #expect(second?.insertedObjectIDs.isDisjoint(with: first?.insertedObjectIDs ?? []) == true)
        #expect(notices.all.count == 1)
    }
}
