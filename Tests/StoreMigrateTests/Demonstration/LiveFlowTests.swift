import Foundation
import Glibc
import ManagedObjects
import StoreAccess
import StoreFormat
import StoreMigration
import StoreStrategies
import Synchronization
import TestSupport
import Testing

/// Flow 3, one store and two processes that run at the same time; each comment is a sentence of the published flow.
@Suite("Flow 3: an app and its widget use one store at the same time", .verify)
struct LiveFlowTests {
    // The whole flow in its order; then what each of its steps says.

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
        // Ours: "GroupContainer(identifier).storeURL(databaseName:), throwing, not crashing".
        let root = URL(filePath: stage.scratch.path)
        let url = try GroupContainer("group.habits", root: root).storeURL(databaseName: "HabitCalendar")
        #expect(url.path == stage.new)
        #expect(throws: StoreError.self) { try GroupContainer("group.absent", root: root) }
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

    @Test("A share is refused for a role whose model does not fit the store, and names the role")
    func modelMisfit() async throws {
        let stage = try await HabitStage(isUpgrade: true)
        let model = try stage.scratch.file("contents", Array("<model><entity name='Habit'/></model>".utf8))
        // Step 1: "both processes carry the same model, and a role whose model does not fit is a finding"; it stops the share,
        // before the app and its widget could disagree.
        let run = try await Tool.run(
            ["share", stage.old, stage.new, "--role", "app", "--role", "extension(widget)=\(model)"]
        )
        #expect(run.status == 13 && run.errors.contains("extension(widget) does not carry"), "\(run.errors)")
        #expect(try stage.scratch.names(stage.scratch.path("group.habits")).isEmpty)
    }

    @Test("Saves while the app is stopped are one wake-up, after which it shows the last state")
    func coalescing() async throws {
        let stage = try await HabitStage(isUpgrade: true)
        let running = try ChildProgram(stage.appCommand(["--changes", "1"]), errors: .discarded)
        running.closeInput()
        #expect(!running.available().isEmpty)
        running.signal(SIGSTOP)
        for day in 15...17 {
            let noted = try await stage.widget(HabitStage.habit, ["--done"], today: "2026-11-\(day)")
            #expect(noted.status == 0, "\(noted.errors)")
        }
        running.signal(SIGCONT)
        // Step 2: "no payload, coalescing, level-triggered": the app waits for one change, and shows all three.
        let lines = String(decoding: running.rest(), as: UTF8.self).split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("  controller: insert") }.count == 3)
        #expect(
            lines.filter { !$0.hasPrefix("  controller") } == [
                "Morning run: day 51, 49 days to finish, 0 missed, 53 executed"
            ]
        )
        #expect(running.wait() == 0)
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

    @Test("A program hears another's save, and none of its own twenty")
    func ownSaves() async throws {
        let stage = try await HabitStage(isUpgrade: true)
        #expect(try await stage.app().status == 0)
        let container = try await stage.open(stage.new)
        let heard = Mutex(0)
        let (calls, called) = AsyncStream<Void>.makeStream()
        let observation = container.onRemoteChange {
            heard.withLock { $0 += 1 }
            called.yield()
        }
        var call = calls.makeAsyncIterator()
        var notices = container.remoteChangeNotices.makeAsyncIterator()
        for number in 1...20 {
            try await container.viewContext.perform { context in
                try HabitStage.habit(in: context).setValue("colour \(number)", forKey: "colour")
                try context.save()
            }
        }
        // Step 3: "never hear your own".
        #expect(heard.withLock { $0 } == 0)
        #expect(try await container.mergeRemoteChanges().isEmpty)
        #expect(try await stage.widget(HabitStage.habit, ["--done"]).status == 0)
        #expect(await notices.next() != nil)
        #expect(await call.next() != nil)
        #expect(try await !container.mergeRemoteChanges().isEmpty)
        // On a busy machine the last post of one save may arrive as a second wake-up.
        #expect((1...2).contains(heard.withLock { $0 }))
        observation.cancel()
        container.close()
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
