import FoundationEssentials
import Testing

@Suite("Verb share")
struct ShareTests {
    private let scratch: Scratch
    private let old: String
    private let new: String

    init() async throws {
        scratch = try Scratch()
        try scratch.folder("old")
        try scratch.folder("group")
        old = try await scratch.store("old/Habits.sqlite")
        new = scratch.path("group/Habits.sqlite")
    }

    @Test("share prints the amounts, the proof and the next commands")
    func text() async throws {
        let run = try await Tool.run(["share", old, scratch.path("group")])
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        try #require(run.lines.count == 5, "\(run.output)")
        #expect(run.lines[0].wholeMatch(of: /Shared Habits\.sqlite: 3 rows, [0-9.]+ kB in [0-9.]+ s/) != nil)
        #expect(run.lines[1].hasPrefix("  new  \(new)  proved: files, sqlite, content"))
        #expect(run.lines[2].hasPrefix("  old  \(old) "))
        #expect(run.lines[2].contains("  kept for rollback; writers get an error that names the new path ("))
        #expect(run.lines[3] == "When every process uses the new store:  store-migrate retire \(old)")
        #expect(run.lines[4] == "To go back:                             store-migrate unshare \(old) \(new)")
        #expect(try await SQLiteProgram.content(new) == SQLiteProgram.content(old))
    }

    @Test("A second share ends with status 0 and changes neither store")
    func again() async throws {
        _ = try await Tool.run(["share", old, new])
        let before = try scratch.fingerprint()
        let run = try await Tool.run(["share", old, new])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.hasPrefix("Already shared: "))
        let after = try scratch.fingerprint()
        #expect(after["old/Habits.sqlite"] == before["old/Habits.sqlite"])
        #expect(after["group/Habits.sqlite"] == before["group/Habits.sqlite"])
    }

    @Test("share --json names the transaction, both stores and the next command")
    func json() async throws {
        let run = try await Tool.run(["share", old, new, "--json"])
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        let summary = try #require(try Grammar().check(run).last)
        #expect(summary["outcome"]?.string == "shared")
        #expect(summary["tx"]?.string?.count == 32)
        for (name, path) in [("old", old), ("new", new)] {
            #expect(summary[name]?["path"]?.string == path)
            #expect(summary[name]?["objects"]?.integer == 3)
            #expect(summary[name]?["digest"]?.string?.count == 64)
        }
        #expect(summary["old"]?["digest"] == summary["new"]?["digest"])
        #expect(summary["next"]?.string == "store-migrate retire \(old)")
    }

    @Test("share leaves only the journal's folder, the receipt and the stores")
    func leftBehind() async throws {
        _ = try await Tool.run(["share", old, new])
        #expect(try scratch.names(scratch.path("old")) == [".store-migrate", "Habits.sqlite"])
        #expect(try scratch.names(scratch.path("group")) == [".Habits.sqlite.store-migrate.json", "Habits.sqlite"])
    }

    @Test("share --dry-run and plan print the same and write nothing")
    func dryRun() async throws {
        let before = try scratch.fingerprint()
        let plan = try await Tool.run(["plan", old, new])
        let dry = try await Tool.run(["share", "-n", old, new])
        #expect(plan.status == 0)
        #expect(plan.output == dry.output)
        #expect(plan.lines.first?.hasPrefix("Plan for Habits.sqlite: shared") == true)
        #expect(plan.output.contains("Nothing was written."))
        #expect(try scratch.fingerprint() == before)
    }

    @Test("--group selects the container, and --name the file of the new store")
    func group() async throws {
        let run = try await Tool.runProcess(
            ["share", old, "--group", "group", "--name", "Shared", "--json"],
            environment: ["STORE_MIGRATE_GROUPS": scratch.path]
        )
        #expect(run.status == 0, "\(run.errors)")
        let path = try JSONTree(run.lines.last ?? "")["new"]?["path"]?.string
        #expect(path == scratch.path("group/Shared.sqlite"))
        #expect(FileManager.default.fileExists(atPath: scratch.path("group/Shared.sqlite")))
    }

    @Test(
        "share and retire accept relative paths, and names with spaces, quotes and control characters",
        arguments: ["it's a \"store\" .db", "it's \u{1B}[31m a \"store\"\n.db"]
    )
    func names(_ name: String) async throws {
        try await scratch.store("old/" + name)
        let run = try await Tool.run(["share", "old/" + name, "group"], folder: scratch.path)
        #expect(run.status == 0, "\(run.errors)")
        let json = try await Tool.run(["share", "old/" + name, "group", "--json"], folder: scratch.path)
        let summary = try JSONTree(json.lines.last ?? "")
        #expect(summary["new"]?["path"]?.string == scratch.path("group/" + name))
        let next = try #require(summary["next"]?.string)
        let retire = try await Tool.run(
            command: ["bash", "-c", "store-migrate() { '\(try Tool.path)' \"$@\"; }; \(next)"]
        )
        #expect(retire.status == 0, "\(next): \(retire.errors)")
        #expect(retire.errors.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 })
    }

    @Test("A writer of the old store gets an error that names the new path; readers continue")
    func fence() async throws {
        _ = try await Tool.run(["share", old, new])
        let write = try await Tool.run(command: ["sqlite3", old, "INSERT INTO habit(name) VALUES('late')"])
        #expect(write.status != 0)
        #expect(write.errors.contains(new))
        #expect(try await SQLiteProgram.run(old, "SELECT count(*) FROM habit") == "2\n")
    }

    @Test("share --on-both keep-old prints the path where the replaced store is kept")
    func displacedStore() async throws {
        _ = try await SQLiteProgram.run(
            new,
            "CREATE TABLE habit(id INTEGER PRIMARY KEY, name); INSERT INTO habit VALUES(9, 'new')"
        )
        let run = try await Tool.run(["share", old, new, "--on-both", "keep-old"])
        #expect(run.status == 0, "\(run.errors)")
        let words = run.output.split(separator: " ").map(String.init)
        let path = try #require(words.firstIndex(of: "former").map { words[$0 + 1] })
        #expect(try await SQLiteProgram.run(path, "SELECT name FROM habit") == "new\n")
    }

    @Test("--state puts the journal in that folder, and the printed next command includes it")
    func state() async throws {
        let state = try scratch.folder("state")
        let run = try await Tool.run(["share", old, new, "--state", state])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.lines.dropLast().last?.hasSuffix("retire \(old) --state \(state)") == true)
        #expect(try scratch.names(scratch.path("old")) == ["Habits.sqlite"])
        #expect(try scratch.names(state).isEmpty == false)
        #expect(try await Tool.run(["retire", old, "--state", state]).status == 0)
    }

    @Test("-q prints only the result, and NO_COLOR, --no-color and a pipe disable colours")
    func quiet() async throws {
        let run = try await Tool.run(["share", old, new, "-q", "--no-color"], environment: ["NO_COLOR": "1"])
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        #expect(!run.output.contains("\u{1B}"))
    }
}
