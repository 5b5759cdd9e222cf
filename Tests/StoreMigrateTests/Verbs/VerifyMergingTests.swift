import Foundation
import Testing

@Suite("verify --level merging, as a user runs it")
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

    /// Writes how each role opens the store.
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

    @Test("What an extension saves arrives, written by another process, and nothing is touched")
    func sound() async throws {
        let before = try files()
        let run = try await Tool.run(["verify", store, "--level", "merging", "--json"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try files() == before)
        let verification = try #require(Grammar().check(run).first { $0["type"]?.string == "verification" })
        let probe = try #require(verification["probe"])
        #expect(probe["writer"]?.string == "another process")
        // On a busy machine its two seconds are over before the last step.
        let all = [#""operations":["insert","update","match","delete"]"#, #""partial":true"#]
        #expect(all.contains(where: run.output.contains))
    }

    @Test("Descriptions under which changes do not arrive are told with the cause")
    func disagreement() async throws {
        let tracks: [String: Any] = ["isHistoryTrackingEnabled": true]
        let file = try descriptions(["app": tracks, "extension(widget)": [:]])
        let run = try await Tool.run(["verify", store, "--level", "merging", "--descriptions", file])
        #expect(run.status == 3)
        #expect(run.output.contains("app keeps a history and extension(widget) does not"))
    }

    @Test("A store that would be read-only without a word is told")
    func readOnlyTrap() async throws {
        let file = try descriptions(["app": [:], "extension(widget)": [:]])
        let run = try await Tool.run(["verify", store, "--level", "merging", "--descriptions", file])
        #expect(run.status == 3)
        #expect(run.output.contains("read-only without a word"))
    }

    @Test("A file that holds no descriptions is a wrong call")
    func rubbish() async throws {
        let file = try scratch.file("rubbish.json", Array("[1]".utf8))
        let run = try await Tool.run(["verify", store, "--level", "merging", "--descriptions", file])
        #expect(run.status == 2)
        #expect(run.errorLines.count == 1)
    }

    @Test("Without a place for the scratch copy nothing is tried, and that is told")
    func noScratch() async throws {
        // A store without a log is read where it is; only the probe needs room.
        let shared = try await Tool.run(["share", store, scratch.folder("group"), "--level", "content"])
        #expect(shared.status == 0, "\(shared.errors)")
        let run = try await Tool.runProcess(
            ["verify", scratch.path("group/HabitCalendar.sqlite"), "--level", "merging"],
            environment: ["TMPDIR": scratch.path("nowhere")]
        )
        #expect(run.status == 3)
        #expect(run.output.contains("whether changes arrive could not be tried"))
    }

    @Test("A store that is shared without room for the scratch copy is shared, and the level is told as skipped")
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
        #expect(run.errors.contains("could not be tried"))
    }
}
