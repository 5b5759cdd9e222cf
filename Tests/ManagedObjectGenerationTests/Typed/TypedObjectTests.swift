import FoundationEssentials
import ManagedObjects
import StoreFormat
import Testing

@Suite("Typed objects")
struct TypedObjectTests {
    private let store: HabitStore

    init() throws {
        store = try HabitStore()
        try store.fill()
    }

    @Test("Properties of every type read back what was set, in the context and from the store")
    func values() throws {
        let picture = Data(repeating: 7, count: 200_000)
        let id = try store.container.viewContext.performAndWait { context in
            let habit = try context.habit("Walk")
            habit.cost = 12.5
            habit.site = URL(string: "https://example.org/walk")
            habit.picture = picture
            habit.share = 0.25
            habit.weight = 1.5
            habit.tags = Data([1, 2])
            habit.total = 1 << 40
            habit.colour = .red
            try context.save()
            return habit.objectID
        }
        try store.container.newBackgroundContext()
            .performAndWait { context in
                let habit = try context.existingObject(Habit.self, with: id)
                #expect(
                    habit.name == "Walk" && habit.cost == 12.5
                        && habit.site?.absoluteString == "https://example.org/walk"
                )
                #expect(
                    habit.picture == picture && habit.share == 0.25 && habit.weight == 1.5
                        && habit.tags == Data([1, 2])
                )
                #expect(habit.total == 1 << 40 && habit.colour == .red && habit.rank == 0 && !habit.isClosed)
                #expect(try habit.value(String.self, forKey: "name") == habit.name)
                habit.colour = nil
                habit.cost = nil
                #expect(try habit.value(forKey: "colour") == .null && habit.value(forKey: "cost") == .null)
            }
    }

    @Test("Relationships lead to typed destinations: sets, arrays in their order, and inverses")
    func relationships() throws {
        try store.container.viewContext.performAndWait { context in
            let (read, walk) = (try context.habit("Read"), try context.habit("Walk"))
            #expect(read.days.count == 2 && read.days.allSatisfy { $0.habit === read })
            #expect(read.steps.map(\.title) == ["Open", "Turn", "Close"])
            #expect(read.leader === walk && walk.follower === read && walk.leader == nil)
            read.steps.swapAt(0, 2)
            walk.days = read.days
            try context.save()
            #expect(read.days.isEmpty && walk.days.count == 2)
            #expect(try walk.executedDays().map(\.wasExecuted) == [true])
        }
        let steps = try store.container.newBackgroundContext()
            .performAndWait { context in
                try context.habit("Read").steps.map(\.title)
            }
        #expect(steps == ["Close", "Turn", "Open"])
    }

    @Test("A request for a parent class finds objects of their own classes")
    func inheritance() throws {
        try store.container.viewContext.performAndWait { context in
            let activities = try context.fetch(FetchRequest<Activity>(sortDescriptors: [.init(\.name)]))
            #expect(activities.map(\.name) == ["Read", "Swim", "Walk"])
            #expect(activities.allSatisfy { $0 is Habit })
        }
    }

    @Test("Requests with descriptors, limits, batches, counts and IDs are typed too")
    func requests() throws {
        try store.container.viewContext.performAndWait { context in
            var request = FetchRequest<Habit>(sortDescriptors: [
                .init(\.isClosed, ascending: false), .init(\.createdAt),
            ])
            #expect(try context.fetch(request).map(\.name) == ["Read", "Walk", "Swim"])
            request = FetchRequest(sortDescriptors: [.init(\.days.count), .init(\.leader?.name), .init(\.name)])
            #expect(try context.fetch(request).map(\.name) == ["Swim", "Walk", "Read"])
            #expect(try context.count(for: request) == 3 && context.fetchObjectIDs(request).count == 3)
            request.fetchBatchSize = 2
            #expect(try context.fetchInBatches(request).map(\.name) == ["Swim", "Walk", "Read"])
            request.predicate = try FetchPredicate(format: "name BEGINSWITH 'R'")
            #expect(try context.fetch(request).map(\.name) == ["Read"])
            #expect(try context.batchDelete(request).count >= 1)
        }
    }

    @Test("The untyped form of a request has all of its settings")
    func settings() {
        var request = FetchRequest<Habit>(predicate: \.name == "x", sortDescriptors: [.init(\.name)])
        request.fetchLimit = 1
        request.fetchOffset = 2
        request.fetchBatchSize = 3
        request.includesSubentities = false
        request.includesPendingChanges = false
        request.includesPropertyValues = false
        request.returnsObjectsAsFaults = false
        request.shouldRefreshRefetchedObjects = true
        request.relationshipKeyPathsForPrefetching = ["days"]
        request.propertiesToFetch = ["name"]
        request.returnsDistinctResults = true
        request.returnsDictionaries = true
        let untyped = FetchRequest<ManagedObject>(request)
        let settings = [
            Mirror(reflecting: request), Mirror(reflecting: untyped), Mirror(reflecting: FetchRequest<Habit>()),
        ]
        .map {
            $0.children.map {
                "\($0.label ?? ""): \($0.value)"
                    .replacing("ManagedObjectGenerationTests.Habit", with: "ManagedObjects.ManagedObject")
            }
        }
        #expect(settings[0] == settings[1])
        // Every setting differs from its default, so that none is forgotten here.
        for (set, standard) in zip(settings[0], settings[2]) where !set.hasPrefix("entityName") {
            #expect(set != standard)
        }
    }

    @Test("A mandatory attribute without a value has its type's empty value, and saving fails as without classes")
    func missing() throws {
        try store.container.viewContext.performAndWait { context in
            let habit = try context.insertNewObject(Habit.self)
            #expect(habit.name == "" && habit.createdAt == Date(timeIntervalSinceReferenceDate: 0) && habit.total == 0)
            #expect(throws: ManagedObjectError.self) { try context.save() }
        }
    }

    @Test("A stored null of a mandatory attribute reads as the absent value, and stays null until another is set")
    func storedNull() throws {
        try store.execute("UPDATE ZACTIVITY SET ZNAME = NULL, ZTOTAL = NULL WHERE ZNAME = 'Walk'")
        try store.container.newBackgroundContext()
            .performAndWait { context in
                let habit = try #require(try context.fetch(FetchRequest<Habit>(predicate: \.rank == 0)).first)
                #expect(habit.name == "" && habit.total == 0)
                habit.name = habit.name
                habit.total += 0
                habit.name += ""
                #expect(!habit.hasPersistentChangedValues)
                habit.rank = 7
                try context.save()
                #expect(try habit.value(forKey: "name").isNull && habit.value(forKey: "total").isNull)
                habit.name = "Walk"
                habit.total = 3
                try context.save()
                // Clearing a value of the store is a change.
                habit.name = ""
                try context.save()
                #expect(try habit.value(String.self, forKey: "name") == "" && habit.total == 3)
            }
    }

    @Test("A raw value that is no case is nil, or the enumeration's absent value, and stays until it is set")
    func unknownCase() throws {
        try store.container.viewContext.performAndWait { context in
            let habit = try context.habit("Walk")
            let day = try context.insertNewObject(HabitDay.self)
            #expect(day.mood == .good)
            try habit.setValue("blue", forKey: "colour")
            try day.setValue(77, forKey: "mood")
            day.date = Date(timeIntervalSinceReferenceDate: 7)
            try context.save()
            #expect(try habit.colour == nil && habit.value(String.self, forKey: "colour") == "blue")
            #expect(day.mood == .unknown)
            day.mood = .unknown
            #expect(try !day.hasPersistentChangedValues && day.value(Int.self, forKey: "mood") == 77)
            day.mood = .bad
            try context.save()
            #expect(try context.fetch(FetchRequest<HabitDay>(predicate: \.mood == .bad)) == [day])
            #expect(try context.count(for: FetchRequest<HabitDay>(predicate: \.mood != .good)) == 1)
        }
    }

    @Test("What a property cannot throw, the next save throws once; value(of:) throws it at once")
    func failures() throws {
        try store.container.viewContext.performAndWait { context in
            let (habit, other) = (try context.habit("Walk"), try context.habit("Read"))
            try context.delete(other)
            try context.save()
            #expect(throws: ManagedObjectError.self) { try other.setValue("x", of: \.name) }
            other.name = "ignored"
            #expect(try habit.value(of: \.name) == "Walk")
        }
        try store.container.viewContext.performAndWait { context in
            let habit = try context.habit("Swim")
            habit.picture = Data(repeating: 7, count: 200_000)
            try context.save()
        }
        try store.removeExternalFiles()
        try store.container.newBackgroundContext()
            .performAndWait { context in
                let habit = try context.habit("Swim")
                #expect(habit.picture == nil)
                let kept = #expect(throws: ManagedObjectError.self) { try context.save() }
                #expect(kept?.code == .missingExternalData)
                try context.save()
                let error = #expect(throws: ManagedObjectError.self) { try habit.value(of: \.picture) }
                #expect(error?.code == .missingExternalData)
                try context.save()
            }
    }

    @Test("An object that was read without its class is reported by a typed request, not returned")
    func wrongClass() throws {
        let store = try HabitStore()
        try store.container.viewContext.performAndWait { context in
            let plain = try context.insertNewObject(forEntityName: "Step")
            try plain.setValue("Open", forKey: "title")
            try context.save()
            let error = #expect(throws: ManagedObjectError.self) { try context.fetch(FetchRequest<Step>()) }
            #expect(error?.code == .wrongType && error?.message.contains("Step") == true)
            #expect(throws: ManagedObjectError.self) { try context.fetchInBatches(FetchRequest<Step>()) }
            withExtendedLifetime(plain) {}
        }
    }

    @Test("Destinations that could not be read are not replaced by an insertion")
    func unreadableDestinations() throws {
        let container = try store.reopened()
        try container.newBackgroundContext()
            .performAndWait { context in
                let plain = try context.fetch(FetchRequest<ManagedObject>(entityName: "Step"))
                let read = try context.habit("Read")
                let step = try context.insertNewObject(Step.self)
                step.title = "New"
                for step in plain { try #require(type(of: step) == ManagedObject.self) }
                read.steps.append(step)
                #expect(throws: ManagedObjectError.self) { try context.save() }
                try context.save()
                withExtendedLifetime(plain) {}
            }
        let titles = try container.newBackgroundContext()
            .performAndWait { try $0.habit("Read").steps.map(\.title) }
        #expect(titles == ["Open", "Turn", "Close"])
    }

    @Test("A class of the app for an entity is kept, and its objects are released like others")
    func ownClass() throws {
        let store = try HabitStore()
        store.container.persistentStoreCoordinator.register(CountedStep.self, forEntityName: "Step")
        try store.container.viewContext.performAndWait { context in
            let step = try context.insertNewObject(Step.self)
            #expect(step is CountedStep)
            step.title = "Open"
            try context.save()
        }
        try store.container.newBackgroundContext()
            .performAndWait { context in
                let habit = try context.insertNewObject(forEntityName: "Habit")
                #expect(habit is Habit, "the other classes of the model are registered, too")
            }
        let titles = try store.container.viewContext.performAndWait { context in
            #expect(context.registeredObjects.isEmpty)
            return try context.fetch(FetchRequest<Step>()).map(\.title)
        }
        #expect(titles == ["Open"])
    }
}

/// A subclass with state, which the context refers to weakly.
private final class CountedStep: Step {
    var count = 0
}
