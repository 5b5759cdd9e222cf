import Testing

/// The ways to name a store, and what else a call about one store takes.
@Suite("Naming a store")
struct NamingTests {
    @Test(
        "Verbs that read one store take a database of a group instead of its path",
        arguments: [["inspect"], ["history"], ["relay", "list"], ["verify"]]
    )
    func databaseOfGroup(verb: [String]) async throws {
        let scratch = try Scratch()
        try scratch.folder("group.a")
        let recipe = "\(Tool.package)/Fixtures/HabitCalendar/HabitCalendar.yaml"
        _ = try await Tool.run(["fixture", "build", recipe, scratch.path("group.a/Habits.sqlite")])
        let group = ["--group", "group.a", "--groups", scratch.path]
        let run = try await Tool.run(verb + group + ["--name", "Habits"])
        #expect(run.status == 0, "\(run.errors)")
        let named = try await Tool.run(verb + [scratch.path("group.a/Habits.sqlite")])
        #expect(run.lines.first?.prefix(20) == named.lines.first?.prefix(20))
        // Neither, both, and a group without a database.
        for words in [[], [scratch.path("x")] + group + ["--name", "Habits"], group] {
            let wrong = try await Tool.run(verb + words)
            #expect(wrong.status == 2, "\(wrong.errors)")
        }
    }

    @Test("Every verb about a shared store takes a database of a group, and does there what it does at the path")
    func everyVerb() async throws {
        let scratch = try Scratch()
        try scratch.folder("group.a")
        let (old, new) = (scratch.path("Habits.sqlite"), scratch.path("group.a/Habits.sqlite"))
        let recipe = "\(Tool.package)/Fixtures/HabitCalendar/HabitCalendar.yaml"
        try #require(try await Tool.run(["fixture", "build", recipe, old]).status == 0)
        let group = ["--group", "group.a", "--groups", scratch.path]
        let named = group + ["--name", "Habits"]
        func run(_ words: [String], status: Int32 = 0) async throws -> String {
            let run = try await Tool.run(words)
            #expect(run.status == status, "\(words): \(run.errors)")
            return run.output
        }
        _ = try await run(["share", old] + group + ["--old", "capture", "--level", "files"])
        #expect(try await run(["fetch", "Habit"] + named) == run(["fetch", new, "Habit"]))
        #expect(try await run(["diff", old] + group) == run(["diff", old, new]))
        try await SQLiteProgram.run(old, "UPDATE ZHABIT SET ZNAME = 'late', Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
        #expect(try await run(["merge", old, "-n"] + group).hasPrefix("Would merge: \(old) into \(new)\n"))
        #expect(try await run(["merge", old] + named).hasPrefix("Merged: \(old) into \(new)\n"))
        #expect(try await run(["diff", old] + named, status: 3) == run(["diff", old, new], status: 3))
        #expect(try await run(["unmerge"] + named).hasPrefix("Undone: \(new): "))
        #expect(
            try await run(["migrate", "--model", old, "-n"] + named) == run(["migrate", new, "--model", old, "-n"])
        )
        let archive = scratch.path("Habits.tar")
        #expect(try await run(["backup", "-o", archive] + named).hasPrefix("Backed up Habits.sqlite"))
        try scratch.folder("group.b")
        let other = ["--group", "group.b", "--groups", scratch.path]
        #expect(try await run(["restore", archive] + other).contains(scratch.path("group.b/Habits.sqlite")))
        #expect(
            try await run(["restore", archive, "--name", "Copy"] + other).contains(scratch.path("group.b/Copy.sqlite"))
        )
        let parked = scratch.path("rows.jsonl")
        try scratch.file("rows.jsonl", [])
        #expect(try await run(["merge", "--from-parked", parked] + named).hasSuffix("in \(new)\n"))
        // Neither, both, and a group without the name of a database that no other store gives.
        let usage = [
            ["fetch", "Habit"], ["fetch", new, "Habit"] + named, ["fetch", "Habit"] + group, ["diff", old],
            ["diff", old, new] + group, ["merge", old], ["merge", new, old] + group, ["merge"] + named, ["unmerge"],
            ["unmerge", new] + named, ["unmerge"] + group, ["migrate", "--model", old],
            ["migrate", "--model", old] + group, ["backup", "-o", archive], ["backup", "-o", archive, new] + named,
            ["restore", archive], ["restore", archive, new] + group, ["merge", "--from-parked", parked] + group,
            ["diff", old, new, "--name", "Habits"],
        ]
        for words in usage { _ = try await run(words, status: 2) }
    }

    @Test("The verbs about an earlier share take the database of a group, and check that it is the shared one")
    func earlierShare() async throws {
        let scratch = try Scratch()
        let old = try await scratch.store("H.db")
        for group in ["group.a", "group.b"] { try scratch.folder(group) }
        let new = scratch.path("group.a/Shared.sqlite")
        func place(_ group: String) -> [String] { ["--groups", scratch.path, "--group", group, "--name", "Shared"] }
        for _ in 1...2 {
            let shared = try await Tool.run(["share", old] + place("group.a"))
            #expect(shared.status == 0 && shared.output.contains(new), "\(shared.errors)")
            for words in [["status", old], ["plan", old], ["unshare", old, "-n"], ["diff", old], ["verify"]] {
                let byGroup = try await Tool.run(words + place("group.a"))
                let byPath = try await Tool.run(words + [new])
                #expect(byGroup.status == 0 && byGroup.output == byPath.output, "\(words): \(byGroup.errors)")
            }
            let back = try await Tool.run(["unshare", old] + place("group.a"))
            #expect(back.status == 0 && back.output.hasPrefix("Unshared"), "\(back.errors)")
        }
        #expect(try await Tool.run(["share", old] + place("group.a")).status == 0)
        for verb in ["unshare", "retire"] {
            let other = try await Tool.run([verb, old] + place("group.b"))
            #expect(other.status == 4 && other.errors.contains(new), "\(verb): \(other.errors)")
        }
        let retired = try await Tool.run(["retire", old] + place("group.a"))
        #expect(retired.status == 0 && retired.output.hasPrefix("Retired"), "\(retired.errors)")
    }

    @Test("verify --descriptions raises the level to merging, and is refused with a lower one")
    func descriptionsOfVerify() async throws {
        let scratch = try Scratch()
        let (old, new) = (scratch.path("old.sqlite"), scratch.path("new.sqlite"))
        let recipe = "\(Tool.package)/Fixtures/HabitCalendar/HabitCalendar.yaml"
        _ = try await Tool.run(["fixture", "build", recipe, old])
        let file = scratch.path("d.json")
        let words = ["share", old, new, "--level", "files", "--strategy", "WriteAheadLog", "--descriptions", file]
        try #require(try await Tool.run(words).status == 0)
        let raised = try await Tool.run(["verify", new, "--descriptions", file, "--json"])
        let levels = try Grammar().check(raised).first?["levels"]?.array
        #expect(levels?.last?["level"]?.string == "merging")
        let refused = try await Tool.run(["verify", new, "--descriptions", file, "--level", "content"])
        #expect(refused.status == 2 && refused.errors.contains("--level merging"), "\(refused.errors)")
    }
}
