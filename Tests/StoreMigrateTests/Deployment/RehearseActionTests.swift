import FoundationEssentials
import StoreFixtures
import TestSupport
import Testing

/// Carries out the steps of the action in a new repository, as a runner would.
@Suite("The action that rehearses a repository's upgrades", .verify)
struct RehearseActionTests {
    private let scratch: Scratch
    private let environment: [String: String]

    init() throws {
        scratch = try Scratch()
        let programs = try scratch.folder(".programs")
        try FileManager.default.createSymbolicLink(
            atPath: programs + "/store-migrate",
            withDestinationPath: try Tool.path
        )
        environment = ["PATH": programs + ":/usr/bin:/bin", "TMPDIR": scratch.path]
    }

    private static func root(_ name: String) throws -> YAMLNode {
        let text = try String(contentsOf: URL(filePath: Tool.package + "/" + name), encoding: .utf8)
        return try #require(try YAMLNode.root(of: text))
    }

    private static func value(_ key: String, of node: YAMLNode) -> YAMLNode? {
        node.mapping?.first { $0.key.scalar == key }?.value
    }

    /// Runs the steps in order until one fails; returns the last one.
    private func runAction(_ inputs: [String: String] = [:]) async throws -> Tool.Run {
        let action = try Self.root(".github/actions/rehearse/action.yml")
        var values: [String: String] = [:]
        for (name, input) in try #require(Self.value("inputs", of: action)?.mapping) {
            let name = try #require(name.scalar)
            values[name] = try inputs[name] ?? #require(Self.value("default", of: input)?.scalar)
        }
        #expect(Set(inputs.keys).isSubset(of: values.keys))
        let steps = try #require(Self.value("runs", of: action).flatMap { Self.value("steps", of: $0) }?.list)
        var last: Tool.Run?
        for step in steps {
            var variables = environment
            for (name, value) in Self.value("env", of: step)?.mapping ?? [] {
                let text = try #require(value.scalar)
                let input = String(text.dropFirst("${{ inputs.".count).dropLast(" }}".count))
                #expect(text == "${{ inputs.\(input) }}" && values[input] != nil, "\(text)")
                variables[try #require(name.scalar)] = values[input]
            }
            #expect(Self.value("shell", of: step)?.scalar == "bash")
            let script = try #require(Self.value("run", of: step)?.scalar)
            let run = try await Tool.run(
                command: ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
                environment: variables,
                folder: scratch.path
            )
            last = run
            guard run.status == 0 else { break }
        }
        return try #require(last)
    }

    private static let recipe = """
        about: The store of version 1.
        seed: habits
        model:
          entities:
            Habit:
              attributes: {name: string}
        saves:
          - at: 2026-03-01
            insert: [{entity: Habit, repeat: 3, values: {name: "Habit {n}"}}]
        """

    private static func scenario(expecting count: Int) -> String {
        """
        about: Every habit arrives in the group.
        stores:
          old: {at: app/Habits.sqlite, recipe: ../habits.yaml}
          new: {at: group/Habits.sqlite}
        steps:
          - share: [old, new]
        holds:
          - {count: Habit, in: new, is: \(count)}
        """
    }

    @Test("A new repository with one recipe and one scenario fails red, then passes green, with the sample's inputs")
    func redThenGreen() async throws {
        let workflow = try Self.root("Fixtures/Deployment/rehearse-upgrades.yaml")
        let job = Self.value("jobs", of: workflow).flatMap { Self.value("rehearse", of: $0) }
        let steps = try #require(job.flatMap { Self.value("steps", of: $0) }?.list)
        let step = try #require(
            steps.first { Self.value("uses", of: $0)?.scalar?.contains("/actions/rehearse@") == true }
        )
        var inputs: [String: String] = ["package": ""]
        for (name, value) in Self.value("with", of: step)?.mapping ?? [] where name.scalar != "package" {
            inputs[try #require(name.scalar)] = value.scalar
        }
        try scratch.folder("Scenarios")
        try scratch.file("habits.yaml", Array(Self.recipe.utf8))
        func write(_ count: Int) throws {
            try scratch.file("Scenarios/first.yaml", Array(Self.scenario(expecting: count).utf8))
        }
        try write(4)
        let red = try await runAction(inputs)
        #expect(red.status == 3, "\(red.errors)")
        #expect(red.output.contains("4") && red.output.contains("3"), "\(red.output)")
        func report() throws -> String {
            try String(contentsOf: URL(filePath: scratch.path("upgrades.xml")), encoding: .utf8)
        }
        #expect(try report().contains(#"failures="1""#))
        try write(3)
        let green = try await runAction(inputs)
        #expect(green.status == 0, "\(green.output)\(green.errors)")
        #expect(try report().contains(#"failures="0""#))
    }
}
