import Testing

@Suite("Verb diff")
struct DiffVerbTests {
    private static func run(_ arguments: [String]) async throws -> (run: Tool.Run, records: [JSONTree]) {
        let run = try await Tool.run(["diff"] + arguments + ["--json"])
        return (run, try Grammar().check(run))
    }

    @Test("diff ends with 0 for equal stores and 3 for different ones, and prints values only with --values")
    func plain() async throws {
        let scratch = try Scratch()
        let (a, b) = (try await scratch.store("a.db"), try await scratch.store("b.db"))
        let equal = try await Self.run([a, b])
        #expect(equal.run.status == 0)
        #expect(equal.records.first { $0["type"]?.string == "comparison" }?["equal"] == .bool(true))
        try await SQLiteProgram.run(
            b,
            "UPDATE habit SET name = 'secret' WHERE id = 1; INSERT INTO habit VALUES (9, 'x')"
        )
        let before = try scratch.fingerprint()
        let different = try await Self.run([a, b])
        #expect(different.run.status == 3)
        let found = different.records.filter { $0["type"]?.string == "difference" }
        #expect(found.map { $0["change"]?.string } == ["updated", "inserted"])
        #expect(found.map { $0["entity"]?.string } == ["habit", "habit"])
        #expect(!different.run.output.contains("secret"))
        #expect(try await Self.run([a, b, "--values"]).run.output.contains("secret"))
        let text = try await Tool.run(["diff", a, b])
        #expect(text.status == 3)
        #expect(text.output.contains("habit/1  updated   name"))
        #expect(text.output.contains("1 inserted  1 updated  0 deleted"))
        #expect(try scratch.fingerprint() == before)
    }

    @Test("diff --base prints the changes of each store and the conflicts of a merge")
    func base() async throws {
        let scratch = try Scratch()
        let (a, b, base) = (
            try await scratch.store("a.db"), try await scratch.store("b.db"), try await scratch.store("c.db")
        )
        try await SQLiteProgram.run(a, "UPDATE habit SET name = 'one' WHERE id = 1")
        try await SQLiteProgram.run(b, "UPDATE habit SET name = 'two' WHERE id = 1; DELETE FROM mark")
        let (run, records) = try await Self.run([a, b, "--base", base])
        #expect(run.status == 3)
        let sides = records.filter { $0["type"]?.string == "difference" }.map { $0["side"]?.string }
        #expect(sides == ["first", "second", "second"])
        #expect(records.filter { $0["type"]?.string == "conflict" }.map { $0["property"]?.string } == ["name"])
        #expect(!run.output.contains("one"))
    }

    @Test("diff accepts a backup on either side and as the base")
    func archives() async throws {
        let scratch = try Scratch()
        let (a, archive) = (try await scratch.store("a.db"), scratch.path("a.tar.zst"))
        #expect(try await Tool.run(["backup", a, "-o", archive]).status == 0)
        #expect(try await Self.run([archive, a]).run.status == 0)
        try await SQLiteProgram.run(a, "UPDATE habit SET name = 'secret' WHERE id = 1")
        let before = try scratch.fingerprint()
        for (arguments, change) in [([archive, a], "updated"), ([a, archive], "updated")] {
            let (run, records) = try await Self.run(arguments)
            #expect(run.status == 3)
            let found = records.filter { $0["type"]?.string == "difference" }
            #expect(found.map { $0["change"]?.string } == [change])
        }
        let (run, records) = try await Self.run([a, archive, "--base", archive])
        #expect(run.status == 3)
        #expect(records.filter { $0["type"]?.string == "difference" }.map { $0["side"]?.string } == ["first"])
        #expect(try scratch.fingerprint() == before)
    }

    @Test("diff compares stores of two model versions in migrated copies, whichever comes first")
    func versions() async throws {
        let (a, b) = (try await ModelVersions(), try await ModelVersions())
        let renamed = #"<attribute name="title" attributeType="String" elementID="name"/>"#
        let second = try b.document("Second", ModelVersions.habit(name: renamed))
        let base = try a.scratch.folder("base") + "/Habits.sqlite"
        try await SQLiteProgram.run(a.store, "PRAGMA wal_checkpoint(TRUNCATE)")
        try a.scratch.copy(a.store, as: "base/Habits.sqlite")
        try a.scratch.copy(a.scratch.path(".Habits_SUPPORT"), as: "base/.Habits_SUPPORT")
        #expect(try await Tool.run(["migrate", b.store, "--model", second]).status == 0)
        try await SQLiteProgram.run(b.store, "UPDATE ZHABIT SET ZTITLE = 'secret', Z_OPT = 2 WHERE Z_PK = 2")
        let before = [try a.scratch.fingerprint(), try b.scratch.fingerprint()]
        for arguments in [[a.store, b.store], [b.store, a.store], [a.store, b.store, "--base", base]] {
            let (run, records) = try await Self.run(arguments)
            #expect(run.status == 3, "\(run.errors)")
            let found = records.filter { $0["type"]?.string == "difference" }
            #expect(found.map { $0["change"]?.string } == ["updated"], "\(run.output)")
            #expect(found.first?["entity"]?.string == "Habit")
            let finding = records.first { $0["code"]?.string == "modelVersionsDiffer" }
            #expect(finding?["message"]?.string?.contains("migrated to the model version of \(b.store)") == true)
        }
        #expect([try a.scratch.fingerprint(), try b.scratch.fingerprint()] == before)
    }

    @Test("diff compares stores without a mapping by the names of their properties, and says so")
    func unrelatedVersions() async throws {
        let (a, b) = (try await ModelVersions(leaves: "nothing"), try await ModelVersions(leaves: "nothing"))
        let recipe = try b.scratch.file(
            "dates.yaml",
            Array(
                """
                about: Another type.
                seed: dates
                model: {entities: {Habit: {attributes: {name: {type: date}}}}}
                saves: [{at: 2026-03-01T09:00:00Z, insert: [{entity: Habit, values: {}}]}]
                """
                .utf8
            )
        )
        let store = b.scratch.path("Dates.sqlite")
        #expect(try await Tool.run(["fixture", "build", recipe, store]).status == 0)
        let (run, records) = try await Self.run([a.store, store])
        #expect(run.status == 3, "\(run.errors)")
        let finding = records.first { $0["code"]?.string == "modelVersionsDiffer" }
        #expect(finding?["message"]?.string?.contains("no migration can be inferred") == true)
        #expect(records.contains { $0["type"]?.string == "difference" })
    }

    @Test("diff ends with 10 for a missing store and 12 for a file that is not a store")
    func missing() async throws {
        let scratch = try Scratch()
        let a = try await scratch.store("a.db")
        #expect(try await Tool.run(["diff", a, scratch.path("none.db")]).status == 10)
        let other = try scratch.file("text.db", Array("this is no database at all, despite its name".utf8))
        #expect(try await Tool.run(["diff", other, a]).status == 12)
    }
}
