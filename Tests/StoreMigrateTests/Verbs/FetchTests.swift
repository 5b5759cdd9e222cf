import FoundationEssentials
import StoreAccess
import TestSupport
import Testing

@Suite("Verb fetch")
struct FetchTests {
    private static func habits(_ scratch: Scratch) async throws -> String {
        let path = scratch.path("Habits.sqlite")
        let recipe = Tool.package + "/Fixtures/HabitCalendar/HabitCalendar.yaml"
        let built = try await Tool.run(["fixture", "build", recipe, path])
        try #require(built.status == 0, "\(built.errors)")
        return path
    }

    private static func objects(_ arguments: [String]) async throws -> [JSONTree] {
        let run = try await Tool.run(["fetch"] + arguments + ["--json"])
        #expect(run.status == 0, "\(run.errors)")
        return try Grammar().check(run).filter { $0["type"]?.string == "object" }
    }

    @Test("fetch prints one object per line, including rows that are only in the log, and changes no file")
    func rows() async throws {
        let scratch = try Scratch()
        let path = try await Self.habits(scratch)
        let before = try scratch.fingerprint()
        let objects = try await Self.objects([path, "Habit", "--where", "name BEGINSWITH[c] 'r'", "--sort", "name"])
        #expect(objects.map { $0["values"]?["name"]?.string } == ["Read ten pages"])
        let habit = try #require(objects.first)
        #expect(habit["entity"]?.string == "Habit")
        #expect(habit["uri"]?.string?.hasPrefix("x-coredata://") == true)
        #expect(habit["uri"]?.string?.contains("/Habit/p") == true)
        #expect(habit["values"]?["createdAt"]?.string == "2026-07-20T06:59:00Z")
        #expect(habit["values"]?["id"]?.string == "7F2D4C6B-1A8E-4B3D-8C5F-9E0A1B2C3D4E")
        #expect(habit["values"]?["picture"]?.string?.isEmpty == false)
        let days = try await Self.objects([path, "HabitDay", "--where", "habit.name == 'Morning run'", "--limit", "3"])
        #expect(days.count == 3)
        let morning = try await Self.objects([path, "Habit", "--where", "name == 'Morning run'"])
        #expect(days.allSatisfy { $0["values"]?["habit"] == morning.first?["uri"] })
        #expect(morning.first?["values"]?["picture"]?["externalFile"]?.string?.count == 36)
        #expect(try scratch.fingerprint() == before)
    }

    /// A predicate with `count` nested parentheses.
    private static func deep(_ count: Int) -> String {
        String(repeating: "NOT (name == 'x' AND ", count: count) + "name == 'y'" + String(repeating: ")", count: count)
    }

    @Test("A predicate with 2,001 alternatives, or 98 times NOT, is accepted")
    func long() async throws {
        let scratch = try Scratch()
        let path = try await Self.habits(scratch)
        let names = (0..<2_000).map { "name == 'x\($0)'" } + ["name == 'Morning run'"]
        #expect(try await Self.objects([path, "Habit", "--where", names.joined(separator: " OR ")]).count == 1)
        let negations = String(repeating: "NOT ", count: 98)
        #expect(try await Self.objects([path, "Habit", "--where", negations + "name == 'Morning run'"]).count == 1)
    }

    @Test("fetch returns as many objects as inspect counts, and sorts in both directions")
    func all() async throws {
        let scratch = try Scratch()
        let path = try await Self.habits(scratch)
        let inspected = try Grammar().check(try await Tool.run(["inspect", path, "--json"]))
        let entities = inspected.first { $0["type"]?.string == "store" }?["entities"]?.array ?? []
        for entity in entities {
            let name = try #require(entity["name"]?.string)
            #expect(try await Self.objects([path, name]).count == Int(entity["objects"]?.integer ?? -1))
        }
        let names = try await Self.objects([path, "Habit", "--sort", "colour:desc,name"])
            .map { "\($0["values"]?["colour"]?.string ?? "-") \($0["values"]?["name"]?.string ?? "-")" }
        let colours = names.map { $0.prefix(7) }
        #expect(Array(colours.filter { $0.hasPrefix("#") }) == colours.filter { $0.hasPrefix("#") }.sorted(by: >))
        #expect(names.last?.hasPrefix("-") == true)
    }

    @Test("fetch includes subentities unless --no-subentities is given")
    func subentities() async throws {
        let scratch = try Scratch()
        let path = scratch.path("r.sqlite")
        let recipe = Tool.package + "/Fixtures/Stores/inheritance/recipe.yaml"
        #expect(try await Tool.run(["fixture", "build", recipe, path]).status == 0)
        let all = try await Self.objects([path, "Country", "--sort", "code"])
        #expect(all.map { $0["entity"]?.string } == Array(repeating: "Country", count: 5) + ["Island"])
        #expect(all.last?["values"]?["area"]?.string == "NaN")
        #expect(all.first?["values"]?["area"]?.integer == 12)
        #expect(all.last?["values"]?["isInhabited"] == .bool(true))
        #expect(try await Self.objects([path, "Country", "--no-subentities"]).count == 5)
        let text = try await Tool.run(["fetch", path, "Country", "--limit", "2", "--sort", "code:desc"])
        #expect(text.lines.first?.split(separator: " ").prefix(2) == ["object", "area"])
        #expect(text.lines.dropFirst().map { $0.split(separator: " ").first } == ["Island/p7", "Country/p6"])
    }

    @Test(
        "An invalid entity, predicate, sort key or limit ends with status 2 and one line",
        arguments: [
            (["Habit", "--where", "name = = 1"], "column 8"),
            (["Habit", "--where", "nme == 'x'"], "no property 'nme'"),
            (["Habit", "--where", "name == 5"], "a string is expected"),
            (["Habit", "--where", "name MATCHES 'x)|(?:q'"], "not a valid regular expression"),
            (["Habit", "--where", Self.deep(45)], "nests too deeply"),
            (["Habit", "--where", Self.deep(60)], "nests too deeply"), (["Hbit"], "no such entity"),
            (["Habit", "--sort", "days"], "days"), (["Habit", "--sort", "name:up"], "asc or :desc"),
            (["Habit", "--limit", "0"], "from 1 on"), (["Habit", "--limit", "x"], "from 1 on"),
        ]
    )
    func wrong(_ arguments: [String], _ expected: String) async throws {
        let scratch = try Scratch()
        let path = try await Self.habits(scratch)
        let run = try await Tool.run(["fetch", path] + arguments)
        #expect(run.status == 2, "\(run.errors)")
        #expect(run.output.isEmpty)
        #expect(run.errorLines.count == 1, "\(run.errors)")
        #expect(run.errors.contains(expected), "\(run.errors)")
    }

    @Test("fetch ends with 13 for a plain SQLite store and 10 for a missing one")
    func other() async throws {
        let scratch = try Scratch()
        let path = try await scratch.store("plain.sqlite")
        let run = try await Tool.run(["fetch", path, "Habit", "--json"])
        #expect(run.status == 13, "\(run.errors)")
        #expect(try Grammar().check(run).last?["outcome"]?.string == "incompatible")
        #expect(try await Tool.run(["fetch", scratch.path("none"), "Habit"]).status == 10)
    }

    @Test("fetch returns every object of every genuine store", .genuineStores, arguments: Corpus.stores)
    func corpus(_ genuine: String) async throws {
        let store = Corpus.location(of: genuine)
        let scratch = try Scratch()
        let path = try scratch.copy(store.folder, as: "copy") + "/" + store.name
        let inspected = try Grammar().check(try await Tool.run(["inspect", path, "--json"]))
        let entities = inspected.first { $0["type"]?.string == "store" }?["entities"]?.array ?? []
        for entity in entities where entity["objects"]?.integer ?? 0 > 0 {
            let name = try #require(entity["name"]?.string)
            let run = try await Tool.run(["fetch", path, name, "--no-subentities", "--json"])
            #expect(run.status == 0, "\(name): \(run.errors)")
            #expect(run.lines.count == Int(entity["objects"]?.integer ?? 0) + 1, "\(name)")
        }
    }
}
