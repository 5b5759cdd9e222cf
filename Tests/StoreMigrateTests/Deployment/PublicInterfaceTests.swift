import FoundationEssentials
import Testing

@Suite("The check of public symbols against the changelog")
struct PublicInterfaceTests {
    private static let check = Tool.package + "/Tests/PublicInterface/check"

    private static let before = [
        "A Shape\tstruct Shape", "A Shape.area\tvar area: Double", "A Shape.init(width:)\tinit(width: Int)",
        "A use(_:)\tfunc use(_ shape: Shape)",
        "A ||(_:_:)\tfunc ||(a: Shape, b: Shape)",
    ]

    /// Removes and adds lines; gives the status and the lines that are not named.
    private func judge(
        before: [String] = [],
        removing: [String],
        adding: [String] = [],
        _ changelog: String
    ) async throws -> (Int32, [String]) {
        let scratch = try Scratch()
        let before = Self.before + before
        let after =
            before.filter { line in !removing.contains { line.hasPrefix("A " + $0 + ($0.contains("\t") ? "" : "\t")) } }
            + adding
        for (name, text) in [
            ("before", before.joined(separator: "\n")), ("after", after.joined(separator: "\n")),
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

    @Test(
        "A lost conformance, a class that is no longer open, and a new case or requirement are breaks; new types are not"
    )
    func others() async throws {
        let lost = ["A Shape\tis Hashable", "A Shape\topen", "A Shape.name\tvar name: String"]
        #expect(try await judge(before: lost, removing: ["Shape\tis"], "") == (1, ["Shape"]))
        #expect(try await judge(before: lost, removing: ["Shape\tis"], "- **Break**: no `Hashable`.") == (0, []))
        #expect(try await judge(before: lost, removing: ["Shape\topen"], "") == (1, ["Shape"]))
        #expect(try await judge(before: lost, removing: ["Shape\topen"], "- **Break**: `Shape` is final.") == (0, []))
        let edge = ["A Edge\tenum Edge", "A Edge.top\tcase top"]
        #expect(try await judge(removing: [], adding: edge, "") == (0, []))
        let side = ["A Edge.side(_:)\tcase side(Int)"]
        #expect(try await judge(before: edge, removing: [], adding: side, "") == (1, ["Edge.side(_:)"]))
        #expect(try await judge(before: edge, removing: [], adding: side, "- **Break**: `Edge.side`.") == (0, []))
        let drawn = ["A Drawn\tprotocol Drawn"]
        let draw = ["A Drawn.draw()\tfunc draw()", "A Drawn.draw()\trequired"]
        #expect(try await judge(removing: [], adding: drawn + draw, "") == (0, []))
        #expect(try await judge(before: drawn, removing: [], adding: draw, "") == (1, ["Drawn.draw()"]))
        #expect(try await judge(before: drawn, removing: [], adding: Array(draw[..<1]), "") == (0, []))
        // A default implementation makes the requirement optional.
        #expect(try await judge(before: drawn + draw, removing: ["Drawn.draw()\trequired"], "") == (0, []))
        #expect(
            try await judge(before: drawn + Array(draw[..<1]), removing: [], adding: [draw[1]], "") == (
                1, ["Drawn.draw()"]
            )
        )
    }
}
