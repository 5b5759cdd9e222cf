import Foundation
import ManagedObjects
import StoreMigration
import StoreStrategies
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

    @Test("Every other process hears a save, also a second extension, and one that did not run catches up by reading")
    func everyOtherProcess() async throws {
        let stage = try await HabitStage(isUpgrade: true)
        #expect(try await stage.app().status == 0)
        // Step 2: "two Darwin notification names, one per direction; which one a process posts and which it observes follows
        // from its role"; ours: "every other process hears it, two extensions each other too; own is the process".
        let others = try (0..<2)
            .map { _ in
                let words = [try Tool.path, "relay", "watch", stage.new, "--limit", "1", "-v"]
                let other = try ChildProgram(words, errors: .withOutput)
                other.closeInput()
                return other
            }
        for other in others { #expect(String(decoding: other.available(), as: UTF8.self) == "watching\n") }
        let noted = try await stage.widget(HabitStage.habit, ["--done"])
        #expect(noted.status == 0, "\(noted.errors)")
        for other in others {
            #expect(!other.rest().isEmpty)
            #expect(other.wait() == 0)
        }
        // Step 3: "a process that was not running hears nothing and catches up by reading".
        #expect(
            try await stage.app().output == "Saves while the app did not run: 1\n" + (noted.lines.last ?? "") + "\n"
        )
    }

    @Test("Objects are read again on receipt: cached rows do not expire by themselves, and unsaved changes survive")
    func readingAgain() async throws {
        let stage = try await HabitStage(isUpgrade: true)
        #expect(try await stage.app().status == 0)
        let file = URL(filePath: stage.scratch.path("group.habits/descriptions.json"))
        let container = PersistentContainer(
            name: "HabitCalendar",
            descriptions: try [#require(StoreMigrator.descriptions(at: file)[.app])],
            viewContextOn: .privateQueue
        )
        try await container.loadPersistentStores()
        let context = container.viewContext
        let predicate = try FetchPredicate(format: "name == %@", "Morning run")
        try await context.perform { context in
            let request = FetchRequest(entityName: "Habit", predicate: predicate)
            let habit = try #require(try context.fetch(request).first)
            #expect(try habit.value(String.self, forKey: "name") == "Morning run")
            try habit.setValue("blue", forKey: "colour")
            context.userInfo["habit"] = habit
        }
        #expect(try await stage.app(["--name", "Evening run"]).output.hasPrefix("Evening run: "))
        func shown() async throws -> [String?] {
            try await context.perform { context in
                let habit = try #require(context.userInfo["habit"] as? ManagedObject)
                return try ["name", "colour"].map { try habit.value(String.self, forKey: $0) }
            }
        }
        // Step 4: "on the view context's queue: set stalenessInterval to 0, refreshAllObjects(), set it back to −1"; "with −1
        // cached rows never expire, so a refresh without step 4 shows old values; with it, pending local changes survive".
        try await context.perform { context in
            #expect(context.stalenessInterval == -1)
            try context.refreshAllObjects()
        }
        #expect(try await shown() == ["Morning run", "blue"])
        try await context.perform { context in
            context.stalenessInterval = 0
            try context.refreshAllObjects()
            context.stalenessInterval = -1
        }
        #expect(try await shown() == ["Evening run", "blue"])
        #expect(await context.perform { $0.hasChanges })
        // "nothing changed outside = no refresh, no row read".
        #expect(try await context.perform { try $0.viewContextDidSaveExternally() })
        let rows = container.persistentStoreCoordinator.rowsRead
        #expect(try await !context.perform { try $0.viewContextDidSaveExternally() })
        #expect(container.persistentStoreCoordinator.rowsRead == rows)
    }
}
