import Foundation
import StoreMigration
import StoreStrategies
import TestSupport
import Testing

/// Flow 1, share the store if necessary, with the app and its extension as two processes.
///
/// Each comment is the sentence of the published flow that the expectations after it stand for, in the flow's order.
@Suite("Flow 1: an app shares its store with its extension", .verify)
struct ShareFlowTests {
    /// "Read ten pages": its running challenge has 25 days that were missed.
    private static let missing = "7F2D4C6B-1A8E-4B3D-8C5F-9E0A1B2C3D4E"
    /// The app after its upgrade.
    private func upgraded() async throws -> HabitStage {
        let stage = try await HabitStage(isUpgrade: true)
        let started = try await stage.app()
        #expect(started.status == 0, "\(started.errors)")
        return stage
    }

    @Test("A missing group container ends both programs with the command that creates it, and creates nothing")
    func groupMissing() async throws {
        let stage = try await HabitStage(isUpgrade: true)
        let before = try stage.scratch.fingerprint()
        // Step 1: "find the private store's URL and the group container's store URL"; published: "nil container silently
        // skipped"; ours: "a missing container is an error that says what to do".
        let app = try await Tool.run(command: stage.appCommand(group: "group.absent"))
        let widget = try await stage.widget(group: "group.absent")
        for run in [app, widget] {
            #expect(run.status == 1 && run.output.isEmpty)
            #expect(run.errors.contains("mkdir -p \(stage.scratch.path("group.absent"))"), "\(run.errors)")
        }
        let after = try stage.scratch.fingerprint(withFolderTimes: false)
        #expect(Set(after.keys.filter { !$0.hasPrefix("notification-") }) == Set(before.keys))
    }

    @Test("An app whose share fails ends with the reason, and loads no empty store at the new path")
    func shareFails() async throws {
        let stage = try await HabitStage(isUpgrade: true)
        func app(_ reason: String) async throws {
            let app = try await stage.app()
            #expect(app.status == 1 && app.output.isEmpty && app.errors.contains(reason), "\(app.errors)")
            #expect(try stage.scratch.names(stage.scratch.path("group.habits")).isEmpty)
        }
        let (folder, aside) = (stage.scratch.path("app"), stage.scratch.path("aside"))
        // Step 1: "a failure to find the private place likewise": a folder that cannot be opened is not an absent store.
        try FileManager.default.moveItem(atPath: folder, toPath: aside)
        try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: folder)
        try await app("cannot open the folder")
        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.moveItem(atPath: aside, toPath: folder)
        // Step 2: "on failure assert and rethrow"; published: "the app it comes from then loads the container anyway, empty,
        // at the new place".
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: stage.old + suffix) }
        try Data(repeating: 7, count: 8_192).write(to: URL(filePath: stage.old))
        try await app("HabitCalendar.sqlite")
    }

    @Test("After an upgrade the app shares the store once, and its widget shows the same")
    func upgrade() async throws {
        let stage = try await HabitStage(isUpgrade: true)
        // "An app shipped with a private store. A later version adds an extension": the extension may run first. It then
        // shows that there is nothing, and creates nothing in the way of the share.
        let early = try await stage.widget()
        #expect(early.status == 0 && early.output == "There are no shared habits: start the app.\n")
        #expect(try stage.scratch.names(stage.scratch.path("group.habits")).isEmpty)
        // Step 2: "before the stores are loaded, inside the data controller: if private exists and shared does not, move
        // the file"; ours: nothing is lost, and the old store refuses writes.
        let first = try await stage.app()
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.output == "Morning run: day 51, 49 days to finish, 0 missed, 50 executed\n")
        #expect(try await stage.stored("SELECT count(*) FROM ZHABITDAY") == "1180")
        let late = try await Tool.run(command: ["sqlite3", stage.old, "UPDATE ZHABIT SET ZNAME = 'late'"])
        #expect(late.status != 0 && late.errors.contains(stage.new))
        // "main file only: -wal, blobs stay"; ours: every row with its flags, and the picture in its external file.
        #expect(try await Tool.runProcess(["diff", stage.old, stage.new]).status == 0)
        let flags = "SELECT group_concat(ZISCLOSED) FROM (SELECT ZISCLOSED FROM ZDAYSCHALLENGE ORDER BY Z_PK)"
        let closed = try await stage.stored(flags)
        #expect(Set(closed.split(separator: ",")) == ["0", "1"])
        #expect(try await SQLiteProgram.run(stage.old, flags) == closed + "\n")
        #expect(try stage.blobs("app") == stage.blobs("group.habits"))
        #expect(try stage.blobs("app").count == 1)
        // "nothing says which options both processes must use"; ours: "strategies produce one description per role; verified
        // equal where they must be".
        let descriptions = try StoreMigrator.descriptions(
            at: URL(filePath: stage.scratch.path("group.habits/descriptions.json"))
        )
        let roles: [StoreRole] = [.app, .extension("widget")]
        #expect(Set(descriptions.keys) == Set(roles))
        #expect(Set(descriptions.values.map(\.url.path)) == [stage.new])
        #expect(Set(descriptions.values.map(\.sqlitePragmas)) == [["journal_mode": "WAL"]])
        #expect(descriptions.values.allSatisfy { $0.isHistoryTrackingEnabled && $0.postsRemoteChangeNotifications })
        // Step 3: "use the new location in the data controller": both processes open the one store, by its role's options.
        let shown = try await stage.widget()
        #expect(shown.output == "Time to run\n" + first.output)
        // "once": the second launch changes neither store.
        let saves = try await stage.stored("SELECT count(*) FROM ATRANSACTION")
        let privateStore = try Data(contentsOf: URL(filePath: stage.old))
        let second = try await stage.app()
        #expect(second.output == first.output)
        #expect(try await stage.stored("SELECT count(*) FROM ATRANSACTION") == saves)
        #expect(try Data(contentsOf: URL(filePath: stage.old)) == privateStore)
    }

    @Test("A folder as the old path is refused, and a folder as the new path receives the store under its name")
    func folders() async throws {
        let stage = try await HabitStage(isUpgrade: true)
        let (app, group) = (stage.scratch.path("app"), stage.scratch.path("group.habits"))
        // Step 2: "as printed both URLs may even be folders"; ours: "a folder is a clear answer (NEW = folder/<name of OLD>)".
        let refused = try await Tool.run(["share", app, group])
        #expect(refused.status == 12 && refused.errors.contains(app), "\(refused.errors)")
        #expect(try stage.scratch.names(group).isEmpty)
        let shared = try await Tool.run(["share", stage.old, group, "--level", "content"])
        #expect(shared.status == 0 && FileManager.default.fileExists(atPath: stage.new), "\(shared.errors)")
    }

    @Test("With habits in both stores the app says so, and changes neither")
    func habitsInBoth() async throws {
        let stage = try await HabitStage(isUpgrade: false)
        #expect(try await stage.app(["--name", "Mine"]).status == 0)
        let recipe = Tool.package + "/Fixtures/HabitCalendar/HabitCalendar.yaml"
        #expect(try await Tool.run(["fixture", "build", recipe, stage.old]).status == 0)
        // Step 2: "if private exists and shared does not": both exist, and only a person can decide.
        let both = try await stage.app()
        #expect(both.status == 1 && both.errors.contains("both stores have objects"), "\(both.errors)")
        #expect(try await stage.stored("SELECT group_concat(ZNAME) FROM ZHABIT") == "Mine")
    }

    @Test("At the first launch on a new machine the app creates the shared store, and its widget shows it")
    func firstLaunch() async throws {
        let stage = try await HabitStage(isUpgrade: false)
        // Step 2: "if private exists": it does not, which is no failure, and the widget shows its empty state.
        #expect(try await stage.widget().output == "There are no shared habits: start the app.\n")
        let empty = try await stage.app()
        #expect(empty.status == 0 && empty.output == "There is no such habit.\n", "\(empty.errors)")
        // Step 3: "use the new location": the store is in the group, and nothing is at the private path.
        #expect(try stage.scratch.names(stage.scratch.path("app")).isEmpty)
        let sound = try await Tool.run(["verify", stage.new])
        #expect(sound.status == 0, "\(sound.output)")
        #expect(try await stage.app(["--name", "Morning run"]).output == "Morning run: 0 days executed\n")
        // Step 4: the extension "fetches one object by its id and shows it; it may also modify".
        #expect(try await stage.widget().output == "Time to run\nMorning run: 0 days executed\n")
        let done = try await stage.widget(HabitStage.habit, ["--done"])
        #expect(done.output == "Time to run\nMorning run: 1 day executed\n", "\(done.errors)")
        // The second launch finds the same store.
        let second = try await stage.app()
        #expect(second.status == 0 && second.output.hasSuffix("Morning run: 1 day executed\n"), "\(second.errors)")
        #expect(try await stage.stored("SELECT count(*) FROM ZHABIT") == "1")
    }

    @Test("The data controller that both programs use has at most 60 lines")
    func dataController() throws {
        let file = Tool.package + "/Fixtures/HabitCalendar/HabitData/DataController.swift"
        let lines = try String(contentsOf: URL(filePath: file), encoding: .utf8).split(separator: "\n")
        let first = try #require(lines.firstIndex { $0.hasPrefix("public struct DataController") })
        // Step 3: "a DataController of at most 60 lines (share if necessary → descriptions → load) serves both processes".
        #expect(lines.count - first <= 60)
    }

    // Step 4: "the extension is handed a notification (title, `userInfo["habitIdentifier"]`), starts its own data
    // controller, fetches one object by its `id` and shows it; it may also modify".

    @Test("A running challenge shows the day's number, days to finish, missed and executed, below the title")
    func challenge() async throws {
        let stage = try await upgraded()
        // "for a habit with a running challenge: current day number, days to finish, days missed, days executed".
        #expect(
            try await stage.widget(Self.missing).output
                == "Time to run\nRead ten pages: day 51, 49 days to finish, 25 missed, 25 executed\n"
        )
        #expect(try await stage.app(habit: Self.missing).output.contains(" 25 missed, 25 executed\n"))
        // A day without a record counts as missed as soon as it is over.
        #expect(
            try await stage.widget(Self.missing, today: "2026-11-17").output
                == "Time to run\nRead ten pages: day 53, 47 days to finish, 27 missed, 25 executed\n"
        )
        // The first and the last day; before and after them there is no running challenge.
        #expect(try await stage.widget(Self.missing, today: "2026-09-26").output.contains("day 1, 99 days to finish"))
        #expect(try await stage.widget(Self.missing, today: "2027-01-03").output.contains("day 100, 0 days to finish"))
        #expect(try await !stage.widget(Self.missing, today: "2027-01-04").output.contains("to finish"))
    }

    @Test("A daily habit, without a challenge, shows its executed days only")
    func daily() async throws {
        let stage = try await upgraded()
        // "without one (a daily habit): days executed only".
        let id = try await stage.stored("SELECT hex(ZID) FROM ZHABIT WHERE ZNAME = 'Habit 8'")
        let executed = try await stage.stored(
            "SELECT sum(ZWASEXECUTED) FROM ZHABITDAY d JOIN ZHABIT h ON h.Z_PK = d.ZHABIT WHERE h.ZNAME = 'Habit 8'"
        )
        let uuid = [20, 16, 12, 8].reduce(into: id) { $0.insert("-", at: $0.index($0.startIndex, offsetBy: $1)) }
        #expect(try await stage.widget(uuid).output == "Time to run\nHabit 8: \(executed) days executed\n")
        let done = try await stage.widget(uuid, ["--done"])
        #expect(done.output == "Time to run\nHabit 8: \((Int(executed) ?? 0) + 1) days executed\n", "\(done.errors)")
    }

    @Test("A notification without an identifier is a usage error")
    func unnamed() async throws {
        let stage = try await upgraded()
        // "no identifier and a missing object are both crashes in debug"; ours: "no identifier is a usage error".
        var runs = [try await stage.widget(nil)]
        for text in [#"{"title": "Time"}"#, #"{"userInfo": {"habitIdentifier": 7}}"#, "{}"] {
            runs.append(try await stage.widget(notification: text))
        }
        for run in runs {
            #expect(run.status == 64 && run.output.isEmpty)
            #expect(run.errors.contains("names no habit"), "\(run.errors)")
        }
        let broken = try await stage.widget(notification: "{")
        #expect(broken.status == 64 && broken.errors.contains("cannot be read as a notification"))
    }

    @Test("A habit that is gone is a normal answer, and its scheduled notifications are removed, no others")
    func gone() async throws {
        let stage = try await upgraded()
        _ = try await stage.app(habit: Self.missing)
        let folder = stage.scratch.path("group.habits/notifications")
        try FileManager.default.copyItem(
            atPath: folder + "/\(Self.missing).json",
            toPath: folder + "/a second one.json"
        )
        #expect(try await stage.app(["--delete"], habit: Self.missing).output == "The habit is deleted.\n")
        // "an unknown one a normal answer"; "for an id that is gone: nothing, and it says so".
        let shown = try await stage.widget(Self.missing)
        #expect(shown.status == 0, "\(shown.errors)")
        #expect(
            shown.output
                == "Time to run\nThere is no such habit any more. Its scheduled notifications are removed: 2\n"
        )
        #expect(try stage.scratch.names(folder) == [HabitStage.habit + ".json"])
        #expect(try await stage.widget("11111111-2222-4333-8444-555555555555").output.hasSuffix("removed: 0\n"))
    }

    @Test("Without a shared store the widget creates none, and removes no notification")
    func unshared() async throws {
        let stage = try await upgraded()
        let back = try await Tool.run(["unshare", stage.old, stage.new])
        #expect(back.status == 0, "\(back.errors)")
        let before = try stage.scratch.names(stage.scratch.path("group.habits"))
        // The descriptions outlive the shared store; the habit is at its old path.
        let widget = try await stage.widget(HabitStage.habit, ["--done"])
        #expect(widget.status == 0 && widget.output == "There are no shared habits: start the app.\n")
        #expect(try stage.scratch.names(stage.scratch.path("group.habits")) == before)
        let folder = stage.scratch.path("group.habits/notifications")
        #expect(try stage.scratch.names(folder) == [HabitStage.habit + ".json"])
        #expect(try await stage.app().output == "Morning run: day 51, 49 days to finish, 0 missed, 50 executed\n")
    }
}
