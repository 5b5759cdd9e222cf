import Foundation
import SystemPackage
import TestSupport
import Testing

/// An app and its widget, two programs that use only the public interface of the package.
@Suite("The demonstration app and its widget", .verify)
struct HabitTests {
    private static let habit = "0B5C9E1A-6D3F-4E7B-9A21-5C8D2F4E6A70"
    private static let today = ["--today", "2026-11-15"]

    private let scratch: Scratch
    private var old: String { scratch.path("app/HabitCalendar.sqlite") }
    private var place: [String] { ["--groups", scratch.path(""), "--group", "group.habits"] + Self.today }

    init() async throws {
        scratch = try Scratch()
        try scratch.folder("app")
        try scratch.folder("group.habits")
        let recipe = Tool.package + "/Fixtures/HabitCalendar/HabitCalendar.yaml"
        let built = try await Tool.run(["fixture", "build", recipe, old])
        #expect(built.status == 0, "\(built.errors)")
    }

    private static func program(_ name: String) throws -> String {
        FilePath(try Tool.path).removingLastComponent().appending(name).string
    }

    private func app(_ arguments: [String] = []) throws -> [String] {
        try [Self.program("HabitApp"), old] + place + ["--habit", Self.habit] + arguments
    }

    /// Runs the widget with a notification for a habit; nil for a notification without a habit.
    private func widget(_ habit: String?, _ arguments: [String] = []) async throws -> Tool.Run {
        let userInfo = habit.map { ["habitIdentifier": $0] } ?? [:]
        let notification = try JSONSerialization.data(
            withJSONObject: ["title": "Time to run", "userInfo": userInfo] as [String: Any]
        )
        let file = scratch.path("notification-\(UUID().uuidString).json")
        try notification.write(to: URL(filePath: file))
        return try await Tool.run(
            command: [Self.program("HabitWidget")] + place + ["--notification", file] + arguments
        )
    }

    /// The executed days of the habit in the store, read by the `sqlite3` program.
    private func daysInStore() async throws -> String {
        let sql = """
            SELECT sum(d.ZWASEXECUTED) FROM ZHABITDAY d JOIN ZHABIT h ON h.Z_PK = d.ZHABIT
            JOIN ZDAYSCHALLENGE c ON c.Z_PK = d.ZCHALLENGE
            WHERE hex(h.ZID) = '\(Self.habit.filter { $0 != "-" })' AND c.ZISCLOSED = 0
            """
        let run = try await Tool.run(
            command: ["sqlite3", "-readonly", scratch.path("group.habits/HabitCalendar.sqlite"), sql]
        )
        return run.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test("The widget shows the habit of a notification, and answers for a deleted or missing habit")
    func shown() async throws {
        let started = try await Tool.run(command: app())
        #expect(started.status == 0, "\(started.errors)")
        let shown = try await widget(Self.habit)
        #expect(shown.status == 0, "\(shown.errors)")
        #expect(shown.output == started.output)
        let executed = try await daysInStore()
        #expect(shown.output == "Morning run: day 51, 49 days to finish, 0 missed, \(executed) executed\n")
        let gone = try await widget("11111111-2222-4333-8444-555555555555")
        #expect(gone.status == 0)
        #expect(gone.output == "There is no such habit any more.\n")
        let none = try await widget(nil)
        #expect(none.status == 64)
        #expect(none.output.isEmpty)
        #expect(none.errors.contains("names no habit"))
    }

    @Test("A change that the widget saves while the app is not running is there when the app starts")
    func asleep() async throws {
        let before = try await Tool.run(command: app())
        let noted = try await widget(Self.habit, ["--done"])
        #expect(noted.status == 0, "\(noted.errors)")
        #expect(noted.output != before.output)
        let after = try await Tool.run(command: app())
        #expect(after.output == noted.output)
    }

    @Test("A change that the widget saves while the app runs appears in the app")
    func live() async throws {
        let running = try ChildProgram(app(["--changes", "1"]), errors: .discarded)
        running.closeInput()
        // The app observes changes before it prints its first line.
        let first = running.available()
        let noted = try await widget(Self.habit, ["--done"])
        #expect(noted.status == 0, "\(noted.errors)")
        let lines = String(decoding: first + running.rest(), as: UTF8.self).split(separator: "\n")
            .map(String.init)
        #expect(running.wait() == 0)
        #expect(lines.count == 2)
        #expect(lines.first != lines.last)
        #expect(try await widget(Self.habit).output == (lines.last ?? "") + "\n")
    }

    @Test("The demonstration script ends with status 0")
    func demonstration() async throws {
        let programs = FilePath(try Tool.path).removingLastComponent().string
        let run = try await Tool.run(command: [Tool.package + "/Fixtures/HabitCalendar/demo", programs])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("# The app has received the change"))
    }

    @Test("The library guide quotes the data controller without changes")
    func quoted() throws {
        let source = try String(
            contentsOfFile: Tool.package + "/Fixtures/HabitCalendar/HabitData/DataController.swift",
            encoding: .utf8
        )
        #expect(source.split(separator: "\n", omittingEmptySubsequences: false).count <= 60)
        #expect(try ReferencePage.library.text.contains("```swift\n\(source)```\n"))
    }
}
