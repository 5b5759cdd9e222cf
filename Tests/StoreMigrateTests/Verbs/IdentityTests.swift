import Testing

/// Identities that contain a to-one relationship: the object there is identified first.
@Suite("Identities by relationship")
struct IdentityTests {
    /// A recipe with two habits in this order, and an equal day of each.
    private static func recipe(_ habits: [String], wasExecuted: Bool = false) -> String {
        let inserts = habits.enumerated()
            .flatMap { index, name in
                [
                    "- {entity: Habit, name: h\(index), values: {name: \(name)}}",
                    "- {entity: Day, values: {date: 2026-03-01T00:00:00Z, note: of \(name), wasExecuted: \(wasExecuted), habit: h\(index)}}",
                ]
            }
        return """
            about: Days of habits.
            seed: \(habits.joined())
            model:
              entities:
                Habit:
                  attributes: {name: {type: string}}
                  relationships: {days: {to: Day, inverse: habit, many: true}}
                Day:
                  attributes: {date: {type: date}, note: {type: string}, wasExecuted: {type: boolean}}
                  relationships: {habit: {to: Habit, inverse: days}}
            saves:
              - at: 2026-03-01T09:00:00Z
                insert:
            \(inserts.map { "      " + $0 }.joined(separator: "\n"))
            """
    }

    @Test(
        "A merge matches objects by an attribute and the identity of a to-one relationship, also under other keys",
        arguments: ["share", "merge"]
    )
    func relationship(_ verb: String) async throws {
        let scratch = try Scratch()
        let (old, new) = (scratch.path("old.sqlite"), scratch.path("new.sqlite"))
        // The same habit has another key in each store, and only the old one's days are executed.
        for (path, text) in [
            (old, Self.recipe(["Run", "Read", "Swim"], wasExecuted: true)), (new, Self.recipe(["Read", "Run"])),
        ] {
            let file = try scratch.file("recipe.yaml", Array(text.utf8))
            let built = try await Tool.run(["fixture", "build", file, path])
            try #require(built.status == 0, "\(built.errors)")
        }
        let identities = ["--identity", "Habit=name", "--identity", "Day=habit,date", "--policy", "late"]
        let call = verb == "share" ? ["share", old, new, "--on-both", "merge"] : ["merge", new, old]
        let run = try await Tool.run(call + identities)
        #expect(run.status == 0, "\(run.errors)")
        // By date alone both days would be one; by key the days would have changed their habits.
        let days = "SELECT h.ZNAME, d.ZNOTE, d.ZWASEXECUTED FROM ZDAY d JOIN ZHABIT h ON h.Z_PK = d.ZHABIT ORDER BY 1"
        #expect(try await SQLiteProgram.run(new, days) == "Read|of Read|1\nRun|of Run|1\nSwim|of Swim|1\n")
        #expect(try await SQLiteProgram.run(new, "SELECT count(*) FROM ZHABIT") == "3\n")
        #expect(try await Tool.run(["verify", new]).status == 0)
    }

    @Test("A to-many relationship is refused by name, and an entity without an identity is named in the result")
    func refused() async throws {
        let scratch = try Scratch()
        let stores = ["a.sqlite", "b.sqlite"].map(scratch.path)
        for (path, habits) in zip(stores, [["Run", "Read"], ["Read", "Run"]]) {
            let file = try scratch.file("recipe.yaml", Array(Self.recipe(habits).utf8))
            try #require(try await Tool.run(["fixture", "build", file, path]).status == 0)
        }
        let many = try await Tool.run(["merge"] + stores + ["--identity", "Habit=days", "--identity", "Day=date"])
        #expect(many.status == 2 && many.errors.contains("days"), "\(many.errors)")
        // A day whose habit is not identified is a new one, and the result says which identity would change that.
        let missing = try await Tool.run(["merge", "-n"] + stores + ["--identity", "Day=habit,date"])
        let note =
            "note: Habit: every object of the old store, 2, is inserted as a new one; with --identity those that are in both"
        #expect(missing.status == 0 && missing.output.contains(note), "\(missing.output)\(missing.errors)")
    }

    @Test("A plan of a share that merges shows what the merge would do, its policy and the unidentified entities")
    func planned() async throws {
        let scratch = try Scratch()
        let stores = ["a.sqlite", "b.sqlite"].map(scratch.path)
        for (path, habits) in zip(stores, [["Run", "Read"], ["Read", "Run"]]) {
            let file = try scratch.file("recipe.yaml", Array(Self.recipe(habits).utf8))
            try #require(try await Tool.run(["fixture", "build", file, path]).status == 0)
        }
        for call in [["share", "-n"], ["plan"]] {
            let words = call + stores + ["--on-both", "merge", "--identity", "Day=habit,date", "--policy", "late"]
            let plan = try await Tool.run(words)
            #expect(plan.output.contains("  would merge: 4 inserted, "), "\(plan.output)")
            #expect(plan.output.contains("  no conflicts (policy 'late')\n"), "\(plan.output)")
            #expect(plan.output.contains("  note: Habit: every object of the old store, 2, is"), "\(plan.output)")
            let records = try Grammar().check(try await Tool.run(words + ["--json"]))
            let merge = try #require(records.first { $0["type"]?.string == "merge" })
            #expect(merge["notes"]?.array?.first?["kind"]?.string == "unidentified")
            #expect(merge["epoch"]?.string == nil)
        }
        #expect(try await SQLiteProgram.run(stores[1], "SELECT count(*) FROM ZHABIT") == "2\n")
    }
}
