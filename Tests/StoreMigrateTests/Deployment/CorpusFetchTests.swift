import FoundationEssentials
import Testing

/// `make corpus`, with local repositories in place of those in the list.
@Suite("Fetching the corpus of genuine stores")
struct CorpusFetchTests {
    private static let program = Tool.package + "/Tests/Corpus/fetch"
    private static let files = ["tests/a store.sqlite": "main", "tests/a store.sqlite-wal": "log", "other": "other"]

    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func run(_ words: [String], folder: String? = nil) async throws -> Tool.Run {
        try await Tool.run(
            command: words,
            environment: [
                "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": "url.file://\(scratch.path("mirrors"))/.insteadOf",
                "GIT_CONFIG_VALUE_0": "https://github.com/",
            ],
            folder: folder
        )
    }

    private func git(_ words: [String], in folder: String) async throws -> String {
        let run = try await run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c"] + words, folder: folder)
        #expect(run.status == 0, "\(words): \(run.errors)")
        return run.output.split(separator: "\n").first.map(String.init) ?? ""
    }

    /// Makes the repository, and a list of its files as `store` names them.
    private func makeList(
        _ lines: (_ commit: String, _ digest: (String) async throws -> String) async throws -> [String]
    )
        async throws -> String
    {
        let folder = try scratch.folder("mirrors/owner/name")
        try scratch.folder("mirrors/owner/name/tests")
        for (name, text) in Self.files { try scratch.file("mirrors/owner/name/" + name, Array(text.utf8)) }
        for words in [
            ["init", "--quiet"], ["config", "uploadpack.allowFilter", "true"],
            ["config", "uploadpack.allowAnySHA1InWant", "true"], ["add", "."], ["commit", "--quiet", "-m", "first"],
        ] { _ = try await git(words, in: folder) }
        let commit = try await git(["rev-parse", "HEAD"], in: folder)
        // The fetch must work for a commit that is not the tip of a branch.
        _ = try await git(["commit", "--quiet", "--allow-empty", "-m", "second"], in: folder)
        func digest(_ name: String) async throws -> String {
            let run = try await run(["sha256sum", folder + "/" + name])
            return String(run.output.prefix(64))
        }
        let text = try await lines(commit, digest).joined(separator: "\n") + "\n"
        return try scratch.file("list", Array(("# a list\n\n" + text).utf8))
    }

    private func line(_ store: String, _ commit: String, _ digest: String, _ path: String) -> String {
        "\(store) owner/name \(commit) \(digest) MIT \(path)"
    }

    @Test("The files of a store arrive in its folder, and a second run fetches nothing")
    func fetched() async throws {
        let list = try await makeList { commit, digest in
            var lines: [String] = []
            for path in ["tests/a store.sqlite", "tests/a store.sqlite-wal"] {
                lines.append(line("a.1", commit, try await digest(path), path))
            }
            return lines + [line("axb1", commit, try await digest("other"), "other")]
        }
        let place = scratch.path("corpus")
        let first = try await run([Self.program, place, list])
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.output == "2 stores fetched, 0 were there, 0 left out: \(place)\n")
        #expect(try scratch.names(place) == ["a.1", "axb1"])
        #expect(try scratch.names(place + "/a.1") == ["a store.sqlite", "a store.sqlite-wal"])
        #expect(FileManager.default.contents(atPath: place + "/a.1/a store.sqlite-wal") == Data("log".utf8))

        try FileManager.default.removeItem(atPath: scratch.path("mirrors"))
        let second = try await run([Self.program, place, list])
        #expect(second.status == 0, "\(second.errors)")
        #expect(second.output == "0 stores fetched, 2 were there, 0 left out: \(place)\n")
        // A file that was changed since then no longer matches its digest.
        try scratch.file("corpus/axb1/other", Array("changed".utf8))
        let third = try await run([Self.program, place, list])
        #expect(third.status == 1 && third.errors.contains("owner/name@"), "\(third.errors)")
    }

    @Test("A store with a wrong digest or a missing file is left out whole; the other stores arrive")
    func refused() async throws {
        let wrong = String(repeating: "0", count: 64)
        let list = try await makeList { commit, digest in
            [
                line("bad", commit, try await digest("other"), "other"),
                line("bad", commit, wrong, "tests/a store.sqlite"),
                line("gone", commit, wrong, "tests/none"), line("lost", String(wrong.prefix(40)), wrong, "other"),
                line("good", commit, try await digest("other"), "other"),
            ]
        }
        let place = scratch.path("corpus")
        let run = try await run([Self.program, place, list])
        #expect(run.status == 1)
        #expect(run.output == "1 stores fetched, 0 were there, 3 left out: \(place)\n", "\(run.errors)")
        #expect(run.errors.contains("has another SHA-256 than \(wrong)"))
        #expect(run.errors.contains("has no tests/none") && run.errors.contains("cannot be fetched"))
        for store in ["bad", "gone", "lost"] { #expect(run.errors.contains("\(store) is left out")) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: place) == ["good"])
    }

    @Test("A list with a path outside the folder is refused, and every line of the package's list is well-formed")
    func lists() async throws {
        let digits = String(repeating: "0", count: 64)
        for line in [line("../x", String(digits.prefix(40)), digits, "a"), line("x", "main", digits, "a"), "x"] {
            let list = try scratch.file("list", Array((line + "\n").utf8))
            let run = try await run([Self.program, scratch.path("corpus"), list])
            #expect(run.status == 2 && run.errors.contains("no files of stores"), "\(run.errors)")
        }
        let text = try String(contentsOf: URL(filePath: Tool.package + "/Tests/Corpus/stores"), encoding: .utf8)
        let rows = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(Set(rows.map { $0.split(separator: " ")[0] }).count > 15)
        for row in rows {
            #expect(row.contains(/^[\w.-]+ [^ \/]+\/[^ \/]+ [0-9a-f]{40} [0-9a-f]{64} [\w.-]+ [^\/]/), "\(row)")
        }
    }
}
