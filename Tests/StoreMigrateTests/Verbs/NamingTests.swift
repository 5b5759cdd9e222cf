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
