import Testing

@Suite("Verb clean")
struct CleanVerbTests {
    private let scratch: Scratch
    private let old: String
    private let group: String

    init() async throws {
        scratch = try Scratch()
        try scratch.folder("old")
        group = try scratch.folder("group")
        old = try await scratch.store("old/Habits.sqlite")
    }

    @Test("clean -n lists a leftover and removes nothing, and clean removes it")
    func removes() async throws {
        #expect(try await Tool.run(["share", old, group]).status == 0)
        #expect(try await Tool.run(["unshare", old, group + "/Habits.sqlite"]).status == 0)
        let before = try scratch.fingerprint()
        let planned = try await Tool.run(["clean", group, "-n", "--json"])
        let leftovers = try Grammar().check(planned).filter { $0["type"]?.string == "leftover" }
        #expect(leftovers.map { $0["kind"]?.string } == ["withdrawnStore"])
        #expect(leftovers.map { $0["state"]?.string } == ["wouldBeRemoved"])
        #expect(try scratch.fingerprint() == before)
        let run = try await Tool.run(["clean", group + "/Habits.sqlite"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.hasPrefix("removed  withdrawnStore  "))
        #expect(try scratch.names(group).filter { $0 != ".store-migrate" }.isEmpty)
        #expect(try await Tool.run(["clean", group]).output == "There are no leftovers.\n")
        #expect(try await SQLiteProgram.run(old, "SELECT count(*) FROM habit") == "2\n")
    }

    @Test("A missing folder ends with status 10, and a retention of nothing with 2")
    func wrong() async throws {
        #expect(try await Tool.run(["clean", scratch.path("none/Habits.sqlite")]).status == 10)
        #expect(try await Tool.run(["clean", group, "--keep", "0"]).status == 2)
    }
}
