import FoundationEssentials
import StrategyProcess
import Testing

@Suite("merge and share with --resolver", .enabled(if: PluginSandbox.isKernelAble, "needs Landlock"))
struct ResolverVerbTests {
    private let scratch: Scratch

    init() async throws {
        scratch = try Scratch()
        let recipe = Tool.package + "/Fixtures/HabitCalendar/HabitCalendar.yaml"
        for folder in ["shared", "old", "base"] {
            try scratch.folder(folder)
            let built = try await Tool.run(["fixture", "build", recipe, scratch.path("\(folder)/Habits.sqlite")])
            #expect(built.status == 0, "\(built.errors)")
        }
        // A program that root starts runs as an unprivileged user, who needs access to it.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scratch.path)
        for folder in ["shared", "old"] {
            let sql = "UPDATE ZHABIT SET ZNAME = '\(folder)', Z_OPT = Z_OPT + 1 WHERE Z_PK = 1"
            _ = try await SQLiteProgram.run(store(folder), sql)
        }
    }

    private func store(_ folder: String) -> String { scratch.path("\(folder)/Habits.sqlite") }

    private var merge: [String] { ["merge", store("shared"), store("old"), "--base", store("base"), "--scan"] }

    /// A child process writes the file: a descriptor of this process could be inherited, and exec would fail with ETXTBSY.
    private func program(_ script: String) async throws -> String {
        let source = try scratch.file("resolver.source", Array("#!/bin/sh\n\(script)\n".utf8))
        let path = scratch.path("resolver")
        #expect(try await Tool.run(command: ["cp", source, path], folder: scratch.path).status == 0)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }

    /// A program that answers each question with `decision`.
    private static func answering(_ decision: String) -> String {
        #"sed -E 's/.*"number":([0-9]+).*/{"resolution":{"number":\1,DECISION}}/'"#
            .replacing("DECISION", with: decision)
    }

    private func content() async throws -> [[String: String]] {
        try await [SQLiteProgram.content(store("shared")), SQLiteProgram.content(store("old"))]
    }

    private func name() async throws -> String {
        try await SQLiteProgram.run(store("shared"), "SELECT ZNAME FROM ZHABIT WHERE Z_PK = 1")
            .trimmingPrefix { $0.isWhitespace }.description
    }

    @Test(
        "merge takes what the program decides, reports it, and unmerge restores the former value",
        arguments: [
            (#""take":"old""#, "old", "old"), (#""take":"shared""#, "shared", "shared"),
            (#""take":"value","value":{"text":"both"}"#, "both", "value"),
        ]
    )
    func decided(_ decision: String, _ expected: String, _ taken: String) async throws {
        let call = merge + ["--resolver", try await program(Self.answering(decision)), "--policy", "error", "--json"]
        let plan = try await Tool.run(call + ["-n"])
        #expect(plan.status == 0, "\(plan.errors)")
        let run = try await Tool.run(call)
        #expect(run.status == 0, "\(run.errors)")
        let conflicts = try Grammar().check(run).filter { $0["type"]?.string == "conflict" }
        #expect(conflicts.map { $0["taken"]?.string } == [taken])
        #expect(conflicts.map { $0["decidedBy"]?.string } == ["resolver"])
        #expect(try await name().hasPrefix(expected))
        let undo = try await Tool.run(["unmerge", store("shared")])
        #expect(undo.status == 0 || expected == "shared", "\(undo.errors)")
        #expect(try await name().hasPrefix("shared"))
    }

    @Test("The program gets the values of both sides, and share and plan ask it, too")
    func question() async throws {
        let sides =
            #""base":{"kind":"value","value":{"text":"Morning run"}}.*"old":{"kind":"value","value":{"text":"old"}}"#
        let script = #"read -r line; echo "$line" | grep -q 'SIDES' || exit 1; echo "$line" | "#
        let resolver = try await program(
            script.replacing("SIDES", with: sides) + Self.answering(#""take":"value","value":{"text":"both"}"#)
        )
        #expect(try await Tool.run(merge + ["--resolver", resolver]).status == 0)
        #expect(try await name().hasPrefix("both"))

        let resolverOfShare = try await program(Self.answering(#""take":"old""#))
        let call = [store("old"), store("shared"), "--on-both", "merge", "--identity", "Habit=name"]
        let share = try await Tool.run(["share"] + call + ["--resolver", resolverOfShare])
        #expect([0, 4].contains(share.status), "\(share.errors)")
    }

    @Test(
        "A program that hangs, crashes, floods or answers wrongly ends the merge with status 1 and one line; nothing changed",
        arguments: [
            ("sleep 600", "it did not answer within 0.4 seconds"), ("exit 0", "it ended with 0 of 1 answers"),
            ("kill -SEGV $$", "it ended with 0 of 1 answers"), ("echo no >&2; exit 3", "and wrote: no"),
            ("yes", "its answer cannot be read"), ("yes | tr -d '\\n'", "it sent more than"),
            ("echo '{}'", "its answer cannot be read"),
            (#"echo '{"resolution":{"number":2,"take":"old"}}'"#, "it answered conflict 2 where 1 was asked"),
            (answering(#""take":"old""#) + "; echo x", "it sent more answers than it got questions"),
            (answering(#""take":"value","value":{"integer":1}"#), "a value of another kind"),
            (answering(#""take":"value","value":{"text":"a","real":1}"#), "a value is null or has one member"),
            (answering(#""take":"value""#), "a decision for a value has none"),
            (answering(#""take":"secret""#), "a decision takes old, shared or value"),
            (answering(#""take":"value","value":{"real":"nan"}"#), "it is no number"),
            (#"echo '{"failure":{"message":"ask a person"}}'"#, "the program resolver says: ask a person"),
        ]
    )
    func hostile(_ script: String, _ message: String) async throws {
        let resolver = try await program(script)
        let before = try await content()
        let timeout = script.hasPrefix("sleep") ? ["--plugin-timeout", "400ms"] : []
        let run = try await Tool.run(merge + ["--resolver", resolver, "--json"] + timeout)
        #expect(run.status == 1, "\(run.output)")
        #expect(run.errorLines.count == 1 && run.errors.contains(message), "\(run.errors)")
        #expect(!run.errors.contains("secret") && !run.errors.contains("strategy"), "\(run.errors)")
        #expect(
            !run.errors.contains("the program resolver")
                || run.errors.contains("Fix the program, or run the command without it."),
            "\(run.errors)"
        )
        #expect(try Grammar().check(run).last?["outcome"]?.string == "failed")
        #expect(try await content() == before)
    }
}
