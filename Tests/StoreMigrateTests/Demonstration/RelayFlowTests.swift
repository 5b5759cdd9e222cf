import Foundation
import Glibc
import TestSupport
import Testing

/// Flow 2, the change relay, with the app and its widget as two processes.
///
/// Each comment is the sentence of the published flow that the expectations after it stand for.
@Suite("Flow 2: a widget's saves reach an app that is asleep", .verify)
struct RelayFlowTests {
    private let stage: HabitStage
    private var relay: String { stage.scratch.path("group.habits/.HabitCalendar.sqlite.relay.sqlite") }

    init() async throws { stage = try await HabitStage(isUpgrade: true) }

    @Test("Saves while the app does not run are merged at its next start, once; without the relay they are not known")
    func notRunning() async throws {
        #expect(try await stage.app().output.hasPrefix("Morning run: day 51"))
        // Step 1: "on ContextDidSave in the widget, map every set of objects in userInfo to object URIs".
        _ = try await stage.widget(HabitStage.habit, ["--done"])
        let noted = try await stage.widget(HabitStage.habit, ["--done"], today: "2026-11-16")
        #expect(noted.output == "Time to run\nMorning run: day 52, 48 days to finish, 0 missed, 52 executed\n")
        // Step 3: "the app, when it becomes active, takes the array and merges each dictionary in order".
        let after = try await stage.app(today: "2026-11-16")
        #expect(
            after.output
                == "Saves while the app did not run: 2\n" + noted.output.replacing("Time to run\n", with: "")
        )
        // Ours: "each consumer has its own position": what was merged is not merged again.
        #expect(try await stage.app().output.hasPrefix("Morning run: "))
        // The position is the relay's: without it the app cannot know what it missed.
        _ = try await stage.widget(HabitStage.habit, ["--done"], today: "2026-11-17")
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: relay + suffix) }
        #expect(try await stage.app().output.hasPrefix("Morning run: "))
    }

    @Test("A stopped app that holds objects shows the widget's change, and its controller's events, when it continues")
    func stopped() async throws {
        let running = try ChildProgram(stage.appCommand(["--changes", "1"]), errors: .discarded)
        running.closeInput()
        let first = running.available()
        #expect(String(decoding: first, as: UTF8.self).hasPrefix("Morning run: day 51"))
        // Step 3: "the app, when it becomes active": stopped, it holds the objects that it showed.
        running.signal(SIGSTOP)
        let noted = try await stage.widget(HabitStage.habit, ["--done"])
        #expect(noted.status == 0, "\(noted.errors)")
        running.signal(SIGCONT)
        // Step 4: "fetched results controllers, and every observer of the context's notifications, see the changes as if a
        // context in the same process had saved".
        #expect(
            String(decoding: running.rest(), as: UTF8.self).split(separator: "\n") == [
                "  controller: will change", "  controller: insert 2026-11-15 row 98", "  controller: did change",
                "Morning run: day 51, 49 days to finish, 0 missed, 51 executed",
            ]
        )
        #expect(running.wait() == 0)
    }
}
