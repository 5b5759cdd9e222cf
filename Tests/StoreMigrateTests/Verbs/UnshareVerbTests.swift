import FoundationEssentials
import StoreAccess
import Testing

@Suite("Verb unshare")
struct UnshareVerbTests {
    private let scratch: Scratch
    private var old: String { scratch.path("a/s.sqlite") }
    private var new: String { scratch.path("b/s.sqlite") }

    init() async throws {
        scratch = try Scratch()
        for folder in ["a", "b"] { try scratch.folder(folder) }
        try await scratch.store("a/s.sqlite")
    }

    /// Shares, then writes different values of one row to the old and the new store.
    private func disagree() async throws {
        let share = try await Tool.run(["share", old, scratch.path("b"), "--old", "capture"])
        #expect(share.status == 0, "\(share.errors)")
        try await SQLiteProgram.run(old, "UPDATE habit SET name = 'late' WHERE id = 1")
        try await SQLiteProgram.run(new, "UPDATE habit SET name = 'shared' WHERE id = 1")
    }

    @Test("unshare prints a conflict with both values and the file of the losing row")
    func conflictInText() async throws {
        try await disagree()

        let run = try await Tool.run(["unshare", old, scratch.path("b")])

        #expect(run.status == 0, "\(run.errors)")
        for words in ["Unshared:", "late writes, merged first:", "1 conflict", "late", "shared", "losing rows"] {
            #expect(run.output.contains(words), "\(run.output)")
        }
        let line = try #require(run.output.split(separator: "\n").first { $0.contains("losing rows") })
        let file = try #require(line.split(separator: " ").last.map(String.init))
        #expect(try String(contentsOf: URL(filePath: file), encoding: .utf8).contains("late"))
        #expect(try await SQLiteProgram.run(old, "SELECT name FROM habit WHERE id = 1").contains("shared"))
    }

    @Test("unshare includes a conflict in its JSON and in its report")
    func conflictInJSON() async throws {
        try await disagree()

        let page = scratch.path("page.html")
        let run = try await Tool.run(["unshare", old, new, "--json", "--report", page])

        #expect(run.status == 0, "\(run.errors)")
        let lines = try Grammar().check(run)
        let merge = try #require(lines.first { $0["type"]?.string == "merge" })
        #expect(merge["into"]?.string == new)
        #expect(merge["from"]?.string == old)
        #expect(merge["parkedRows"]?.string?.hasSuffix(".parked.jsonl") == true)
        #expect(lines.contains { $0["type"]?.string == "conflict" && $0["taken"]?.string == "shared" })
        let text = try String(contentsOf: URL(filePath: page), encoding: .utf8)
        #expect(text.contains("Unshared s.sqlite") && text.contains("shared") && text.contains("late"))
    }

    @Test("unshare -n writes nothing, --policy error ends with status 4, and --policy late keeps the old value")
    func options() async throws {
        try await disagree()
        let before = try scratch.fingerprint()

        let plan = try await Tool.run(["unshare", old, new, "-n", "--json"])
        #expect(plan.status == 0, "\(plan.errors)")
        #expect(try Grammar().check(plan).contains { $0["type"]?.string == "plan" })
        for extra in [["-n"], []] {
            let strict = try await Tool.run(["unshare", old, new, "--policy", "error"] + extra)
            #expect(strict.status == 4, "\(strict.errors)")
        }
        #expect(try scratch.fingerprint(withFolderTimes: false).keys == before.keys)

        let late = try await Tool.run(["unshare", old, new, "--policy", "late"])
        #expect(late.status == 0, "\(late.errors)")
        #expect(try await SQLiteProgram.run(old, "SELECT name FROM habit WHERE id = 1").contains("late"))
    }

    @Test(
        "A killed unshare never leaves two stores that take writes, and the next one brings every row back",
        arguments: ["fence", "capture"],
        [TriggerPoint.publishing, .placed]
    )
    func killed(policy: String, moment: TriggerPoint) async throws {
        let share = try await Tool.run(["share", old, scratch.path("b"), "--old", policy])
        #expect(share.status == 0, "\(share.errors)")
        try await SQLiteProgram.run(new, "INSERT INTO habit (name) VALUES ('new')")
        try Tool.kill(["unshare", old, new, "--level", "content"], in: scratch.path, at: moment)
        let insert = ["sqlite3", new, "INSERT INTO habit (name) VALUES ('after')"]
        let isRefused = try await Tool.run(command: insert).status != 0
        #expect(isRefused == (moment == .placed))

        let run = try await Tool.run(["unshare", old, new])

        #expect(run.status == 0, "\(run.errors)")
        let names = try await SQLiteProgram.run(
            old,
            "SELECT group_concat(name) FROM habit WHERE name IN ('new', 'after')"
        )
        #expect(names == (isRefused ? "new\n" : "new,after\n"))
    }

    @Test("Stores with logs are shared, merged, unshared and retired without space for private copies")
    func withoutTemporarySpace() async throws {
        let nowhere = ["TMPDIR": scratch.path("nowhere")]
        try await SQLiteProgram.run(old, "PRAGMA journal_mode = WAL")
        let insert = "INSERT INTO habit (name) VALUES"
        func call(_ words: String...) async throws {
            let run = try await Tool.run(words, environment: nowhere)
            #expect(run.status == 0, "\(words): \(run.output)\(run.errors)")
        }
        /// Commits without a checkpoint.
        func write(_ store: String, _ name: String) async throws {
            let words = ["sqlite3", store, ".filectrl persist_wal 1", "PRAGMA wal_autocheckpoint = 0"]
            let run = try await Tool.run(command: words + ["\(insert) ('\(name)')", ".dbconfig no_ckpt_on_close on"])
            #expect(run.status == 0, "\(run.errors)")
            let log = try FileManager.default.attributesOfItem(atPath: store + "-wal")
            #expect(try #require(log[.size] as? Int) > 0)
        }
        try await call("share", old, scratch.path("b"), "--old", "capture")
        try await write(new, "new")
        try await write(old, "late")
        try await call("share", old, scratch.path("b"))
        try await call("status", old, new)
        try await write(new, "newer")
        try await call("unshare", old, new)
        let names = "SELECT group_concat(name) FROM habit WHERE name IN ('new', 'late', 'newer')"
        #expect(try await SQLiteProgram.run(old, names).split(separator: ",").count == 3)
        try await call("share", old, scratch.path("b"))
        try await call("retire", old)
    }

    @Test("A defect that both stores have stops neither unshare nor retire", arguments: ["unshare", "retire"])
    func inheritedDefect(verb: String) async throws {
        let broken = """
            CREATE TABLE checked (x CHECK (x > 0));
            PRAGMA ignore_check_constraints = 1;
            INSERT INTO checked VALUES (0)
            """
        try await SQLiteProgram.run(old, broken)
        let share = try await Tool.run(["share", old, scratch.path("b")])
        #expect(share.status == 0, "\(share.errors)")

        let run = try await Tool.run([verb, old, new])

        #expect(run.status == 0, "\(run.errors)")
    }
}
