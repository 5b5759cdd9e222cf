import Foundation
import Testing

@Suite("Verbs merge, unmerge and unshare")
struct MergeVerbTests {
    private let scratch: Scratch

    init() async throws {
        scratch = try Scratch()
        for folder in ["a", "b", "c"] { _ = try scratch.folder(folder) }
        let recipe = Tool.package + "/Fixtures/HabitCalendar/HabitCalendar.yaml"
        for folder in ["a", "b", "c"] {
            let built = try await Tool.run(["fixture", "build", recipe, scratch.path("\(folder)/Habits.sqlite")])
            #expect(built.status == 0, "\(built.errors)")
        }
    }

    private func store(_ folder: String) -> String { scratch.path("\(folder)/Habits.sqlite") }

    /// Renames the first habit with the `sqlite3` program.
    private func rename(_ folder: String, _ name: String) async throws {
        let sql = "UPDATE ZHABIT SET ZNAME = '\(name)', Z_OPT = Z_OPT + 1 WHERE Z_PK = 1"
        _ = try await SQLiteProgram.run(store(folder), sql)
    }

    @Test("A conflict is printed with all three values, and its losing row is parked and can be put back")
    func conflict() async throws {
        try await rename("a", "Mine")
        try await rename("b", "Theirs")
        let call = ["merge", store("a"), store("b"), "--base", store("c"), "--scan"]

        let plan = try await Tool.run(call + ["-n", "--json"])
        #expect(plan.status == 0, "\(plan.errors)")
        let planned = try Grammar().check(plan)
        #expect(planned.contains { $0["type"]?.string == "conflict" && $0["taken"]?.string == "shared" })

        let run = try await Tool.run(call)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("1 conflict"))
        for word in ["Habit/1", "name", "Morning run", "Mine", "Theirs", "shared"] {
            #expect(run.output.contains(word), "\(run.output)")
        }
        let parked = try #require(run.output.split(separator: "\n").first { $0.contains("losing rows") })
        let file = try #require(parked.split(separator: " ").last.map(String.init))

        #expect(try await Tool.run(call + ["--strict"]).status == 0)
        let back = try await Tool.run(["merge", store("a"), "--from-parked", file, "--json"])
        #expect(back.status == 0, "\(back.errors)")
        try Grammar().check(back)
        #expect(try await SQLiteProgram.run(store("a"), "SELECT ZNAME FROM ZHABIT WHERE Z_PK = 1").contains("Theirs"))

        // The row that was put back was written after the merge, so unmerge may refuse.
        let undo = try await Tool.run(["unmerge", store("a"), "--json"])
        #expect(undo.status == 4 || undo.status == 0, "\(undo.errors)")
        try Grammar().check(undo)
    }

    @Test("--policy resolves conflicts, for all entities or for one")
    func policies() async throws {
        try await rename("a", "Mine")
        try await rename("b", "Theirs")
        let call = ["merge", store("a"), store("b"), "--base", store("c"), "--scan"]
        #expect(try await Tool.run(call + ["--policy", "error"]).status == 4)
        #expect(try await Tool.run(call + ["--policy", "sometimes"]).status == 2)
        #expect(try await Tool.run(call + ["--identity", "Habit"]).status == 2)
        for wrong in [["--policy", "Nothing=late"], ["--identity", "Habit=cood"]] {
            let run = try await Tool.run(call + wrong)
            #expect(run.status == 2 && run.errors.contains("; it has "), "\(run.errors)")
        }
        let run = try await Tool.run(call + ["--policy", "shared", "--policy", "Habit=late"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try await SQLiteProgram.run(store("a"), "SELECT ZNAME FROM ZHABIT WHERE Z_PK = 1").contains("Theirs"))
    }

    @Test("A merge, unmerge or unshare that is not possible ends with one line and writes nothing")
    func refused() async throws {
        let before = try Data(contentsOf: URL(filePath: store("a")))
        let calls: [([String], Int32)] = [
            (["merge", store("a"), store("b")], 4), (["merge", store("a"), store("a")], 2),
            (["merge", store("a")], 2), (["merge", store("a"), scratch.path("nothing.sqlite")], 10),
            (["unmerge", store("a")], 4), (["unshare", store("a"), store("b")], 4),
            (["merge", store("a"), "--from-parked", scratch.path("nothing")], 1),
        ]
        for (call, status) in calls {
            let run = try await Tool.run(call)
            #expect(run.status == status, "\(call): \(run.errors)")
            #expect(run.errorLines.count == 1, "\(call): \(run.errors)")
        }
        #expect(try Data(contentsOf: URL(filePath: store("a"))) == before)
    }

    @Test("A merge with one store in two places names them, and what to name instead")
    func sameStores() async throws {
        let (a, b) = (store("a"), store("b"))
        let copy = "Nothing was merged. Name the store of which both are copies as the base, or none."
        for (call, message) in [
            ([a, a], "a store cannot be merged into itself: \(a). Nothing was merged. Name two stores."),
            ([a, b, "--base", a], "the base is the store to merge into: \(a). " + copy),
            ([a, b, "--base", b], "the base is the store to merge from: \(b). " + copy),
        ] {
            for words in [["merge"] + call, ["merge"] + call + ["-n"]] {
                let run = try await Tool.run(words)
                #expect(run.status == 2 && run.errors.contains(message), "\(words) \(run.errors)")
            }
        }
    }

    @Test("When two rows match one, each is in the merged store or in the file of parked rows")
    func joinedTwice() async throws {
        let (base, into, from) = (scratch.path("base.db"), scratch.path("into.db"), scratch.path("from.db"))
        for store in [base, into, from] {
            _ = try await SQLiteProgram.run(
                store,
                "CREATE TABLE u (id INTEGER PRIMARY KEY, e TEXT UNIQUE, f INT UNIQUE, note)"
            )
        }
        _ = try await SQLiteProgram.run(into, "INSERT INTO u VALUES (1, 'z', 3, 'shared')")
        _ = try await SQLiteProgram.run(from, "INSERT INTO u VALUES (4, 'z', 4, 'first'), (5, 'q', 3, 'second')")
        let run = try await Tool.run(["merge", into, from, "--base", base, "--policy", "late", "--json"])
        #expect(run.status == 0, "\(run.errors)")
        let lines = try Grammar().check(run)
        let merge = try #require(lines.first { $0["type"]?.string == "merge" })
        let file = try #require(merge["parkedRows"]?.string)
        let everywhere =
            try await SQLiteProgram.run(into, "SELECT note FROM u")
            + String(contentsOf: URL(filePath: file), encoding: .utf8)
        for note in ["shared", "first", "second"] { #expect(everywhere.contains(note), "\(everywhere)") }
    }

    @Test("A late write is merged by the next share, and unshare brings it back to the old store")
    func wholeWay() async throws {
        let new = scratch.path("new/Habits.sqlite")
        _ = try scratch.folder("new")
        let share = ["share", store("a"), new, "--old", "capture", "--level", "coredata"]
        #expect(try await Tool.run(share).status == 0)
        try await rename("a", "Late")
        let merged = try await Tool.run(share + ["--json"])
        #expect(merged.status == 0, "\(merged.errors)")
        let lines = try Grammar().check(merged)
        #expect(lines.last?["outcome"]?.string == "merged")
        #expect(lines.contains { $0["type"]?.string == "merge" && $0["updated"]?.integer == 1 })
        let back = try await Tool.run(["unshare", store("a"), new, "--level", "content"])
        #expect(back.status == 0, "\(back.errors)")
        #expect(back.output.contains("Unshared"))
        #expect(back.output.contains("proved: files, sqlite, coredata, content\n"))
        #expect(try await SQLiteProgram.run(store("a"), "SELECT ZNAME FROM ZHABIT WHERE Z_PK = 1").contains("Late"))
        #expect(!FileManager.default.fileExists(atPath: new))
    }
}
