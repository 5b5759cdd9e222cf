import Testing

@testable import store_migrate

@Suite("Help and version")
struct HelpTests {
    static let verbs = CommandTree.names(below: StoreMigrate.self)

    @Test("The help of every verb ends with its exit statuses", arguments: verbs)
    func help(_ words: [String]) async throws {
        let run = try await Tool.run(words + ["--help"])
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        let verb = try #require(CommandTree.verb(of: words))
        #expect(run.output.hasSuffix(ExitStatusTable.text(for: verb.outcomes) + "\n"))
        #expect(run.output.contains("USAGE: store-migrate \(words.joined(separator: " "))"))
        #expect(try await Tool.run(["help"] + words).output == run.output)
    }

    @Test("--version prints the versions of the tool, SQLite and Swift")
    func version() async throws {
        let run = try await Tool.run(["--version"])
        #expect(run.status == 0)
        let names = run.lines.compactMap { $0.split(separator: " ").first }
        #expect(names == ["store-migrate", "SQLite", "Swift"])
    }
}
