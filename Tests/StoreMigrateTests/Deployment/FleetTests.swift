import FoundationEssentials
import TestSupport
import Testing

@Suite("Sharing fleets of stores", .verify)
struct FleetTests {
    private static let program = Tool.package + "/Fixtures/Deployment/share-fleet"
    /// True if GNU parallel, ps and setsid are installed; `make fleet` installs them.
    private static let isParallelThere = ["parallel", "ps", "setsid"]
        .allSatisfy { name in
            ["/usr/bin/", "/usr/local/bin/", "/bin/"]
                .contains { FileManager.default.isExecutableFile(atPath: $0 + name) }
        }

    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func fleet(_ words: [String]) async throws -> Tool.Run {
        try await Tool.run(
            command: [Self.program] + words,
            environment: ["STORE_MIGRATE": try Tool.path],
            folder: scratch.path
        )
    }

    private func list(_ lines: [(old: String, new: String)]) throws {
        try scratch.file("list", Array(lines.map { "\($0.old)\t\($0.new)\n" }.joined().utf8))
    }

    /// The lines of the summary, each checked against the grammar of a summary.
    private func summary() throws -> [JSONTree] {
        let text = try String(contentsOf: URL(filePath: scratch.path("outcomes/summary.jsonl")), encoding: .utf8)
        let grammar = try Grammar()
        return try text.split(separator: "\n")
            .map { line in
                let tree = try JSONTree(String(line))
                guard case .object(let members) = tree else { throw CocoaError(.fileReadCorruptFile) }
                #expect(Set(members.keys) == ["old", "new", "exit", "summary"])
                if let summary = tree["summary"], summary != .null {
                    try grammar.check(summary, as: "summary", isLine: true)
                }
                return tree
            }
    }

    @Test(
        "A fleet run by GNU parallel, killed and run again, shares every store once and writes one summary",
        .enabled(if: isParallelThere, "needs GNU parallel and ps; make fleet does this with 1,000 stores")
    )
    func killed() async throws {
        let run = try await Tool.run(
            command: [Tool.package + "/Tests/Fleet/fleet", try Tool.path, "24", "2"],
            folder: scratch.path
        )
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(run.lines.filter { $0.contains("24 stores at their new paths") }.count == 2, "\(run.output)")
    }

    @Test("Parts run in any order, some twice, give one summary line per store in the order of the list")
    func parts() async throws {
        let names = ["a", "b \"c\"", "d\\e", "f", "é"]
        for name in names {
            try scratch.folder(name + "/group")
            try await scratch.store(name + "/Habits.sqlite")
        }
        try list(names.map { (scratch.path($0 + "/Habits.sqlite"), scratch.path($0 + "/group")) })
        for index in ["1", "0", "1"] {
            let run = try await fleet(["part", index, "2", "list", "outcomes"])
            #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        }
        #expect(try await fleet(["collect", "list", "outcomes"]).status == 0)
        #expect(try summary().map { $0["old"]?.string } == names.map { scratch.path($0 + "/Habits.sqlite") })
        #expect(try summary().allSatisfy { $0["summary"]?["exit"] == .integer(0) })
    }

    @Test("A store that was not shared has its status and outcome in the summary, and collect ends with status 1")
    func failures() async throws {
        try scratch.folder("group")
        try await scratch.store("Habits.sqlite")
        let absent = scratch.path("Absent.sqlite")
        try list([
            (scratch.path("Habits.sqlite"), scratch.path("group")), (absent, scratch.path("group/Absent.sqlite")),
        ])
        #expect(try await fleet(["part", "0", "1", "list", "outcomes"]).status == 0)
        let run = try await fleet(["collect", "list", "outcomes"])
        #expect(run.status == 1)
        #expect(run.lines.map(\.trimmingSpaces) == ["1  nothingFound (10)", "1  shared (0)"])
        #expect(try summary().map { $0["exit"] } == [.integer(0), .integer(10)])
        #expect(try summary().last?["summary"]?["outcome"]?.string == "nothingFound")
    }

    @Test("collect reports a tool without a summary as unknown, and a store without a run as not tried")
    func silence() async throws {
        try list([("/old", "/new"), ("/other", "/place")])
        let run = try await Tool.run(
            command: [Self.program, "one", "/old", "/new", "outcomes"],
            environment: ["STORE_MIGRATE": "false"],
            folder: scratch.path
        )
        #expect(run.status == 0)
        let collected = try await fleet(["collect", "list", "outcomes"])
        #expect(collected.status == 1)
        #expect(collected.lines.map(\.trimmingSpaces) == ["1  unknown (1)", "1  not tried yet"])
        #expect(try summary().map { $0["summary"] } == [.null])
    }

    @Test(
        "An invalid list is refused with its line number before any store is changed",
        arguments: [
            ("/a\t/b\n/a\t/c\n", "list:2: /a is in line 1 already"),
            ("/a\t/b\n/c\t/b\n", "list:2: /b is in line 1 already"),
            ("/a\t/b\n/c\n", "list:2: not OLD<tab>NEW"), ("/a\t/b\u{1}\n", "list:1: a control character in a path"),
        ]
    )
    func wrong(_ text: String, _ complaint: String) async throws {
        try scratch.file("list", Array(text.utf8))
        let run = try await fleet(["part", "0", "1", "list", "outcomes"])
        #expect(run.status == 2)
        #expect(run.errorLines == ["share-fleet: \(complaint)"])
        #expect(try scratch.names(scratch.path("outcomes")).isEmpty)
    }
}
