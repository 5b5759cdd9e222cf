import FoundationEssentials
import ManagedObjects
import Testing

@Suite("Predicates by key paths")
struct TypedPredicateTests {
    private func expect(
        _ typed: TypedPredicate<Habit>,
        _ format: String,
        _ arguments: (any PredicateArgument)?...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let text = try FetchPredicate(format: format, argumentArray: arguments)
        #expect(typed.untyped == text, sourceLocation: sourceLocation)
    }

    @Test("A comparison by a key path is the predicate of its text form")
    func comparisons() throws {
        let date = Date(timeIntervalSinceReferenceDate: 5)
        try expect(\.name == "x" && \.isClosed == false, "name == %@ AND isClosed == NO", "x")
        try expect(\Habit.name != "x" || !(\Habit.isClosed == true), "name != 'x' OR NOT isClosed == YES")
        try expect(\.rank == nil, "rank == nil")
        try expect(\.rank == 3, "rank == 3")
        try expect(\.colour == .red, "colour == 'red'")
        try expect(\.colour != nil, "colour != nil")
        try expect(\.createdAt < date, "createdAt < %@", date)
        try expect(\.createdAt >= date && \.total <= 7, "createdAt >= %@ AND total <= 7", date)
        try expect(\.weight > 1.5, "weight > 1.5")
        try expect((\Habit.total).between(1, 5), "total BETWEEN {1, 5}")
        try expect((\Habit.name).in(["a", "b"]), "name IN %@", ["a", "b"])
        try expect((\Habit.rank).in([1, nil]), "rank IN {1, nil}")
        try expect((\Habit.colour).in([.red, nil]), "colour IN {'red', nil}")
        try expect((\Habit.days).any((\HabitDay.mood).in([.good, .bad])), "ANY days.mood IN {1, 2}")
    }

    @Test("A comparison of texts is the predicate of its text form, with the ignored differences")
    func texts() throws {
        try expect((\Habit.name).contains("x"), "name CONTAINS 'x'")
        try expect((\Habit.name).beginsWith("x", .caseInsensitive), "name BEGINSWITH[c] 'x'")
        try expect((\Habit.name).endsWith("x", .caseAndDiacriticInsensitive), "name ENDSWITH[cd] 'x'")
        try expect((\Habit.name).like("x*"), "name LIKE 'x*'")
        try expect((\Habit.name).matches("x+"), "name MATCHES 'x+'")
        try expect((\Habit.name).equals("x", .caseInsensitive), "name ==[c] 'x'")
        try expect((\Habit.leader?.name).contains("x"), "leader.name CONTAINS 'x'")
    }

    @Test("A condition on destinations is the predicate of its text form")
    func destinations() throws {
        let date = Date(timeIntervalSinceReferenceDate: 5)
        try expect(\.leader?.name == "x", "leader.name == 'x'")
        try expect(\.leader?.leader == nil, "leader.leader == nil")
        try expect((\Habit.days).any(\.wasExecuted == true), "ANY days.wasExecuted == YES")
        try expect((\Habit.days).all(\.date > date), "ALL days.date > %@", date)
        try expect((\Habit.days).none(\.date == date), "NONE days.date == %@", date)
        try expect((\Habit.leader?.steps).any((\Step.title).contains("x")), "ANY leader.steps.title CONTAINS 'x'")
        try expect(\.days.count == 2, "days.@count == 2")
        try expect(\.steps.count > 2, "steps.@count > 2")
        try expect(
            (\Habit.days).any(\.wasExecuted == true && \.date > date),
            "SUBQUERY(days, $destination2, $destination2.wasExecuted == YES AND $destination2.date > %@).@count > 0",
            date
        )
    }

    @Test("A key path over destinations is the key path of the text form, with ? and with !, at any length")
    func chains() throws {
        try expect(\.leader?.leader?.name == "x", "leader.leader.name == 'x'")
        try expect(\.leader?.leader?.follower?.rank == 3, "leader.leader.follower.rank == 3")
        try expect(\.leader!.name == "x", "leader.name == 'x'")
        try expect(\.leader!.leader!.rank == 3, "leader.leader.rank == 3")
        try expect(\.leader?.site == nil, "leader.site == nil")
        try expect(\.leader?.colour == .red, "leader.colour == 'red'")
        try expect(\.leader?.days.count == 2, "leader.days.@count == 2")
        try expect(\.leader!.steps.count == 2, "leader.steps.@count == 2")
        try expect((\Habit.leader?.follower?.steps).any(\.title == "x"), "ANY leader.follower.steps.title == 'x'")
        #expect(FetchRequest<Habit>.SortDescriptor(\.leader?.leader?.createdAt).keyPath == "leader.leader.createdAt")
    }

    @Test("A key path that the class does not list fails with the cause, also one that only reads a property")
    func otherKeyPaths() throws {
        let store = try HabitStore()
        try store.fill()
        let predicates: [TypedPredicate<Habit>] = [
            \.name.count == 3, \.isFault == false, \.shout == "READ", \.isOpen == true, \.days.isEmpty == true,
            \.label == "Read", \.level == 3, \.shade == .red, \.leader?.label == "Read",
            (\Habit.days).any(\.day < .now),
        ]
        for predicate in predicates {
            let error = #expect(throws: FetchError.self) {
                try store.container.viewContext.performAndWait { context in
                    _ = try context.fetch(FetchRequest<Habit>(predicate: predicate))
                }
            }
            #expect(error?.message.contains(".properties`") == true, "\(error as Any)")
        }
        let request = FetchRequest<Habit>(sortDescriptors: [.init(\.level)])
        let error = #expect(throws: FetchError.self) {
            try store.container.viewContext.performAndWait { _ = try $0.fetch(request) }
        }
        #expect(error?.message.contains("from Habit to Int16") == true, "\(error as Any)")
    }

    @Test("A class of the app that inherits from a generated one lists its properties, or fails with the cause")
    func subclasses() throws {
        let store = try HabitStore()
        try store.fill()
        let text = try FetchPredicate(format: "habit.name == 'x' AND title == 'y'")
        let listed: TypedPredicate<ListedStep> = \.habit?.name == "x" && \.title == "y"
        #expect(listed.untyped == text)
        let request = FetchRequest<UnlistedStep>(predicate: \.title == "y")
        let error = #expect(throws: FetchError.self) {
            try store.container.viewContext.performAndWait { _ = try $0.fetch(request) }
        }
        #expect(error?.message.contains("properties(of: UnlistedStep.self)") == true, "\(error as Any)")
    }

    @Test("A typed predicate finds the objects of its text form, also nested ones and unsaved ones")
    func results() throws {
        let store = try HabitStore()
        try store.fill()
        try store.container.viewContext.performAndWait { context in
            #expect(try context.names(\.isClosed == true) == ["Read"])
            #expect(
                try context.names((\Habit.days).any(\.wasExecuted == true && \.habit?.isClosed == true)) == ["Read"]
            )
            #expect(try context.names((\Habit.days).all(\.wasExecuted == true && \.habit != nil)) == ["Swim", "Walk"])
            #expect(
                try context.names((\Habit.days).none(\.wasExecuted == false && \.habit != nil)) == ["Swim", "Walk"]
            )
            #expect(
                try context.names((\Habit.days).any((\HabitDay.habit?.steps).any(\.title == "Turn" && \.habit != nil)))
                    == ["Read"]
            )
            let walk = try context.habit("Walk")
            #expect(
                try context.names(\.leader == walk) == ["Read"] && context.names(\.leader == walk.objectID) == ["Read"]
            )
            #expect(try context.names((\Habit.leader).in([walk])) == ["Read"])
            let step = try #require(try context.habit("Read").steps.first)
            #expect(try context.names((\Habit.steps).contains(step)) == ["Read"])
            #expect(
                try context.names(\.colour == .green) == ["Read", "Walk"] && context.names(\.colour == nil) == ["Swim"]
            )
            #expect(try context.names((\Habit.colour).in([.red, .green])) == ["Read", "Walk"])
            #expect(try context.names((\Habit.colour).in([.red, nil])) == ["Swim"])
            let byColour = FetchRequest<Habit>(sortDescriptors: [.init(\.colour, ascending: false), .init(\.name)])
            #expect(try context.fetch(byColour).map(\.name) == ["Read", "Walk", "Swim"])
            let days = try context.fetch(FetchRequest<HabitDay>(sortDescriptors: [.init(\.date)]))
            for (day, mood) in zip(days, [Mood.bad, .good]) { day.mood = mood }
            try context.save()
            let byMood = FetchRequest<HabitDay>(sortDescriptors: [.init(\.mood)])
            #expect(try context.fetch(byMood).map(\.mood) == [.good, .bad])
            #expect(try context.names((\Habit.self).in([walk])) == ["Walk"])
            walk.isClosed = true
            #expect(try context.names(\.isClosed == true) == ["Read", "Walk"])
        }
    }
}

extension ManagedObjectContext {
    /// The names of the habits that match, in order.
    fileprivate func names(_ predicate: TypedPredicate<Habit>) throws -> [String] {
        try fetch(FetchRequest(predicate: predicate, sortDescriptors: [.init(\.name)])).map(\.name)
    }
}

extension Habit {
    /// Computed from properties, and thus no property of the model.
    fileprivate var shout: String { name.uppercased() }
    fileprivate var isOpen: Bool { !isClosed }
    fileprivate var label: String { name }
    fileprivate var level: Int16 { rank ?? 0 }
    fileprivate var shade: Colour? {
        get { colour }
        set { colour = newValue }
    }
}

extension HabitDay {
    fileprivate var day: Date { date }
}

private final class ListedStep: Step {
    override class var properties: [TypedProperty] { properties(of: ListedStep.self) }
}

private final class UnlistedStep: Step {}
