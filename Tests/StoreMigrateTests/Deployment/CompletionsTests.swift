import Testing

@testable import store_migrate

@Suite("Shell completions")
struct CompletionsTests {
    @Test("The script of every shell contains every verb and no internal command", arguments: ["bash", "zsh", "fish"])
    func verbs(_ shell: String) async throws {
        let run = try await Tool.run(["--generate-completion-script", shell])
        #expect(run.status == 0)
        for words in CommandTree.names(below: StoreMigrate.self) {
            for word in words { #expect(run.output.contains(word), "\(words)") }
        }
        #expect(!run.output.contains(ProbeWriterCommand.word))
    }

    @Test("The bash completion script passes the syntax check of bash")
    func bash() async throws {
        let script = try await Tool.run(["--generate-completion-script", "bash"]).output
        let scratch = try Scratch()
        let run = try await Tool.run(command: ["bash", "-n", try scratch.file("completions", Array(script.utf8))])
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    }
}
