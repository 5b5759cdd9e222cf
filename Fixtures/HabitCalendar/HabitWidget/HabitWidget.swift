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

    @Option(help: "The folder of group containers, if it is not the usual one.")
    var groups: String?

    @Option(help: "The app group.")
    var group: String

    @Option(help: "The notification, as JSON.")
    var notification: String

    @Option(help: "The current day, such as 2026-11-21.")
    var today: String

    @Flag(help: "Record that the habit was executed today.")
    var done = false

    func run() async throws {
        guard let received = try? HabitNotification(contentsOf: URL(filePath: notification)) else {
            throw ValidationError("'\(notification)' cannot be read as a notification.")
        }
        guard let id = received.habitIdentifier else {
            throw ValidationError("The notification names no habit (userInfo.habitIdentifier).")
        }
        guard let date = Date(day: today) else {
            throw ValidationError("'\(today)' is not a day; write it as 2026-11-21.")
        }
        let group = try GroupContainer(group, root: groups.map { URL(filePath: $0) })
        guard let data = try await DataController(.extension("widget"), in: group) else {
            return print("There are no shared habits: start the app.")
        }
        print(received.title)
        if done {
            try await data.container.performBackgroundTask { context in
                try context.recordDay(date, ofHabit: id)
                context.transactionAuthor = "widget"
                context.mergePolicy = .mergeByPropertyObjectTrump
                try context.save()
            }
        }
        let progress = try await data.container.viewContext.perform { context in
            try HabitProgress(ofHabit: id, on: date, in: context)
        }
        if let progress { return print(progress) }
        let removed = try HabitNotification.removeScheduled(forHabit: id, in: group)
        print("There is no such habit any more. Its scheduled notifications are removed: \(removed)")
    }
}
