import FoundationEssentials
import StoreFixtures
import TestSupport
import Testing

/// Runs the command lines of the recipes in Fixtures/Deployment without changes.
@Suite("Deployment recipes for services, pods and job arrays", .verify)
struct DeploymentRecipesTests {
    private let scratch: Scratch
    private let environment: [String: String]

    init() throws {
        scratch = try Scratch()
        let programs = try scratch.folder(".programs")
        let targets = [
            "store-migrate": try Tool.path, "share-fleet": Tool.package + "/Fixtures/Deployment/share-fleet",
        ]
        for (name, target) in targets {
            let link = programs + "/" + name
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        }
        environment = ["PATH": programs + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")]
    }

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: URL(filePath: Tool.package + "/Fixtures/Deployment/" + name), encoding: .utf8)
    }

    /// The value of a manifest at a path of keys and indexes.
    private enum Step: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        case key(String)
        case index(Int)

        init(stringLiteral key: String) { self = .key(key) }
        init(integerLiteral index: Int) { self = .index(index) }
    }

    /// The node of a manifest at a path of keys and indexes.
    private static func node(_ name: String, _ path: [Step]) throws -> YAMLNode {
        var node = try #require(try YAMLNode.root(of: text(name)))
        for step in path {
            switch step {
            case .key(let key): node = try #require(node.mapping?.first { $0.key.scalar == key }?.value)
            case .index(let index): node = try #require(node.list?[index])
            }
        }
        return node
    }

    private func run(_ words: [String], _ more: [String: String] = [:]) async throws -> Tool.Run {
        try await Tool.run(
            command: words,
            environment: environment.merging(more) { $1 },
            folder: scratch.path
        )
    }

    /// Creates three stores, and a list of them with paths relative to the scratch folder.
    private func makeFleet() async throws {
        var list = ""
        for name in ["one", "two", "three"] {
            try scratch.folder(name + "/group")
            try await scratch.store(name + "/Habits.sqlite")
            list += "\(name)/Habits.sqlite\t\(name)/group\n"
        }
        try scratch.file("list", Array(list.utf8))
    }

    @Test("The init container shares the store once, and succeeds before there is a store")
    func initContainer() async throws {
        let place: [Step] = ["spec", "initContainers", 0, "command"]
        let command = try #require(Self.node("init-container.yaml", place).list).compactMap(\.scalar)
        try scratch.folder("private")
        try scratch.folder("shared")
        #expect(try await run(command).status == 0)
        try await scratch.store("private/Habits.sqlite")
        #expect(try await run(command).output.hasPrefix("Shared Habits.sqlite"))
        #expect(try await run(command).output.hasPrefix("Already shared"))
    }

    @Test("The parts of the indexed job cover each store of the list once")
    func indexedJob() async throws {
        let container: [Step] = ["spec", "template", "spec", "containers", 0, "command"]
        let command = try #require(Self.node("share-fleet-job.yaml", container).list).compactMap(\.scalar)
        let count = try #require(Self.node("share-fleet-job.yaml", ["spec", "completions"]).scalar.flatMap { Int($0) })
        #expect(command.last?.contains(" \(count) list ") == true)
        try await makeFleet()
        for index in 0..<count {
            let run = try await run(command, ["JOB_COMPLETION_INDEX": "\(index)"])
            #expect(run.status == 0, "\(run.errors)")
        }
        #expect(try await run(["share-fleet", "collect", "list", "outcomes"]).output == "      3  shared (0)\n")
    }

    @Test("The tasks of the job array cover each store of the list once")
    func array() async throws {
        let script = Tool.package + "/Fixtures/Deployment/share-fleet.sbatch"
        #expect(try Self.text("share-fleet.sbatch").contains("#SBATCH --array=0-9\n"))
        try await makeFleet()
        for index in 0...9 {
            let variables = ["SLURM_ARRAY_TASK_ID": "\(index)", "SLURM_ARRAY_TASK_COUNT": "10"]
            let run = try await run(["bash", script], variables)
            #expect(run.status == 0, "\(run.errors)")
        }
        #expect(try await run(["share-fleet", "collect", "list", "outcomes"]).output == "      3  shared (0)\n")
    }

    @Test("ExecStartPre of the service shares the store once, and succeeds before there is a store")
    func service() async throws {
        let line = try #require(
            try Self.text("habits.service").split(separator: "\n").first { $0.hasPrefix("ExecStartPre=") }
        )
        let words = line.dropFirst("ExecStartPre=/usr/bin/".count).split(separator: " ").map(String.init)
        #expect(words.first == "store-migrate")
        try scratch.folder("private")
        try scratch.folder("shared")
        #expect(try await run(words).status == 0)
        try await scratch.store("private/Habits.sqlite")
        #expect(try await run(words).output.hasPrefix("Shared Habits.sqlite"))
        #expect(try await run(words).output.hasPrefix("Already shared"))
    }

    @Test(
        "systemd-analyze verifies the service without errors",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze"), "needs systemd-analyze")
    )
    func unit() async throws {
        // systemd-analyze requires the named programs to exist.
        let unit = try Self.text("habits.service").replacing(/\/usr\/bin\/(store-migrate|habits)\b/, with: "/bin/true")
        let file = try scratch.file("habits.service", Array(unit.utf8))
        let run = try await run(["systemd-analyze", "verify", file])
        #expect(run.status == 0, "\(run.output)\(run.errors)")
    }
}
