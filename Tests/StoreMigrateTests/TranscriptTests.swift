import FoundationEssentials
import Testing

@Suite("The README's transcript")
struct TranscriptTests {
    @Test("Typing its commands gives its answers, but for sizes and times")
    func transcript() async throws {
        let scratch = try Scratch()
        for name in ["app", "group.app"] { try scratch.folder(name) }
        let told = try Readme.block("transcript")
        let commands = told.filter { $0.hasPrefix("$ ") }.map { $0.dropFirst(2) }
        #expect(commands.count >= 3)
        var answer: [String] = []
        for command in commands {
            let run = try await Tool.run(
                command: ["bash", "-c", "store-migrate() { '\(try Tool.path)' \"$@\"; }; \(command)"],
                environment: ["HOME": scratch.path],
                folder: Tool.package
            )
            #expect(run.errors.isEmpty)
            answer += ["$ " + command] + run.lines
        }
        #expect(answer.map { shape($0, home: scratch.path) } == told.map { shape($0, home: scratch.path) })
    }

    /// A line without what differs from run to run: the home folder, numbers with a unit, run numbers, and padding.
    private func shape(_ line: String, home: String) -> String {
        line.replacing(home, with: "~")
            .replacing(/[0-9][0-9.,]* (bytes|kB|MB|GB|s)\b/) { "N \($0.1)" }
            .replacing(/\b[0-9a-f]{32}\b/, with: "TX")
            .replacing(/\x20+/, with: " ")
    }
}
