import Foundation
import TestSupport
import Testing

/// Flow 3, one store and two processes that run at the same time; each comment is a sentence of the published flow.
@Suite("Flow 3: an app and its widget use one store at the same time", .verify)
struct LiveFlowTests {
    @Test("The app's save appears in the widget, and the widget's in the running app and its controller")
    func bothDirections() async throws {
        let stage = try await HabitStage(isUpgrade: true)
        let arguments = ["--name", "Evening run", "--changes", "1"]
        let running = try ChildProgram(stage.appCommand(arguments), errors: .discarded)
        running.closeInput()
        let first = running.available()
        #expect(String(decoding: first, as: UTF8.self).hasPrefix("Evening run: day 51"))
        // Step 1: "storeURL(for: group, databaseName:) = container + <name>.sqlite; set it on the one description".
        #expect(FileManager.default.fileExists(atPath: stage.new))
        // Step 3: "post after each local save; observe the other side's": from the app to the widget, and back.
        let noted = try await stage.widget(HabitStage.habit, ["--done"])
        #expect(noted.output == "Time to run\nEvening run: day 51, 49 days to finish, 0 missed, 51 executed\n")
        // Step 4: "on receipt, on the view context's queue", what was shown is read again, and its controller follows.
        let lines = String(decoding: running.rest(), as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(
            lines == [
                "  controller: will change", "  controller: insert 2026-11-15 row 98", "  controller: did change",
                noted.lines.last ?? "",
            ]
        )
        #expect(running.wait() == 0)
        // "never hear your own": the app's own save was no change from elsewhere.
        #expect(try await stage.app().output == (noted.lines.last ?? "") + "\n")
    }
}
