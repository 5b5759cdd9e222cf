import FoundationEssentials
import Testing

/// What the caller of a share chose, and later shares keep.
@Suite("Recorded choices")
struct ChoicesTests {
    private let scratch: Scratch
    private let old: String
    private let new: String

    init() async throws {
        scratch = try Scratch()
        try scratch.folder("old")
        try scratch.folder("new")
        old = scratch.path("old/H.sqlite")
        new = scratch.path("new/H.sqlite")
        let recipe = Tool.package + "/Fixtures/HabitCalendar/HabitCalendar.yaml"
        _ = try await Tool.run(["fixture", "build", recipe, old])
    }

    private func share(_ words: String..., status: Int32 = 0) async throws -> Tool.Run {
        let run = try await Tool.run(["share", old, new, "--level", "files"] + words)
        #expect(run.status == status, "\(run.output)\(run.errors)")
        return run
    }

    /// Gives a habit another name in both stores.
    private func rename(_ number: Int) async throws {
        for (store, name) in [(old, "late"), (new, "shared")] {
            try await SQLiteProgram.run(
                store,
                "UPDATE ZHABIT SET ZNAME = '\(name)', Z_OPT = Z_OPT + 1 WHERE Z_PK = \(number)"
            )
        }
    }

    private func name(_ number: Int) async throws -> String {
        try await SQLiteProgram.run(new, "SELECT ZNAME FROM ZHABIT WHERE Z_PK = \(number)")
    }

    private static let accepted = "writes are still accepted, and the next share merges them"

    @Test(
        "After an unshare status has nothing to do, and the next share captures and merges by the recorded choices"
    )
    func unshared() async throws {
        _ = try await share("--old", "capture", "--policy", "late")
        #expect(try await Tool.run(["unshare", old, new, "--level", "files"]).status == 0)
        let status = try await Tool.run(["status", old, new, "--check"])
        #expect(status.status == 0 && status.output.contains("unshared"), "\(status.output)")
        #expect(status.output.hasSuffix("There is nothing to do.\n"))
        #expect(try await share().output.contains(Self.accepted))
        try await rename(1)
        #expect(try await share().output.contains("1 conflict"))
        #expect(try await name(1) == "late\n")
        // Another choice replaces the recorded one.
        _ = try await share("--old", "fence")
        #expect(try await share().output.contains("now refuses writes"))
    }

    @Test("A share without the former state folder is refused while that folder has the record of the pair")
    func otherStateFolder() async throws {
        let state = try scratch.folder("state")
        _ = try await share("--old", "capture", "--state", state)
        // A second journal would carry rows again that the new store's programs have deleted since.
        let refused = try await share(status: 4)
        #expect(refused.errors.contains("recorded in another state folder: \(state)"), "\(refused.errors)")
        #expect(refused.errors.hasSuffix(" --state \(state)\n"), "\(refused.errors)")
        #expect(try !scratch.names(scratch.path("old")).contains(".store-migrate"))
    }

    @Test("A share whose former state folder is lost keeps the capture, and the base that merges late writes")
    func lostStateFolder() async throws {
        let state = try scratch.folder("state")
        _ = try await share("--old", "capture", "--state", state)
        try FileManager.default.removeItem(atPath: state)
        #expect(try await share().output.contains(Self.accepted))
        try await SQLiteProgram.run(old, "UPDATE ZHABIT SET ZNAME = 'late', Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
        #expect(try await share().output.hasPrefix("Merged"))
        #expect(try await name(1) == "late\n")
    }

    @Test("A merge policy that is named while there is nothing to do is the policy of the next merge")
    func policyOfIdleShare() async throws {
        _ = try await share("--old", "capture")
        _ = try await share("--policy", "late")
        _ = try await share()
        try await rename(1)
        _ = try await share()
        #expect(try await name(1) == "late\n")
        try await rename(2)
        _ = try await share("--policy", "shared")
        #expect(try await name(2) == "shared\n")
        try await rename(3)
        _ = try await share()
        #expect(try await name(3) == "shared\n")
    }

    @Test("Capturing a store that has the new one's content keeps a base, so that late writes are merged")
    func equalContents() async throws {
        _ = try await Tool.run(command: ["cp", "-a", scratch.path("old") + "/.", scratch.path("new")])
        #expect(try await share("--old", "capture").output.contains(Self.accepted))
        try await SQLiteProgram.run(old, "UPDATE ZHABIT SET ZNAME = 'late', Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
        _ = try await share()
        #expect(try await name(1) == "late\n")
    }

    @Test("A decision for the new store can be revised: keep-old and merge then bring the rows that were left")
    func revised() async throws {
        let (a, b) = (scratch.path("a.db"), scratch.path("b.db"))
        let kept = scratch.path("c.db")
        for (path, value) in [(a, "old"), (b, "new"), (kept, "new")] {
            try await SQLiteProgram.run(path, "CREATE TABLE t(a); INSERT INTO t VALUES('\(value)')")
        }
        let undecided = try await Tool.run(["share", a, b])
        #expect(undecided.status == 4)
        #expect(undecided.errors.contains("--on-both merge, keep-old or keep-new"), "\(undecided.errors)")
        #expect(try await Tool.run(["share", a, b, "--on-both", "keep-new"]).status == 0)
        let revised = try await Tool.run(["share", a, b, "--on-both", "keep-old"])
        #expect(revised.status == 0 && revised.output.hasPrefix("Shared a.db"), "\(revised.output)\(revised.errors)")
        #expect(revised.output.contains("the store that was at the new path, kept whole"))
        #expect(try await SQLiteProgram.run(b, "SELECT a FROM t") == "old\n")
        #expect(try await Tool.run(["status", a, b, "--check"]).status == 0)
        // Rows that are not identified are inserted, as by a merge without a former decision.
        let other = scratch.path("d.db")
        try await SQLiteProgram.run(other, "CREATE TABLE t(a); INSERT INTO t VALUES('old')")
        #expect(try await Tool.run(["share", other, kept, "--on-both", "keep-new"]).status == 0)
        let merged = try await Tool.run(["share", other, kept, "--on-both", "merge"])
        #expect(merged.status == 0 && merged.output.hasPrefix("Merged d.db"), "\(merged.output)\(merged.errors)")
        #expect(try await SQLiteProgram.run(kept, "SELECT a FROM t ORDER BY a") == "new\nold\n")
    }

    @Test("A merge that its policy stops leads to the differences, which show the conflicts")
    func policyError() async throws {
        _ = try await share("--old", "capture", "--policy", "error")
        try await rename(1)
        for words in [["share", old, new], ["merge", new, old, "--policy", "error"]] {
            let run = try await Tool.run(words)
            #expect(run.status == 4 && run.errors.contains("Next: store-migrate diff"), "\(run.errors)")
            #expect(run.errors.contains("the policy leaves 1 conflict undecided"), "\(run.errors)")
            #expect(run.errors.contains("choose a policy that decides them"), "\(run.errors)")
        }
        #expect(try await Tool.run(["diff", old, new]).output.contains("Habit"))
    }
}
