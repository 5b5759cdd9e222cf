import FoundationEssentials
import ManagedObjects
import Testing

@Suite("Fetched results of one class")
struct FetchedResultsTests {
    /// The changes as texts; they stay in their context.
    private final class Log {
        var changes: [String] = []
    }

    private static func text(_ change: FetchedResults<Habit>.Change) -> String {
        func place(_ path: FetchedResults<Habit>.IndexPath) -> String { "\(path.section).\(path.item)" }
        return switch change {
        case .insert(let habit, let new): "insert \(habit.name) \(place(new))"
        case .delete(let habit, let old): "delete \(habit.name) \(place(old))"
        case .move(let habit, let old, let new): "move \(habit.name) \(place(old)) \(place(new))"
        case .update(let habit, let new): "update \(habit.name) \(place(new))"
        case .insertSection(let name, let index): "section \(name) \(index)"
        case .deleteSection(let name, let index): "no section \(name) \(index)"
        }
    }

    @Test("An object of another class that matches only later is reported, and is not among the objects")
    func otherClass() throws {
        let store = try HabitStore()
        try store.fill()
        try store.reopened().newBackgroundContext()
            .performAndWait { context in
                let plain = try #require(
                    try context.fetch(
                        FetchRequest(entityName: "Habit", predicate: FetchPredicate(format: "name == 'Walk'"))
                    )
                    .first
                )
                let results = FetchedResults<Habit>(
                    FetchRequest(predicate: (\Habit.name).beginsWith("R"), sortDescriptors: [.init(\.name)]),
                    in: context
                )
                let log = Log()
                results.changeHandler = { log.changes += $0.map(Self.text) }
                try results.performFetch()
                #expect(results.updateError == nil)
                try plain.setValue("Run", forKey: "name")
                try context.processPendingChanges()
                #expect(results.objects.map(\.name) == ["Read"] && log.changes == [])
                let error = try #require(results.updateError as? ManagedObjectError)
                #expect(error.code == .wrongType && error.message.contains("Habit"))
                try plain.setValue("Walk", forKey: "name")
                try context.processPendingChanges()
                #expect(results.updateError == nil)
            }
    }

    @Test("Changes carry typed objects and positions, in the context's changes and in merges of other contexts")
    func changes() throws {
        let store = try HabitStore()
        try store.fill()
        let context = store.container.viewContext
        context.performAndWait { $0.automaticallyMergesChangesFromParent = true }
        try context.performAndWait { context in
            let log = Log()
            let results = FetchedResults<Habit>(
                FetchRequest(predicate: \.rank < 5, sortDescriptors: [.init(\.isClosed), .init(\.name)]),
                in: context,
                sectionedBy: \.isClosed
            )
            results.changeHandler = { log.changes += $0.map(Self.text) }
            try results.performFetch()
            context.userInfo["results"] = (results, log)
            #expect(results.objects.map(\.name) == ["Swim", "Walk", "Read"])
            #expect(results.sections.map { $0.objects.count } == [2, 1])
            let read = try context.habit("Read")
            #expect(results.indexPath(of: read) == .init(item: 0, section: 1))
            read.name = "Ask"
            read.isClosed = false
            try context.processPendingChanges()
            #expect(log.changes == ["no section 1 1", "move Ask 1.0 0.0"])
            log.changes = []
            let late = try context.insertNewObject(Habit.self)
            (late.name, late.rank, late.isClosed) = ("Late", 4, true)
            try context.processPendingChanges()
            #expect(log.changes == ["section 1 1", "insert Late 1.0"])
            #expect(results.sections.map { $0.objects.map(\.name) } == [["Ask", "Swim", "Walk"], ["Late"]])
            try context.delete(late)
            try context.processPendingChanges()
            #expect(results.sections.count == 1)
            log.changes = []
        }
        try store.container.newBackgroundContext()
            .performAndWait { context in
                try context.delete(context.habit("Swim"))
                try context.habit("Walk").weight = 7
                try context.save()
            }
        context.performAndWait { context in
            let shown = context.userInfo["results"] as? (FetchedResults<Habit>, Log)
            #expect(shown?.1.changes == ["delete Swim 0.1", "update Walk 0.1"])
            #expect(shown?.0.objects.map(\.name) == ["Ask", "Walk"])
        }
    }
}
