import Foundation
import ManagedObjects
import StoreStrategies
import Testing

/// The habit's store in the process of the tests, which counts as one more program.
extension HabitStage {
    /// Opens a store with history, as a program that notifies the others of its saves.
    func open(_ path: String) async throws -> PersistentContainer {
        var description = PersistentStoreDescription(url: URL(filePath: path))
        description.isHistoryTrackingEnabled = true
        description.postsRemoteChangeNotifications = true
        let container = PersistentContainer(
            name: "HabitCalendar",
            descriptions: [description],
            viewContextOn: .privateQueue
        )
        try await container.loadPersistentStores()
        return container
    }

    /// Opens a store, edits it as a program of this name, saves and closes it.
    func edit(
        _ path: String,
        as author: String,
        _ change: @Sendable (isolated ManagedObjectContext) throws -> Void
    ) async throws {
        let container = try await open(path)
        try await container.viewContext.perform { context in
            context.transactionAuthor = author
            try change(context)
            try context.save()
        }
        container.close()
    }

    /// Shares the store with the options of the app and its widget.
    func share(_ words: String...) async throws -> Tool.Run {
        let strategies = ["WriteAheadLog", "HistoryTracking", "SharedAccess"].flatMap { ["--strategy", $0] }
        return try await Tool.runProcess(
            ["share", old, new, "--role", "app", "--role", "extension(widget)"] + strategies
                + ["--descriptions", scratch.path("group.habits/descriptions.json")] + words
        )
    }

    /// The habit of the notifications.
    static func habit(in context: isolated ManagedObjectContext, named name: String = "Morning run") throws
        -> ManagedObject
    {
        let predicate = try FetchPredicate(format: "name == %@", name)
        return try #require(try context.fetch(FetchRequest(entityName: "Habit", predicate: predicate)).first)
    }

    /// Adds executed days to a habit, after the days of its challenge.
    static func addDays(_ count: Int, to habit: ManagedObject, in context: isolated ManagedObjectContext) throws {
        for number in 1...count {
            let day = try context.insertNewObject(forEntityName: "HabitDay")
            try day.setValue(Date(timeIntervalSince1970: 2_000_000_000 + Double(number) * 86_400), forKey: "date")
            try day.setValue(true, forKey: "wasExecuted")
            try day.setObject(habit, forKey: "habit")
        }
    }
}

extension PersistentContainer {
    /// Closes the stores, so that this process no longer counts as a program that uses them.
    func close() {
        for store in persistentStoreCoordinator.persistentStores { persistentStoreCoordinator.remove(store) }
    }
}
