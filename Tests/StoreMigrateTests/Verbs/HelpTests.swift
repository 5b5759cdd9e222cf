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

    @Test(
        "The help explains each policy in a sentence, and names the default",
        arguments: [
            [
                "A fence is a set of triggers: programs that still write to the old store get an error that names the new path."
            ],
            [
                "With --old capture the old store stays writable instead, and running share again merges what was written to it."
            ],
            ["fence (writers get an error that names the new path)", "(default: that of the last share, else fence)"],
            ["capture (it stays writable, and the next share merges what was written)"],
            ["keep-old (OLD's content replaces NEW's, of which a copy is kept)", "default: fail"],
            ["keep-new (NEW stays unchanged, and OLD's rows are only in OLD)"],
            ["Which value wins where both sides changed it: shared (the receiving store's)", "(default: shared)"],
        ]
    )
    func policies(_ sentences: [String]) async throws {
        let help = try await Tool.run(["share", "--help"]).output.split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        for sentence in sentences { #expect(help.contains(sentence)) }
    }

    @Test("merge and share name the levels once, all five of them", arguments: ["merge", "share", "verify"])
    func levels(_ verb: String) async throws {
        let help = try await Tool.run([verb, "--help"]).output.split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        #expect(
            help.contains("a level includes those before it. (values: files, sqlite, coredata, content, merging")
        )
        #expect(help.split(separator: "sqlite, coredata").count == 2, "\(help)")
    }

    @Test("The usage of every verb is one line of at most 90 characters, and lists its arguments", arguments: verbs)
    func usage(_ words: [String]) async throws {
        let lines = try await Tool.run(words + ["--help"]).lines
        let index = try #require(lines.firstIndex { $0.hasPrefix("USAGE: ") })
        #expect(lines[index].count <= 90 && !lines[index + 1].hasPrefix(" "), "\(lines[index...].prefix(2))")
        let names = lines.compactMap { $0.firstMatch(of: /^  (<[a-z-]+>)/)?.1 }
        for name in names { #expect(lines[index].contains(name)) }
    }

    @Test("The help of a group of verbs lists the verbs, and leaves the exit statuses to theirs")
    func groups() async throws {
        let groups = Set(Self.verbs.filter { $0.count > 1 && !Self.verbs.contains([$0[0]]) }.map { $0[0] })
        #expect(groups.contains("container"))
        for group in groups {
            let run = try await Tool.run([group, "--help"])
            #expect(run.status == 0 && run.output.contains("SUBCOMMANDS:"))
            #expect(!run.output.contains("EXIT STATUS"))
        }
        #expect(try await Tool.run(["--help"]).output.contains("EXIT STATUS"))
    }

    @Test("--version prints the versions of the tool, SQLite and Swift")
    func version() async throws {
        let run = try await Tool.run(["--version"])
        #expect(run.status == 0)
        let names = run.lines.compactMap { $0.split(separator: " ").first }
        #expect(names == ["store-migrate", "SQLite", "Swift"])
        #expect(try await Tool.run(["--help"]).output.contains("--version  "))
    }

    @Test(
        "A wrong option beside --version NAME ends with status 2, because only the tool has a --version without a name",
        arguments: [["migrate", "s.db", "--model", "m"], ["share", "a.db", "b.db", "--model", "m", "--migrate"]]
    )
    func versionOfModel(_ words: [String]) async throws {
        let run = try await Tool.run(words + ["--version", "Second", "--bogus"])
        #expect(run.status == 2 && run.output.isEmpty && run.errors.contains("'--bogus'"), "\(run.output)\(run.errors)")
        let help = try await Tool.run(words.prefix(1) + ["--help"])
        #expect(help.output.split(separator: "--version").count == 2, "\(help.output)")
        #expect(try await Tool.run(["merge", "--version"]).status == 2)
    }
}
