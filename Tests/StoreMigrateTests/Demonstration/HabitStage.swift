import Foundation
import SystemPackage
import TestSupport
import Testing

/// The app and its widget in a scratch folder: two programs that use only the public interface of the package.
struct HabitStage {
    /// "Morning run", which has a running challenge.
    static let habit = "0B5C9E1A-6D3F-4E7B-9A21-5C8D2F4E6A70"
    static let today = "2026-11-15"

    let scratch: Scratch
    var old: String { scratch.path("app/HabitCalendar.sqlite") }
    var new: String { scratch.path("group.habits/HabitCalendar.sqlite") }

    /// Creates the folders of the app and of its group; `isUpgrade` builds the private store of the former version.
    init(isUpgrade: Bool) async throws {
        scratch = try Scratch()
        try scratch.folder("app")
        try scratch.folder("group.habits")
        guard isUpgrade else { return }
        let recipe = Tool.package + "/Fixtures/HabitCalendar/HabitCalendar.yaml"
        let built = try await Tool.run(["fixture", "build", recipe, old])
        #expect(built.status == 0, "\(built.errors)")
    }

    private static func program(_ name: String) throws -> String {
        FilePath(try Tool.path).removingLastComponent().appending(name).string
    }

    private func place(_ group: String, _ today: String) -> [String] {
        ["--groups", scratch.path, "--group", group, "--today", today]
    }

    func appCommand(
        _ arguments: [String] = [],
        habit: String = habit,
        group: String = "group.habits",
        today: String = today
    ) throws -> [String] {
        try [Self.program("HabitApp"), old] + place(group, today) + ["--habit", habit] + arguments
    }

    /// Runs the app to its end.
    func app(_ arguments: [String] = [], habit: String = habit, today: String = today) async throws -> Tool.Run {
        try await Tool.run(command: appCommand(arguments, habit: habit, today: today))
    }

    /// Runs the widget with a notification for a habit; nil for a notification without a habit.
    func widget(
        _ habit: String? = habit,
        _ arguments: [String] = [],
        group: String = "group.habits",
        today: String = today
    ) async throws -> Tool.Run {
        try await Tool.run(command: widgetCommand(habit, arguments, group: group, today: today))
    }

    func widgetCommand(
        _ habit: String? = habit,
        _ arguments: [String] = [],
        group: String = "group.habits",
        today: String = today
    ) throws -> [String] {
        let userInfo = habit.map { ["habitIdentifier": $0] } ?? [:]
        let notification = try JSONSerialization.data(
            withJSONObject: ["title": "Time to run", "userInfo": userInfo] as [String: Any]
        )
        return try widgetCommand(notification: notification, arguments, group: group, today: today)
    }

    private func widgetCommand(
        notification: Data,
        _ arguments: [String],
        group: String,
        today: String
    ) throws -> [String] {
        let file = try scratch.file("notification-\(UUID().uuidString).json", Array(notification))
        return try [Self.program("HabitWidget")] + place(group, today) + ["--notification", file] + arguments
    }

    /// Runs the widget with a notification of any text.
    func widget(notification text: String) async throws -> Tool.Run {
        let data = Data(text.utf8)
        return try await Tool.run(
            command: widgetCommand(notification: data, [], group: "group.habits", today: Self.today)
        )
    }

    /// The external files beside the store in a folder, by name.
    func blobs(_ folder: String) throws -> [String: Data] {
        let path = scratch.path(folder) + "/.HabitCalendar_SUPPORT/_EXTERNAL_DATA"
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(filePath: path + "/" + $0))) }
        )
    }

    /// The result of a statement on the shared store, read by the `sqlite3` program.
    func stored(_ sql: String) async throws -> String {
        let run = try await Tool.run(command: ["sqlite3", "-readonly", new, sql])
        return run.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
