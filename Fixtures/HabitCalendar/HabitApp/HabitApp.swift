import ArgumentParser
import ChangeMerging
import Foundation
import HabitData
import ManagedObjects
import StoreFormat

/// The app: shares its store if necessary, shows a habit, and shows it again whenever another process has changed it.
@main
struct HabitApp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "HabitApp",
        abstract: "Shows a habit, and its changes by other processes."
    )

    @Argument(help: "The private store.")
    var store: String

    @Option(help: "The folder of group containers, if it is not the usual one.")
    var groups: String?

    @Option(help: "The app group.")
    var group: String

    @Option(help: "The habit's identifier.")
    var habit: String

    @Option(help: "The current day, such as 2026-11-21.")
    var today: String

    @Option(help: "Name the habit, and add it if there is none.")
    var name: String?

    @Flag(help: "Delete the habit.")
    var delete = false

    @Option(help: "How many changes by other processes to wait for.")
    var changes = 0

    func run() async throws {
        guard let id = UUID(uuidString: habit) else { throw ValidationError("'\(habit)' is not an identifier.") }
        guard let date = Date(day: today) else {
            throw ValidationError("'\(today)' is not a day; write it as 2026-11-21.")
        }
        let group = try GroupContainer(group, root: groups.map { URL(filePath: $0) })
        let data = try await DataController(sharing: URL(filePath: store), to: group)
        // Subscribes before the first read, so that no change is missed.
        let notices = data.container.remoteChangeNotices
        let context = data.container.viewContext
        let missed = try await data.container.mergeRemoteChanges(as: "app")
        if !missed.isEmpty { show("Saves while the app did not run: \(max(missed.transactions, missed.notices))") }
        if name != nil || delete {
            try await context.perform { try edit(id, on: date, in: $0) }
            try await data.container.mergeRemoteChanges(as: "app")
        }
        var shown = try await context.perform { context in
            try ShownDays.follow(ofHabit: id, in: context, show: show)
            return try HabitProgress(ofHabit: id, on: date, in: context)
        }
        if let shown { try HabitNotification(title: "Time for: \(shown.name)", habit: id).schedule(in: group) }
        show(shown?.description ?? (delete ? "The habit is deleted." : "There is no such habit."))
        var remaining = changes
        guard remaining > 0 else { return }
        for await _ in notices {
            try await data.container.mergeRemoteChanges(as: "app")
            let now = try await context.perform { try HabitProgress(ofHabit: id, on: date, in: $0) }
            guard now != shown else { continue }
            shown = now
            show(shown?.description ?? "The habit was deleted.")
            remaining -= 1
            if remaining == 0 { return }
        }
    }

    private func edit(_ id: UUID, on date: Date, in context: isolated ManagedObjectContext) throws {
        if let name { try context.nameHabit(id, name, on: date) }
        if delete, let habit = try context.habit(id) { try context.delete(habit) }
        context.transactionAuthor = "app"
        context.mergePolicy = .mergeByPropertyObjectTrump
        try context.save()
    }

    /// Writes without a buffer, so that a reader of a pipe gets the line at once.
    private func show(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
