import Foundation
import Testing

@Suite("Verb verify --level merging")
struct VerifyMergingTests {
    private let scratch: Scratch
    private let store: String

    init() async throws {
        scratch = try Scratch()
        store = scratch.path("HabitCalendar.sqlite")
        let recipe = Tool.package + "/Fixtures/HabitCalendar/HabitCalendar.yaml"
        let built = try await Tool.run(["fixture", "build", recipe, store])
        #expect(built.status == 0, "\(built.errors)")
    }

    /// Writes a descriptions file.
    private func descriptions(_ roles: [String: [String: Any]]) throws -> String {
        let all = roles.mapValues { $0.merging(["url": URL(filePath: store).absoluteString]) { first, _ in first } }
        let path = scratch.path("descriptions.json")
        try JSONSerialization.data(withJSONObject: all).write(to: URL(filePath: path))
        return path
    }

    private func files() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: scratch.path) {
            files[name] = try? Data(contentsOf: URL(filePath: scratch.path(name)))
        }
        return files
    }

    @Test("verify --level merging passes with a writer in another process, and changes no file")
    func sound() async throws {
        let before = try files()
        let run = try await Tool.run(["verify", store, "--level", "merging", "--json"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try files() == before)
        let verification = try #require(Grammar().check(run).first { $0["type"]?.string == "verification" })
        let probe = try #require(verification["probe"])
        let directions = probe["directions"]?.array ?? []
        #expect(directions.map { $0["from"]?.string } == ["extension(extension)", "app"])
        #expect(directions.allSatisfy { $0["writer"]?.string == "another process" })
        // On a busy machine the probe's two seconds may end before the last step.
        let all = [#""operations":["insert","update","match","delete"]"#, #""partial":true"#]
        #expect(all.contains(where: run.output.contains))
    }

    @Test("A descriptions file that is too large ends with 12 and does not ask for free space")
    func tooLarge() async throws {
        let file = scratch.path("descriptions.json")
        try Data().write(to: URL(filePath: file))
        let handle = try FileHandle(forWritingTo: URL(filePath: file))
        try handle.truncate(atOffset: 40_000_000)
        try handle.close()
        let run = try await Tool.run(["verify", store, "--level", "merging", "--descriptions", file])
        #expect(run.status == 12)
        #expect(run.errors.contains("it is larger than expected") && !run.errors.contains("space"))
    }

    @Test("Descriptions in which only one role tracks history are reported as the cause")
    func disagreement() async throws {
        let tracks: [String: Any] = ["isHistoryTrackingEnabled": true]
        let file = try descriptions(["app": tracks, "extension(widget)": [:]])
        let run = try await Tool.run(["verify", store, "--level", "merging", "--descriptions", file])
        #expect(run.status == 3)
        #expect(run.output.contains("app keeps a history and extension(widget) does not"))
    }

    @Test("Descriptions without history tracking are reported as opening the store silently read-only")
    func readOnlyTrap() async throws {
        let file = try descriptions(["app": [:], "extension(widget)": [:]])
        let run = try await Tool.run(["verify", store, "--level", "merging", "--descriptions", file])
        #expect(run.status == 3)
        #expect(run.output.contains("silently read-only"))
    }

    @Test("A file that does not contain descriptions ends with status 2")
    func rubbish() async throws {
        let file = try scratch.file("rubbish.json", Array("[1]".utf8))
        let run = try await Tool.run(["verify", store, "--level", "merging", "--descriptions", file])
        #expect(run.status == 2)
        #expect(run.errorLines.count == 1)
    }

    @Test("verify --level merging without a temporary folder ends with status 3 and says that it tried nothing")
    func noScratch() async throws {
        // A store without a log is read in place; only the probe needs a scratch copy.
        let shared = try await Tool.run(["share", store, scratch.folder("group"), "--level", "content"])
        #expect(shared.status == 0, "\(shared.errors)")
        let run = try await Tool.runProcess(
            ["verify", scratch.path("group/HabitCalendar.sqlite"), "--level", "merging"],
            environment: ["TMPDIR": scratch.path("nowhere")]
        )
        #expect(run.status == 3)
        #expect(run.output.contains("the arrival of changes could not be tested"))
    }

    @Test("share without a temporary folder succeeds and reports the level merging as skipped")
    func shareWithoutScratch() async throws {
        let clean = scratch.path("clean.sqlite")
        let recipe = Tool.package + "/Fixtures/Stores/clean/recipe.yaml"
        #expect(try await Tool.run(["fixture", "build", recipe, clean]).status == 0)
        let run = try await Tool.runProcess(
            ["share", clean, scratch.folder("group")],
            environment: ["TMPDIR": scratch.path("nowhere")]
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("skipped: merging"))
        #expect(run.errors.contains("could not be tested"))
    }
}
