import FoundationEssentials
import Testing

@Suite("The check of public symbols against the changelog")
struct PublicInterfaceTests {
    private static let check = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "PublicInterface/check").path

    private static let before = [
        "A Shape\tstruct Shape", "A Shape.area\tvar area: Double", "A Shape.init(width:)\tinit(width: Int)",
        "A use(_:)\tfunc use(_ shape: Shape)",
        "A ||(_:_:)\tfunc ||(a: Shape, b: Shape)",
    ]

    /// Removes and adds lines; gives the status and the lines that are not named.
    private func judge(removing: [String], adding: [String] = [], _ changelog: String) async throws -> (Int32, [String])
    {
        let scratch = try Scratch()
        let after = Self.before.filter { line in !removing.contains { line.hasPrefix("A \($0)\t") } } + adding
        for (name, text) in [
            ("before", Self.before.joined(separator: "\n")), ("after", after.joined(separator: "\n")),
            ("log", "# Changelog\n\n## Unreleased\n\n\(changelog)\n\n## 0.1.0\n\n- **Break**: `area`, `Shape`.\n"),
        ] { try Data((text + "\n").utf8).write(to: URL(filePath: scratch.path(name))) }
        let run = try await Tool.run(
            command: [Self.check, "breaks"] + ["before", "after", "log"].map { scratch.path($0) }
        )
        let lines = run.output.split(separator: "\n").dropLast().compactMap { $0.split(separator: "\t").first }
        return (run.status, lines.map { String($0.dropFirst(2)) })
    }

    @Test("A symbol that is gone is reported unless a break in the changelog names it")
    func removed() async throws {
        #expect(try await judge(removing: [], "") == (0, []))
        #expect(try await judge(removing: ["Shape.area"], "") == (1, ["Shape.area"]))
        #expect(try await judge(removing: ["Shape.area"], "- `Shape.area` is faster.") == (1, ["Shape.area"]))
        #expect(try await judge(removing: ["Shape.area"], "- **Break**: an area is gone.") == (1, ["Shape.area"]))
        #expect(try await judge(removing: ["Shape.area"], "- **Break**: `Shape.areas` is gone.") == (1, ["Shape.area"]))
        #expect(try await judge(removing: ["Shape.area"], "- **Break**: `Shape.area`\n  is gone.") == (0, []))
        #expect(try await judge(removing: ["||(_:_:)"], "- **Break**: `||` of shapes is gone.") == (0, []))
        #expect(try await judge(removing: ["||(_:_:)"], "") == (1, ["||(_:_:)"]))
    }

    @Test("A type that is gone excuses its members, and a changed type the symbols that stay and mention it")
    func types() async throws {
        let members = ["Shape", "Shape.area", "Shape.init(width:)"]
        #expect(try await judge(removing: members, "- **Break**: `Shape` is gone.") == (0, []))
        #expect(try await judge(removing: ["Shape.area"], "- **Break**: `Shape` is generic.") == (1, ["Shape.area"]))
        let generic = ["A Shape\tstruct Shape<Unit>", "A use(_:)\tfunc use(_ shape: Shape<Int>)"]
        #expect(
            try await judge(removing: ["Shape", "use(_:)"], adding: generic, "- **Break**: `Shape` is generic.")
                == (0, [])
        )
        #expect(
            try await judge(removing: ["Shape", "use(_:)"], adding: [generic[0]], "- **Break**: `Shape` is generic.")
                == (1, ["use(_:)"])
        )
    }
}
