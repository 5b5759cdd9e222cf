import FoundationEssentials
import StoreAccess
import TestSupport
import Testing

@Suite("Verb inspect --show")
struct ShowTests {
    private static func build(_ recipe: String, _ scratch: Scratch) async throws -> String {
        let path = scratch.path("s.sqlite")
        let built = try await Tool.run(["fixture", "build", Tool.package + "/Fixtures/" + recipe, path])
        try #require(built.status == 0, "\(built.errors)")
        return path
    }

    @Test("inspect --show graph prints the demonstration store as a Mermaid class diagram")
    func graph() async throws {
        let scratch = try Scratch()
        let path = try await Self.build("HabitCalendar/HabitCalendar.yaml", scratch)
        let before = try scratch.fingerprint()
        let run = try await Tool.run(["inspect", path, "--show", "graph"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            run.output == """
                classDiagram
                    class DaysChallenge {
                        date fromDate
                        boolean isClosed
                        date toDate
                    }
                    class Habit {
                        string? colour
                        date createdAt
                        uuid id
                        string name
                        binaryData? picture
                    }
                    class HabitDay {
                        date date
                        boolean wasExecuted
                    }
                    DaysChallenge "0..1" -- "*" HabitDay : days / challenge
                    DaysChallenge "*" -- "0..1" Habit : habit / challenges
                    Habit "0..1" -- "*" HabitDay : days / habit

                """
        )
        let json = try Grammar().check(try await Tool.run(["inspect", path, "--show", "graph", "--json"]))
        #expect(json.first?["mermaid"]?.string.map { $0 + "\n" } == run.output)
        #expect(try scratch.fingerprint() == before)
    }

    @Test("inspect --show model prints every entity with its parent and sorted by name")
    func model() async throws {
        let scratch = try Scratch()
        let path = try await Self.build("Stores/inheritance/recipe.yaml", scratch)
        let text = try await Tool.run(["inspect", path, "--show", "model"])
        #expect(text.status == 0, "\(text.errors)")
        #expect(
            text.lines.contains { $0.hasPrefix("Country : ") || $0.hasPrefix("Island : Country") },
            "\(text.output)"
        )
        let lines = try Grammar().check(try await Tool.run(["inspect", path, "--show", "model", "--json"]))
        let entities = lines.filter { $0["type"]?.string == "entityDescription" }
        let island = try #require(entities.first { $0["name"]?.string == "Island" })
        #expect(island["parent"]?.string == "Country")
        #expect(entities.compactMap { $0["name"]?.string } == entities.compactMap { $0["name"]?.string }.sorted())
        let graph = try await Tool.run(["inspect", path, "--show", "graph"])
        #expect(graph.lines.contains("    Country <|-- Island"))
        try MermaidSubset.check(graph.output)
    }

    @Test("inspect --show model --as swift prints the same classes for a recipe and its store, and changes nothing")
    func swift() async throws {
        let scratch = try Scratch()
        let path = try await Self.build("HabitCalendar/HabitCalendar.yaml", scratch)
        let before = try scratch.fingerprint()
        let recipe = Tool.package + "/Fixtures/HabitCalendar/HabitCalendar.yaml"
        let words = ["--show", "model", "--as", "swift"]
        let runs = [try await Tool.run(["inspect", path] + words), try await Tool.run(["inspect", recipe] + words)]
        #expect(runs.allSatisfy { $0.status == 0 }, "\(runs)")
        // The first line names the file.
        #expect(runs[0].lines.dropFirst() == runs[1].lines.dropFirst())
        #expect(runs[0].output.contains("open class Habit: ManagedObject, TypedObject {"))
        let json = try Grammar()
            .check(try await Tool.run(["inspect", path, "--show", "model", "--as", "swift", "--json"]))
        #expect(json.first?["source"]?.string == runs[0].output)
        #expect(try scratch.fingerprint() == before)
        let text = try await Tool.run(["inspect", recipe, "--show", "model"])
        #expect(text.status == 0 && text.output.contains("DaysChallenge"))
        #expect(try await Tool.run(["inspect", path, "--as", "swift"]).status == 2)
    }

    @Test("inspect --show ends with 13 for a plain SQLite store, and 2 for a folder or an unknown part")
    func other() async throws {
        let scratch = try Scratch()
        let plain = try await scratch.store("plain.sqlite")
        for part in ["model", "graph", "history"] {
            #expect(try await Tool.run(["inspect", plain, "--show", part]).status == 13)
        }
        #expect(try await Tool.run(["inspect", scratch.path, "--show", "graph"]).status == 2)
        let wrong = try await Tool.run(["inspect", plain, "--show", "tables"])
        #expect(wrong.status == 2)
        #expect(wrong.errors.contains("graph"))
    }

    @Test("inspect --show prints the model and graph of every genuine store", .genuineStores, arguments: Corpus.stores)
    func corpus(_ genuine: String) async throws {
        let store = Corpus.location(of: genuine)
        let scratch = try Scratch()
        let path = try scratch.copy(store.folder, as: "copy") + "/" + store.name
        let before = try scratch.fingerprint()
        let inspected = try Grammar().check(try await Tool.run(["inspect", path, "--json"]))
        let count = inspected.first { $0["type"]?.string == "store" }?["model"]?["entities"]?.integer
        let model = try Grammar().check(try await Tool.run(["inspect", path, "--show", "model", "--json"]))
        #expect(Int64(model.count { $0["type"]?.string == "entityDescription" }) == count)
        let graph = try await Tool.run(["inspect", path, "--show", "graph"])
        #expect(graph.status == 0, "\(graph.errors)")
        try MermaidSubset.check(graph.output)
        #expect(graph.lines.count { $0.hasPrefix("    class ") } == count.map(Int.init))
        #expect(try scratch.fingerprint() == before)
    }
}
