import Testing

@Suite("share --previous")
struct PreviousTests {
    private let scratch: Scratch
    private let old: String
    private let former: String
    private let new: String

    init() async throws {
        scratch = try Scratch()
        for name in ["old", "former", "group"] { try scratch.folder(name) }
        let table = "CREATE TABLE habit(id TEXT PRIMARY KEY, name TEXT) WITHOUT ROWID;"
        old = try await scratch.store(
            "old/Habits.sqlite",
            table + "INSERT INTO habit VALUES('a', 'read'), ('b', 'run'), ('c', 'sleep')"
        )
        former = try await scratch.store("former/Habits.sqlite", table + "INSERT INTO habit VALUES('d', 'swim')")
        new = scratch.path("group/Habits.sqlite")
    }

    @Test("Several stores end with status 4, and the one error line names both with their facts and the options")
    func decision() async throws {
        let before = try scratch.fingerprint()
        let run = try await Tool.run(["share", old, "--previous", former, new])
        #expect(run.status == 4)
        #expect(run.errorLines.count == 1)
        for part in ["2 locations hold a store", "\(old) (3 rows, ", "\(former) (1 row, ", "--on-several newest"] {
            #expect(run.errors.contains(part), "\(run.errors)")
        }
        let json = try await Tool.run(["share", old, "--previous", former, new, "--json"])
        let summary = try #require(try Grammar().check(json).last)
        #expect(summary["outcome"]?.string == "needsDecision")
        #expect(summary["next"]?.string == "store-migrate diff \(old) \(former)")
        #expect(try scratch.fingerprint() == before)
    }

    @Test("merge shows the result of each store, and the summary says that the run merged")
    func merge() async throws {
        let call = ["share", old, "--previous", former, new, "--on-several", "merge"]
        let plan = try await Tool.run(call + ["-n"])
        #expect(plan.output.contains("would end with merged"), "\(plan.output)")
        #expect(plan.output.contains("share \(old) \(new) --previous \(former) --on-several merge"))
        let run = try await Tool.run(call)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("Shared Habits.sqlite") && run.output.contains("Merged Habits.sqlite"))
        #expect(run.output.contains("store-migrate retire \(former)"))
        #expect(try await SQLiteProgram.run(new, "SELECT count(*) FROM habit") == "4\n")
        let again = try await Tool.run(call + ["--json"])
        let summary = try #require(try Grammar().check(again).last)
        #expect(summary["outcome"]?.string == "alreadyShared")
        #expect(try await Tool.run(["retire", former]).status == 0)
        #expect(try await Tool.run(call).output.hasPrefix("Already shared"))
    }

    @Test("The next command of a run over a later location names the first one and the others again")
    func next() async throws {
        _ = try await scratch.store(
            "group/Habits.sqlite",
            "CREATE TABLE habit(id TEXT PRIMARY KEY, name TEXT) WITHOUT ROWID; INSERT INTO habit VALUES('e', 'eat')"
        )
        let absent = scratch.path("old/None.sqlite")
        let run = try await Tool.run(["plan", absent, new, "--previous", old, "--on-both", "merge", "--json"])
        let plan = try #require(try Grammar().check(run).first { $0["type"]?.string == "plan" })
        #expect(plan["old"]?.string == old)
        let expected = "store-migrate share \(absent) \(new) --previous \(old) --on-both merge"
        #expect(plan["next"]?.string == expected, "\(run.output)")
    }
}
