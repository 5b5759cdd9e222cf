import FoundationEssentials
import Testing

/// What README, help and result say about the choices of a share, and what then happens.
@Suite("Sentences about the choices of a share")
struct PolicySentenceTests {
    /// One choice: its sentences, and the rows of both stores after it.
    struct Choice: CustomTestStringConvertible, Sendable {
        /// The words of the README.
        let readme: String
        /// The words of `share --help`.
        let help: String
        /// The words of the result, or of the error.
        let result: String
        /// The options that make the choice; the first of several is the default, which needs none.
        let options: [[String]]
        let effect: Effect

        var testDescription: String { options.last?.joined(separator: " ") ?? "" }
    }

    /// What the sentences promise.
    enum Effect: Sendable {
        case refusesWrites
        case mergesNewRows
        /// The rows of the new store after a share of two stores with a row each, and whether the former ones are kept.
        case holds(_ rows: String, status: Int32 = 0, keepsCopy: Bool = false)
        /// The value that a row has that both sides changed.
        case keeps(_ value: String)
    }

    private static let both =
        "`--on-both`, when both stores hold objects: `fail` asks, `merge` merges OLD into NEW, "
        + "`keep-old` replaces NEW (keeping a copy), `keep-new` leaves OLD's rows only in OLD."
    private static let policy =
        "`--policy`, when both sides changed a value: `shared` keeps the receiving store's, `late` the other's."

    static let choices = [
        Choice(
            readme: "`--old fence`: OLD refuses writes, with an error that names NEW.",
            help: "fence (writers get an error that names the new path)",
            result: "now refuses writes with an error that names the new path",
            options: [[], ["--old", "fence"]],
            effect: .refusesWrites
        ),
        Choice(
            readme: "`--old capture`: OLD stays writable, and the next `share` merges its new rows.",
            help: "capture (it stays writable, and the next share merges what was written)",
            result: "writes are still accepted, and the next share merges them",
            options: [["--old", "capture"]],
            effect: .mergesNewRows
        ),
        Choice(
            readme: both,
            help: "When both stores contain objects: fail,",
            result: "Decide with --on-both merge, keep-old or keep-new",
            options: [[], ["--on-both", "fail"]],
            effect: .holds("new\n", status: 4)
        ),
        Choice(
            readme: both,
            help: "merge (OLD is merged into NEW, object by object)",
            result: "no conflicts (policy 'shared')",
            options: [["--on-both", "merge"]],
            effect: .holds("new\nold\n")
        ),
        Choice(
            readme: both,
            help: "keep-old (OLD's content replaces NEW's, of which a copy is kept)",
            result: "the store that was at the new path, kept whole",
            options: [["--on-both", "keep-old"]],
            effect: .holds("old\n", keepsCopy: true)
        ),
        Choice(
            readme: both,
            help: "keep-new (NEW stays unchanged, and OLD's rows are only in OLD)",
            result: "both stores have objects, and the new ones are kept",
            options: [["--on-both", "keep-new"]],
            effect: .holds("new\n")
        ),
        Choice(
            readme: policy,
            help: "Which value wins where both sides changed it: shared (the receiving store's)",
            result: "'taken' is the value that won (policy 'shared')",
            options: [[], ["--policy", "shared"]],
            effect: .keeps("new\n")
        ),
        Choice(
            readme: policy,
            help: "late (the other's)",
            result: "'taken' is the value that won (policy 'late')",
            options: [["--policy", "late"]],
            effect: .keeps("late\n")
        ),
    ]

    @Test("README, help and result say in a sentence what a choice does, and that happens", arguments: choices)
    func happens(_ choice: Choice) async throws {
        func words(_ text: String) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        let readme = words(try String(contentsOfFile: Tool.package + "/README.md", encoding: .utf8))
        #expect(readme.contains("The first value is the default:") && readme.contains(choice.readme))
        #expect(words(try await Tool.run(["share", "--help"]).output).contains(choice.help))
        for options in choice.options {
            let run = try await check(choice.effect, options)
            #expect(words(run.output + run.errors).contains(choice.result), "\(options): \(run.output)\(run.errors)")
        }
    }

    /// Shares by these options, checks the effect, and returns the run that made it.
    private func check(_ effect: Effect, _ options: [String]) async throws -> Tool.Run {
        let scratch = try Scratch()
        let (old, new) = (scratch.path("old.db"), scratch.path("new.db"))
        let table = "CREATE TABLE t(id INTEGER PRIMARY KEY, a);"
        func insert(_ value: String, _ store: String) async throws {
            try await SQLiteProgram.run(store, "INSERT INTO t(a) VALUES('\(value)')")
        }
        func rows(_ store: String) async throws -> String {
            try await SQLiteProgram.run(store, "SELECT a FROM t ORDER BY a")
        }
        func share(_ more: [String]) async throws -> Tool.Run { try await Tool.run(["share", old, new] + more) }
        try await SQLiteProgram.run(old, table)
        try await insert("old", old)
        switch effect {
        case .refusesWrites:
            let run = try await share(options)
            let write = try await Tool.run(command: ["sqlite3", old, "INSERT INTO t(a) VALUES('late')"])
            #expect(write.status != 0 && write.errors.contains(new), "\(write.errors)")
            return run
        case .mergesNewRows:
            let run = try await share(options)
            try await insert("late", old)
            #expect(try await share([]).status == 0)
            #expect(try await rows(new) == "late\nold\n")
            return run
        case .holds(let expected, let status, let keepsCopy):
            try await SQLiteProgram.run(new, table)
            try await insert("new", new)
            let merge = options.contains("merge") ? ["--identity", "t=a"] : []
            let run = try await share(options + merge)
            #expect(run.status == status)
            #expect(try await rows(new) == expected)
            #expect(try await rows(old) == "old\n")
            let copies = try scratch.names(scratch.path).filter { $0.hasPrefix(".store-migrate-aside-") }
            #expect(copies.count == (keepsCopy ? 1 : 0))
            for copy in copies { #expect(try await rows(scratch.path(copy) + "/new.db") == "new\n") }
            return run
        case .keeps(let expected):
            _ = try await share(["--old", "capture"])
            for (store, value) in [(old, "late"), (new, "new")] {
                try await SQLiteProgram.run(store, "UPDATE t SET a = '\(value)'")
            }
            let run = try await share(options)
            #expect(try await rows(new) == expected)
            return run
        }
    }
}
