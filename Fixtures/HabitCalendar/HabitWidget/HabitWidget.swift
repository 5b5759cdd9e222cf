import ArgumentParser
import ChangeMerging
import Foundation
import HabitData
import ManagedObjects
import StoreFormat
import StoreStrategies

/// The extension: a separate process, started for a notification, that shows a habit and can record a day.
@main
struct HabitWidget: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "HabitWidget",
        abstract: "Shows the habit that a notification is about."
    )

    @Option(help: "The folder of group containers.")
    var groups: String

    @Option(help: "The app group.")
    var group: String

    @Option(help: "The notification, as JSON.")
    var notification: String

    @Option(help: "The current day, such as 2026-11-21.")
    var today: String

    @Flag(help: "Record that the habit was executed today.")
    var done = false

    func run() async throws {
        let bytes = try Data(contentsOf: URL(filePath: notification))
        let received = try JSONDecoder().decode(HabitNotification.self, from: bytes)
        guard let id = received.habitIdentifier else {
            throw ValidationError("The notification names no habit (userInfo.habitIdentifier).")
        }
        guard let date = try? Date("\(today)T00:00:00Z", strategy: .iso8601) else {
            throw ValidationError("'\(today)' is not a day; write it as 2026-11-21.")
        }
        let data = try DataController(
            .extension("widget"),
            in: GroupContainer(group, root: URL(filePath: groups))
        )
        if done {
            try await data.container.performBackgroundTask { context in
                try Self.note(id, on: date, in: context)
            }
        }
        let progress = try await data.container.viewContext.perform { context in
            try HabitProgress(ofHabit: id, on: date, in: context)
        }
        print(progress?.description ?? "There is no such habit any more.")
    }

    /// Records that a habit was executed on a day, in the running challenge.
    private static func note(_ id: UUID, on date: Date, in context: isolated ManagedObjectContext) throws {
        var request = FetchRequest(entityName: "Habit")
        request.predicate = try FetchPredicate(format: "id == %@", id)
        guard let habit = try context.fetch(request).first else { return }
        request = FetchRequest(entityName: "DaysChallenge")
        request.predicate = try FetchPredicate(
            format: "habit == %@ AND isClosed == NO AND fromDate <= %@ AND toDate >= %@",
            habit.objectID,
            date,
            date
        )
        let challenge = try context.fetch(request).first
        request = FetchRequest(entityName: "HabitDay")
        request.predicate = try FetchPredicate(format: "habit == %@ AND date == %@", habit.objectID, date)
        let day = try context.fetch(request).first ?? context.insertNewObject(forEntityName: "HabitDay")
        try day.setValue(date, forKey: "date")
        try day.setValue(true, forKey: "wasExecuted")
        try day.setObject(habit, forKey: "habit")
        try day.setObject(challenge, forKey: "challenge")
        context.transactionAuthor = "widget"
        context.mergePolicy = .mergeByPropertyObjectTrump
        try context.save()
    }
}
