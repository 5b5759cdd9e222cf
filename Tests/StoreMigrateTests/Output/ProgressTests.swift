import FoundationEssentials
import Testing

@Suite("Progress")
struct ProgressTests {
    private let scratch: Scratch
    private let call: [String]

    init() async throws {
        scratch = try Scratch()
        try scratch.folder("new")
        let old = try await scratch.store("H.db")
        call = ["share", old, scratch.path("new")]
    }

    @Test("On a terminal, progress is a line on standard error that is redrawn and removed at the end")
    func terminal() async throws {
        let words = ([try Tool.path] + call).map { "'\($0)'" }.joined(separator: " ")
        // The result goes to a file, so that the terminal shows only standard error.
        let script = "\(words) > '\(scratch.path("result"))'"
        let run = try await Tool.run(command: ["script", "-qec", script, "/dev/null"], environment: ["TERM": "xterm"])
        #expect(run.status == 0, "\(run.output)")
        let drawn = run.output.split(separator: "\r", omittingEmptySubsequences: true)
        #expect(drawn.contains { $0.hasPrefix("\u{1B}[2Kcopying") }, "\(drawn)")
        #expect(drawn.contains { $0.hasPrefix("\u{1B}[2Kproving") }, "\(drawn)")
        #expect(run.output.hasSuffix("\r\u{1B}[2K"))
        let result = try String(contentsOf: URL(filePath: scratch.path("result")), encoding: .utf8)
        #expect(result.hasPrefix("Shared H.db"))
        #expect(!result.contains("\u{1B}"))
    }

    @Test("Results are coloured on a terminal, unless NO_COLOR or --no-color is set")
    func colours() async throws {
        let words = ([try Tool.path] + call + ["--progress", "none"]).map { "'\($0)'" }.joined(separator: " ")
        for (prefix, suffix, isColoured) in [("", "", true), ("NO_COLOR=1 ", "", false), ("", " --no-color", false)] {
            let run = try await Tool.run(
                command: ["script", "-qec", prefix + words + suffix, "/dev/null"],
                environment: ["TERM": "xterm"]
            )
            #expect(run.output.contains("\u{1B}[32m") == isColoured, "\(run.output)")
        }
    }

    @Test("Without a terminal and without --progress, no progress is printed")
    func pipe() async throws {
        let run = try await Tool.run(call)
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
    }

    @Test("--progress plain prints a line on standard error for each phase")
    func plain() async throws {
        let run = try await Tool.run(call + ["--progress", "plain"])
        #expect(run.status == 0)
        #expect(run.errorLines.allSatisfy { $0.wholeMatch(of: /[a-z]+( [0-9]+ %)?/) != nil }, "\(run.errors)")
        for phase in ["copying", "proving"] { #expect(run.errorLines.contains { $0.hasPrefix(phase) }) }
        #expect(run.output.hasPrefix("Shared"))
    }

    @Test("--json prints progress objects on standard output, unless --progress none is given")
    func records() async throws {
        let run = try await Tool.run(call + ["--json"])
        let phases = try Grammar().check(run).filter { $0["type"]?.string == "progress" }
            .compactMap { $0["phase"]?.string }
        for phase in ["copying", "proving"] { #expect(phases.contains(phase), "\(phases)") }
        #expect(run.errors.isEmpty)
        try FileManager.default.removeItem(atPath: scratch.path("new/H.db"))
        let silent = try await Tool.run(call + ["--json", "--progress", "none"])
        #expect(!silent.output.contains("\"progress\""))
    }
}
