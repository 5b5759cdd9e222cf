import FoundationEssentials
import TestSupport
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
        #expect(
            run.lines[2].contains("  kept for rollback; now refuses writes with an error that names the new path (")
        )
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
        #expect(plan.lines.first?.hasPrefix("Plan for Habits.sqlite: would share") == true)
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

    @Test("share says what is in force: a capture stays until a fence is named, and a writer confirms it")
    func policyInForce() async throws {
        func line() async throws -> (text: String, json: String?) {
            let run = try await Tool.run(["share", old, new])
            let json = try await Tool.run(["share", old, new, "--json"])
            let text = try #require(run.lines.first { $0.hasPrefix("  old") })
            return (text, try JSONTree(json.lines.last ?? "")["policy"]?.string)
        }
        let write = ["sqlite3", old, "INSERT INTO habit(name) VALUES('late')"]
        #expect(try await Tool.run(["share", old, new, "--old", "capture"]).output.contains("next share merges them"))
        for _ in 1...2 {
            #expect(try await Tool.run(command: write).status == 0)
            let (text, json) = try await line()
            #expect(text.hasSuffix("writes are still accepted, and the next share merges them"))
            #expect(json == "capture")
        }
        let status = try await Tool.run(["status", old, new])
        #expect(status.output.contains("writes are accepted"))

        #expect(try await Tool.run(["share", old, new, "--old", "fence"]).output.contains("now refuses writes"))
        #expect(try await line().json == "fence")
        #expect(try await Tool.run(command: write).status != 0)
    }

    @Test("share names the process that has the old store open, in text and in JSON")
    func holders() async throws {
        func share(_ words: String) async throws -> Tool.Run {
            let call = "exec 9<'\(old)'; ('\(try Tool.path)' share '\(old)' '\(new)' \(words) 9<&-); exit $?"
            return try await Tool.run(command: ["bash", "-c", call])
        }
        let text = try await share("")
        #expect(text.status == 0, "\(text.errors)")
        #expect(text.output.contains(/the old store is open in process \d+ \(bash\): its writes are refused until/))
        let json = try Grammar().check(try await share("--json"))
        #expect(
            json.contains { $0["code"]?.string == "oldStoreOpen" && $0["message"]?.string?.contains("(bash)") == true }
        )
    }

    @Test("The printed next share repeats the options of the run")
    func repeatedOptions() async throws {
        let third = scratch.path("group/third.sqlite")
        _ = try await Tool.run(["share", old, new, "-q"])
        _ = try await Tool.run(["share", new, third, "-q"])
        let other = try await scratch.store("old/Other.sqlite")
        let options = ["--old", "capture", "--level=content", "--allow-network-fs", "--policy", "late"]
        let run = try await Tool.run(["share", other, new, "--json"] + options)
        #expect(run.status == 4)
        let next = try JSONTree(run.lines.last ?? "")["next"]?.string
        #expect(next == "store-migrate share \(other) \(third) " + options.joined(separator: " "))
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

    @Test(
        "status, resume and a repeated share name the store that an interrupted share replaced",
        arguments: ["resume", "share"]
    )
    func displacedByInterruptedShare(verb: String) async throws {
        let schema = "CREATE TABLE habit(id INTEGER PRIMARY KEY, name);"
        _ = try await SQLiteProgram.run(new, "\(schema) INSERT INTO habit VALUES(9, 'new')")
        let plain = try scratch.folder("plain") + "/Habits.sqlite"
        _ = try await SQLiteProgram.run(plain, "\(schema) INSERT INTO habit VALUES(1, 'old')")
        // A reader delays the fence of a store with a rollback journal.
        let reader = try StoreWriterProcess(plain)
        _ = try reader.execute("BEGIN")
        _ = try reader.execute("SELECT * FROM habit")
        let words = ["share", plain, new, "--on-both", "keep-old", "--lock-timeout", "100ms"]
        #expect(try await Tool.run(words).status == 6)
        let status = try await Tool.run(["status", plain, new])
        #expect(reader.waitForExit() == 0)
        let end = try await Tool.run(verb == "share" ? words : ["resume", plain])
        #expect(end.status == 0, "\(end.errors)")
        for run in [status, end, try await Tool.run(["status", plain, new])] {
            let words = run.output.split(separator: " ").map(String.init)
            let path = try #require(words.firstIndex(of: "former").map { words[$0 + 1] }, "\(run.output)")
            #expect(try await SQLiteProgram.run(path, "SELECT name FROM habit") == "new\n")
        }
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

    @Test("Defects that the old store already had are one line of the result")
    func inheritedDefects() async throws {
        let scratch = try Scratch()
        let old = scratch.path("S.sqlite")
        let recipe = Tool.package + "/Fixtures/Stores/dangling-relationship/recipe.yaml"
        #expect(try await Tool.run(["fixture", "build", recipe, old]).status == 0)
        let run = try await Tool.run(["share", old, scratch.path("T.sqlite"), "--level", "coredata"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            run.lines.contains {
                $0.hasPrefix("  1 defect that the old store already had, such as: ")
                    && $0.hasSuffix("; all of them: store-migrate verify \(old)")
            },
            "\(run.output)"
        )
    }

    @Test("plan and status name the program that has the old store open")
    func openElsewhere() async throws {
        let scratch = try Scratch()
        let old = try await scratch.store("S.sqlite")
        let holder = try ChildProgram(["tail", "-f", old], errors: .discarded)
        defer {
            holder.signal(9)
            _ = holder.wait()
        }
        _ = holder.available()
        let plan = try await Tool.run(["plan", old, scratch.path("T.sqlite")])
        #expect(
            plan.output.contains("the old store is open in process ") && plan.output.contains("(tail)"),
            "\(plan.output)"
        )
        let status = try await Tool.run(["status", old, scratch.path("T.sqlite")])
        #expect(status.output.contains("(tail)"), "\(status.output)")
    }

}
