import FoundationEssentials
import Testing

/// What a result or an error says about the options that lead on.
@Suite("Hints")
struct HintTests {
    @Test("status offers identities for a merge of unrelated stores, whose objects would otherwise come twice")
    func unrelatedStores() async throws {
        let scratch = try Scratch()
        let recipe = try String(
            contentsOfFile: "\(Tool.package)/Fixtures/HabitCalendar/HabitCalendar.yaml",
            encoding: .utf8
        )
        var stores: [String] = []
        for (name, seed) in [("old", "HabitCalendar"), ("new", "Other")] {
            let text = recipe.replacing("seed: HabitCalendar", with: "seed: \(seed)")
            let file = try scratch.file("\(name).yaml", Array(text.utf8))
            stores.append(scratch.path("\(name).sqlite"))
            #expect(try await Tool.run(["fixture", "build", file, stores[stores.count - 1]]).status == 0)
        }
        let status = try await Tool.run(["status"] + stores)
        let hint = "--on-both merge --identity DaysChallenge=ATTRIBUTE --identity HabitDay=ATTRIBUTE"
        #expect(status.lines.contains("  store-migrate share \(stores[0]) \(stores[1]) \(hint)"), "\(status.output)")
    }

    @Test("A share without any store says how a first install ends with 0")
    func firstInstall() async throws {
        let scratch = try Scratch()
        let words = ["share", scratch.path("a.sqlite"), scratch.path("b.sqlite")]
        let run = try await Tool.run(words)
        #expect(run.status == 10 && run.errors.contains("--if-missing ignore"), "\(run.errors)")
        #expect(try await Tool.run(words + ["--if-missing", "ignore"]).status == 0)
    }

    @Test("The table of conflicts names the policies that decided them")
    func decidingPolicies() async throws {
        let scratch = try Scratch()
        let (old, new) = (scratch.path("old.db"), scratch.path("new.db"))
        let sql = "CREATE TABLE n(id INTEGER PRIMARY KEY, b); INSERT INTO n(b) VALUES('a');"
        try await SQLiteProgram.run(old, sql)
        try #require(try await Tool.run(["share", old, new, "--old", "capture"]).status == 0)
        for (store, value) in [(old, "x"), (new, "y")] {
            try await SQLiteProgram.run(store, "UPDATE n SET b = '\(value)'")
        }
        let run = try await Tool.run(["share", old, new, "--policy", "late", "--policy", "n=shared"])
        #expect(
            run.output.contains("the value that won (policy 'late', for n 'shared'); --policy decides"),
            "\(run.output)"
        )
        // A merge that changes nothing names its policy, too.
        for verb in [["merge"], ["merge", "-n"]] {
            let idle = try await Tool.run(verb + [new, old, "--policy", "n=late"])
            #expect(
                idle.lines == [
                    "Nothing to merge: \(old) into \(new)", "  no conflicts (policy 'shared', for n 'late')",
                ]
            )
        }
    }

    @Test("A retire of a captured store whose journal is elsewhere says that the new store's path finds the journal")
    func journalElsewhere() async throws {
        let scratch = try await NextCommandTests.scratch(
            after: "mkdir state; \(OutcomeTests.shared) --old capture --state state"
        )
        let alone = try await Tool.run(["retire", "old/H.db"], folder: scratch.path)
        #expect(alone.status == 4 && alone.errors.contains("name its new store or the state folder"), "\(alone.errors)")
        let named = try await Tool.run(["retire", "old/H.db", "new"], folder: scratch.path)
        #expect(
            named.errors.contains("Next: store-migrate retire") || named.errors.contains("Next: store-migrate status")
        )
        #expect(named.errors.contains("--state \(scratch.path)/state"), "\(named.errors)")
    }
}
