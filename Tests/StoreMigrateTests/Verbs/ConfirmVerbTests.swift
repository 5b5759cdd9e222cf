import FoundationEssentials
import StrategyProcess
import Testing

@Suite("share --confirm", .enabled(if: PluginSandbox.isKernelAble, "needs Landlock"))
struct ConfirmVerbTests {
    private let scratch: Scratch
    private let old: String
    private let new: String

    init() async throws {
        scratch = try Scratch()
        try scratch.folder("old")
        try scratch.folder("group")
        old = try await scratch.store("old/Habits.sqlite")
        new = scratch.path("group/Habits.sqlite")
        // A program that root starts runs as an unprivileged user, who needs access to it.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scratch.path)
    }

    /// A child process writes the file: a descriptor of this process could be inherited, and exec would fail with ETXTBSY.
    private func program(_ script: String, mode: Int = 0o755) async throws -> String {
        let source = try scratch.file("confirm.source", Array("#!/bin/sh\n\(script)\n".utf8))
        let path = scratch.path("confirm")
        #expect(try await Tool.run(command: ["cp", source, path], folder: scratch.path).status == 0)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    @Test("A program that ends with 0 lets the share go on, and gets the lines that plan --json prints")
    func accepted() async throws {
        let plan = try await Tool.run(["plan", old, new, "--json", "--progress", "none"])
        let lines = plan.lines.dropLast()
        // The shell's own quoting keeps the expected plan in one word.
        let next = "share \(old) \(new)"
        let expected = lines.joined(separator: "\n")
            .replacing(next, with: next + " --confirm \(scratch.path("confirm"))")
        #expect(!expected.contains("'"))
        let confirm = try await program("[ \"$(cat)\" = '\(expected)' ]")
        let run = try await Tool.run(["share", old, new, "--confirm", confirm])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try await SQLiteProgram.content(new) == SQLiteProgram.content(old))
    }

    @Test("A caller that ignores the end of its children does not hide that of the program")
    func ignoredChildren() async throws {
        let ignoring = ["perl", "-e", "$SIG{CHLD} = 'IGNORE'; exec @ARGV or die", "--"]
        let words = try ["share", old, new, "--confirm", await program("exit 0")]
        let run = try await Tool.run(command: ignoring + [try Tool.path] + words)
        #expect(run.status == 0, "\(run.errors)")
    }

    @Test(
        "A program that declines or fails stops the share with one line, and nothing is changed",
        arguments: [
            ("exit 1", 130, "the plan was declined"),
            ("echo no >&2; exit 3", 1, "ended with status 3, not 0 or 1, and wrote: no"),
            (#"exec perl -e 'print unpack("p", pack("L!", 1))'"#, 1, "ended with signal 11"),
            ("yes", 1, "it sent more than"),
            ("sleep 600", 1, "it did not answer within 0.4 seconds"),
        ]
    )
    func stopped(_ script: String, _ status: Int32, _ message: String) async throws {
        let confirm = try await program(script)
        let before = try scratch.fingerprint(withFolderTimes: false)
        let timeout = script.hasPrefix("sleep") ? ["--plugin-timeout", "400ms"] : []
        let run = try await Tool.run(["share", old, new, "--confirm", confirm, "--json"] + timeout)
        #expect(run.status == status)
        #expect(run.errorLines.count == 1 && run.errors.contains(message), "\(run.errors)")
        let summary = try #require(try Grammar().check(run).last)
        #expect(summary["outcome"]?.string == (status == 130 ? "cancelled" : "failed"))
        #expect(try scratch.fingerprint(withFolderTimes: false) == before)
    }

    @Test("A missing program, and one that is not executable, stop the share before anything is read")
    func unusable() async throws {
        let missing = try await Tool.run(["share", old, new, "--confirm", scratch.path("none")])
        #expect(missing.status == 1)
        #expect(missing.errors.contains("there is no program \(scratch.path("none"))"), "\(missing.errors)")
        let confirm = try await program("exit 0", mode: 0o644)
        let run = try await Tool.run(["share", old, new, "--confirm", confirm])
        #expect(run.status == 1)
        #expect(run.errors.contains("it is not executable"), "\(run.errors)")
        #expect(try scratch.names(scratch.path("group")).isEmpty)
    }

    @Test("A share with nothing to do, and one with -n, ask nothing")
    func unasked() async throws {
        let confirm = try await program("exit 1")
        #expect(try await Tool.run(["share", old, new, "--confirm", confirm, "-n"]).status == 0)
        #expect(try await Tool.run(["share", old, new]).status == 0)
        let run = try await Tool.run(["share", old, new, "--confirm", confirm])
        #expect(run.output.hasPrefix("Already shared"), "\(run.errors)")
    }
}
