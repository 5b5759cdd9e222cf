import ChangeRelay
import Foundation
import Glibc
import ManagedObjects
import StoreAccess
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
    /// Archives saves in the published form, each with one updated habit day.
    private func archive(_ days: [Int]) async throws -> String {
        let run = try await Tool.run(command: ["sqlite3", stage.old, "SELECT Z_UUID FROM Z_METADATA"])
        let uuid = run.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let payload = try NSKeyedArchiver.archivedData(
            withRootObject: days.map { ["updated": [NSURL(string: "x-coredata://\(uuid)/HabitDay/p\($0)") as Any]] },
            requiringSecureCoding: false
        )
        let file = stage.scratch.path("group.habits/preferences.plist")
        try PropertyListSerialization.data(fromPropertyList: ["pending": payload], format: .binary, options: 0)
            .write(to: URL(filePath: file))
        return file
    }

    /// The store's UUID, as the addresses of its objects name it.
    private func uuid() async throws -> String {
        String(try await SQLiteProgram.run(stage.old, "SELECT Z_UUID FROM Z_METADATA").dropLast())
    }

    @Test(
        "Every set of an archived save becomes a set of its notice, in order; an unknown one is skipped with a finding"
    )
    func everySet() async throws {
        // Step 1: "map every set of objects in userInfo (inserted, updated, deleted, refreshed, …) to object URIs"; ours:
        // "same keys, x-coredata://UUID/Entity/pN; unknown keys are skipped with a finding".
        let sets = ["inserted", "updated", "deleted", "refreshed", "invalidated", "ofTomorrow"]
        let uuid = try await uuid()
        func address(_ number: Int) -> String { "x-coredata://\(uuid)/HabitDay/p\(number)" }
        let save = Dictionary(
            uniqueKeysWithValues: sets.enumerated().map { ($1, [NSURL(string: address($0 + 1)) as Any]) }
        )
        let other = ["updated": [NSURL(string: address(7)) as Any]]
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: [save, other, other],
            requiringSecureCoding: false
        )
        let file = stage.scratch.path("group.habits/preferences.plist")
        try PropertyListSerialization.data(fromPropertyList: ["pending": archive], format: .binary, options: 0)
            .write(to: URL(filePath: file))
        _ = try await Tool.run(["relay", "drain", stage.old, "--consumer", "app"])
        let words = ["relay", "import", stage.old, "--legacy-defaults", file, "--legacy-key", "pending", "--json"]
        let imported = try Grammar().check(try await Tool.run(words))
        #expect(imported.compactMap { $0["code"]?.string } == ["unknownLegacyKey"])
        // Step 2: "with a dedupe key": a second import adds nothing.
        #expect(try Grammar().check(try await Tool.run(words)).first { $0["posted"] != nil }?["posted"]?.integer == 0)
        let drained = try Grammar()
            .check(try await Tool.run(["relay", "drain", stage.old, "--consumer", "app", "--json"]))
        for (number, set) in sets.dropLast().enumerated() {
            #expect(drained[0][set]?.array?.compactMap(\.string) == [address(number + 1)], "\(set)")
        }
        // Step 3: "in order": the two saves of one object are two notices, after the first.
        #expect(
            drained.dropLast().map { $0["updated"]?.array?.compactMap(\.string) } == [
                [address(2)], [address(7)], [address(7)],
            ]
        )
    }

    @Test("A wrong key of archived changes is reported with the key that holds them, and imports nothing")
    func wrongKey() async throws {
        // Step 2: "read the archived array from the group's user defaults, append this dictionary, archive it again, store
        // it"; "as printed the key read is not the key written": a wrong key is a finding that names the right one.
        let file = try await archive([1])
        let words = ["relay", "import", stage.old, "--legacy-defaults", file, "--legacy-key", "pendng", "-v"]
        let wrong = try await Tool.run(words)
        #expect((wrong.output + wrong.errors).contains("they are under pending"), "\(wrong.output)\(wrong.errors)")
        let listed = try await Tool.run(["relay", "list", stage.old, "--json"])
        #expect(try Grammar().check(listed).allSatisfy { $0["type"]?.string != "notice" })
    }

    @Test("The relay keeps no notice that its consumers have merged, and at most its limit of the others")
    func bounded() async throws {
        #expect(try await stage.app().status == 0)
        let queue = try RelayQueue(
            beside: StoreLocation(path: stage.new),
            limits: RelayLimits(mostNotices: 3)
        )
        func kept() throws -> Int { try queue.notices(after: 0, limit: 100).count }
        for day in 15...17 { _ = try await stage.widget(HabitStage.habit, ["--done"], today: "2026-11-\(day)") }
        // Step 2: "unbounded"; ours: what every consumer has merged is removed.
        #expect(try kept() == 3)
        #expect(try await stage.app().output.hasPrefix("Saves while the app did not run: 3\n"))
        #expect(try kept() == 0)
        // An app that stays away cannot fill the disk: beyond the limit it reads the store instead of the notices.
        for day in 18...20 { _ = try await stage.widget(HabitStage.habit, ["--done"], today: "2026-11-\(day)") }
        for number in 1...200 {
            try queue.post(ChangeNotice(key: .init(writer: "other", number: Int64(number)), content: .everything))
        }
        // Every 64th notice drops what is beyond the limit.
        #expect(try (3..<3 + 64).contains(kept()))
        #expect(try await stage.app().output.hasSuffix(" 56 executed\n"))
    }

    @Test("Saves of several widgets at once, one of them killed, all reach the app")
    func severalWriters() async throws {
        #expect(try await stage.app().output.hasPrefix("Morning run: day 51"))
        let saves = "SELECT count(*) FROM ATRANSACTION"
        let before = try #require(Int(try await stage.stored(saves)))
        // Step 2 again: "read-modify-write race between two extensions loses changes"; ours: "durable, ordered, many
        // writers, nothing lost under kill -9".
        try await withThrowingTaskGroup(of: Void.self) { group in
            for day in 20...23 {
                let widget = try stage.widgetCommand(HabitStage.habit, ["--done"], today: "2026-11-\(day)")
                group.addTask {
                    let noted = try await Tool.run(command: widget)
                    #expect(noted.status == 0, "\(noted.errors)")
                }
            }
            try await group.waitForAll()
        }
        let killed = try ChildProgram(
            stage.widgetCommand(HabitStage.habit, ["--done"], today: "2026-11-24"),
            errors: .discarded
        )
        killed.closeInput()
        killed.signal(SIGKILL)
        _ = killed.wait()
        let made = try #require(Int(try await stage.stored(saves))) - before
        #expect((4...5).contains(made))
        // Step 3: "merges each dictionary in order": as many as there are, and what they changed.
        let executed = try await stage.stored(
            "SELECT count(*) FROM ZHABITDAY d JOIN ZHABIT h ON h.Z_PK = d.ZHABIT "
                + "WHERE h.ZNAME = 'Morning run' AND ZWASEXECUTED AND ZCHALLENGE = "
                + "(SELECT Z_PK FROM ZDAYSCHALLENGE c WHERE c.ZHABIT = h.Z_PK AND NOT ZISCLOSED)"
        )
        let after = try await stage.app()
        #expect(after.lines.first == "Saves while the app did not run: \(made)", "\(after.output)")
        #expect(after.output.hasSuffix(" \(executed) executed\n"), "\(after.output)")
    }

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

    @Test("An app that is killed in the middle of a merge merges the same save at its next start")
    func killedDuringMerge() async throws {
        #expect(try await stage.app().status == 0)
        let running = try ChildProgram(stage.appCommand(["--changes", "1"]), errors: .discarded)
        running.closeInput()
        #expect(!running.available().isEmpty)
        // The app prints a line for each of these days while it merges them: more than the pipe takes.
        try await stage.edit(stage.new, as: "widget") { context in
            try HabitStage.addDays(8_000, to: HabitStage.habit(in: context), in: context)
        }
        let read = running.available()
        #expect(String(decoding: read, as: UTF8.self).contains("controller: will change"))
        try #require(read.count + 65_536 < 8_000 * "  controller: insert 2033-05-19 row 1\n".utf8.count)
        // Step 3: "the key is removed when the method returns, before the queued merge has run: a crash then is lost"; ours:
        // "acknowledged only after the merge".
        running.signal(SIGKILL)
        _ = running.wait()
        let next = try await stage.app()
        #expect(next.lines.first == "Saves while the app did not run: 1", "\(next.errors)")
        #expect(next.output.hasSuffix(" 50 executed\n"), "\(next.lines.last ?? "")")
        #expect(try await !stage.app().output.hasPrefix("Saves"))
    }

    @Test("Each consumer has its own position, and a widget that only reads posts nothing")
    func positions() async throws {
        #expect(try await stage.app().status == 0)
        func drained(_ consumer: String) async throws -> Int {
            try await Tool.run(["relay", "drain", stage.new, "--consumer", consumer]).lines.count
        }
        #expect(try await [drained("mail"), drained("intent")] == [0, 0])
        // "A widget that only reads needs none of this".
        #expect(try await stage.widget().status == 0)
        #expect(try await drained("mail") == 0)
        #expect(try await stage.widget(HabitStage.habit, ["--done"]).status == 0)
        // Step 3: "each consumer has its own position".
        #expect(try await [drained("mail"), drained("mail")] == [1, 0])
        #expect(try await stage.widget(HabitStage.habit, ["--done"], today: "2026-11-16").status == 0)
        #expect(try await [drained("intent"), drained("mail")] == [2, 1])
        #expect(try await stage.app().output.hasPrefix("Saves while the app did not run: 2\n"))
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

    @Test("After a merge, observers have seen the changes, a controller equals a fresh fetch, and old URIs resolve")
    func afterMerge() async throws {
        let former = try await stage.open(stage.old)
        let address = try await former.viewContext.perform { try HabitStage.habit(in: $0).objectID.uriRepresentation() }
        former.close()
        #expect(try await stage.app().status == 0)
        let container = try await stage.open(stage.new)
        try await container.viewContext.perform { context in
            // "After share, URIs still resolve, because the store UUID and primary keys are kept".
            let id = try #require(container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: address))
            let habit = try context.existingObject(with: id)
            #expect(try habit.value(String.self, forKey: "name") == "Morning run")
            let controller = FetchedResultsController(
                fetchRequest: try Self.executedDays(),
                managedObjectContext: context
            )
            let events = Events()
            controller.delegate = events
            try controller.performFetch()
            context.userInfo = ["controller": controller, "events": events]
            _ = context.addObserver { events.merged += $0.mergedIDs.count }
        }
        #expect(try await stage.widget(HabitStage.habit, ["--done"]).status == 0)
        try await container.mergeRemoteChanges()
        // Step 4: "fetched results controllers, and every observer of the context's notifications, see the changes as if a
        // context in the same process had saved"; ours: "equal to a fresh fetch".
        try await container.viewContext.perform { context in
            let controller = try #require(context.userInfo["controller"] as? FetchedResultsController)
            let events = try #require(context.userInfo["events"] as? Events)
            #expect(
                controller.fetchedObjects?.map(\.objectID) == (try context.fetch(Self.executedDays())).map(\.objectID)
            )
            #expect(events.changes == 1 && events.merged > 0)
        }
        container.close()
    }

    private static func executedDays() throws -> FetchRequest<ManagedObject> {
        FetchRequest(
            entityName: "HabitDay",
            predicate: try FetchPredicate(format: "habit.name == %@ AND wasExecuted == YES", "Morning run"),
            sortDescriptors: [.init(keyPath: "date")]
        )
    }

    /// Counts what a controller and an observer of its context report.
    private final class Events: FetchedResultsControllerDelegate {
        var changes = 0
        var merged = 0

        func controllerDidChangeContent(_ controller: FetchedResultsController) { changes += 1 }
    }

    @Test("Saves that the former version archived in the group's defaults reach the app's first start, once")
    func archived() async throws {
        let file = try await archive([1, 2, 1])
        // "Pending payloads in that form must be importable: an upgrade must not drop what a widget saved just before it".
        let shared = try await Tool.run(
            ["share", stage.old, stage.scratch.path("group.habits"), "--legacy-defaults", file]
                + ["--legacy-key", "pending", "--role", "app", "--role", "extension(widget)"]
                + ["--strategy", "WriteAheadLog", "--strategy", "HistoryTracking", "--strategy", "SharedAccess"]
                + ["--descriptions", stage.scratch.path("group.habits/descriptions.json")]
        )
        #expect(shared.status == 0, "\(shared.errors)")
        #expect(try await stage.app().output.hasPrefix("Saves while the app did not run: 3\nMorning run: day 51"))
        #expect(try await stage.app().output.hasPrefix("Morning run: day 51"))
    }

    @Test("A merge keeps the objects that an app holds and its unsaved changes; the rejected reset invalidates them")
    func rejectedReset() async throws {
        #expect(try await stage.app().status == 0)
        let container = try await stage.open(stage.new)
        try await container.viewContext.perform { context in
            let habit = try HabitStage.habit(in: context)
            try habit.setValue("blue", forKey: "colour")
            context.userInfo = ["habit": habit]
        }
        #expect(try await stage.app(["--name", "Evening run"]).status == 0)
        try await container.mergeRemoteChanges()
        try await container.viewContext.perform { context in
            let habit = try #require(context.userInfo["habit"] as? ManagedObject)
            #expect(try habit.value(String.self, forKey: "name") == "Evening run")
            #expect(try habit.value(String.self, forKey: "colour") == "blue")
            #expect(context.hasChanges && context.registeredObjects.contains(habit))
            // "The rejected alternative, a flag and a context reset, invalidates every object the app holds".
            try context.reset()
            #expect(!context.hasChanges && context.registeredObjects.isEmpty)
            let error = #expect(throws: ManagedObjectError.self) { try habit.setValue("red", forKey: "colour") }
            #expect(error?.code == .objectIsGone)
            // What was not saved is lost.
            #expect(
                try HabitStage.habit(in: context, named: "Evening run").value(String.self, forKey: "colour") != "blue"
            )
        }
        container.close()
    }
}
