import FoundationEssentials
import Testing

@Suite("Verbs inspect, verify and fixture build")
struct InspectTests {
    private static let recipe = Tool.package + "/Fixtures/HabitCalendar/HabitCalendar.yaml"

    @Test("fixture build creates the demonstration store, with rows only in the log")
    func fixture() async throws {
        let scratch = try Scratch()
        let path = scratch.path("Habits.sqlite")
        let built = try await Tool.run(["fixture", "build", Self.recipe, path, "--json"])
        #expect(built.status == 0, "\(built.errors)")
        let fixture = try #require(try Grammar().check(built).first)
        let run = try await Tool.run(["inspect", path, "--json"])
        let store = try #require(try Grammar().check(run).first { $0["type"]?.string == "store" })
        #expect(store["kind"]?.string == "coreData")
        #expect(store["journalMode"]?.string == "wal")
        #expect(store["model"]?["source"]?.string == "modelCache")
        #expect(store["history"]?["transactions"]?.integer ?? 0 > 0)
        let roles = store["files"]?.array?.compactMap { $0["role"]?.string } ?? []
        #expect(roles.contains("main") && roles.contains("writeAheadLog") && roles.contains("externalData"))
        let entities = store["entities"]?.array ?? []
        for name in ["Habit", "HabitDay", "DaysChallenge"] {
            #expect(entities.contains { $0["name"]?.string == name && $0["objects"]?.integer ?? 0 > 0 }, "\(name)")
        }
        #expect(entities.reduce(0) { $0 + ($1["objects"]?.integer ?? 0) } == fixture["objects"]?.integer)
        let verify = try await Tool.run(["verify", path, "--json"])
        #expect(verify.status == 0, "\(verify.output)")
    }

    @Test("verify --level content compares a shared store with its receipt, until a program writes to the store")
    func recordedContent() async throws {
        let scratch = try Scratch()
        let old = scratch.path("H.sqlite")
        _ = try await Tool.run(["fixture", "build", Self.recipe, old])
        try FileManager.default.createDirectory(atPath: scratch.path("new"), withIntermediateDirectories: false)
        let new = scratch.path("new/H.sqlite")
        let receipt = scratch.path("new/.H.sqlite.store-migrate.json")
        let verify = { try await Tool.run(["verify", new, "--level", "content"]) }

        #expect(try await verify().status == 10)
        #expect(try await Tool.run(["share", old, new]).status == 0)
        let equal = try await verify()
        #expect(equal.status == 0)
        #expect(!equal.output.contains("skipped"))

        let text = try String(contentsOfFile: receipt, encoding: .utf8)
        let digest = try #require(text.firstMatch(of: /"digest" : "([0-9a-f]{64})"/)?.1)
        let other = text.replacing(digest, with: String(repeating: "0", count: 64))
        try other.write(toFile: receipt, atomically: true, encoding: .utf8)
        let differing = try await verify()
        #expect(differing.status == 3)
        #expect(differing.output.contains("differs from what was shared"))

        _ = try await SQLiteProgram.run(new, "UPDATE ZHABIT SET Z_OPT = Z_OPT + 1")
        let written = try await verify()
        #expect(written.status == 0)
        #expect(written.output.contains("written to since"))
    }

    @Test("An invalid recipe ends with status 2, names line and column, and builds nothing")
    func wrongRecipe() async throws {
        let scratch = try Scratch()
        let recipe = try scratch.file("r.yaml", Array("name: [\n".utf8))
        let run = try await Tool.run(["fixture", "build", recipe, scratch.path("x.sqlite")])
        #expect(run.status == 2, "\(run.errors)")
        #expect(run.errorLines.count == 1)
        #expect(run.errors.contains(/r\.yaml:[0-9]+:[0-9]+/))
        #expect(try scratch.names(scratch.path) == ["r.yaml"])
    }

    @Test("fixture build over an existing file ends with status 12 and changes nothing")
    func occupied() async throws {
        let scratch = try Scratch()
        try scratch.file("x.sqlite", [1])
        let before = try scratch.fingerprint()
        let run = try await Tool.run(["fixture", "build", Self.recipe, scratch.path("x.sqlite")])
        #expect(run.status == 12, "\(run.errors)")
        #expect(run.errorLines.count == 1)
        #expect(try scratch.fingerprint() == before)
    }

    @Test("inspect of a folder lists every store in it, with any file name, and no other file")
    func folder() async throws {
        let scratch = try Scratch()
        for name in ["a.sqlite", "b", "c d.Müll"] { try await scratch.store(name) }
        try scratch.file("text.sqlite", Array("no store".utf8))
        let run = try await Tool.run(["inspect", scratch.path, "--json"])
        #expect(run.status == 0)
        let stores = try Grammar().check(run).filter { $0["type"]?.string == "store" }
        #expect(stores.compactMap { $0["path"]?.string } == ["a.sqlite", "b", "c d.Müll"].map { scratch.path($0) })
        #expect(stores.first?["kind"]?.string == "sqlite")
        #expect(stores.first?["tables"]?.array?.compactMap { $0["rows"]?.integer } == [2, 1])
        let text = try await Tool.run(["inspect", scratch.path])
        #expect(text.lines.filter { $0.hasSuffix(": 3 rows") }.count == 3, "\(text.output)")
    }

    @Test("verify reports an index that differs from its table as a finding, with status 3")
    func damagedIndex() async throws {
        let scratch = try Scratch()
        let path = try await scratch.store(
            "H.db",
            """
            CREATE TABLE t(a, b); CREATE INDEX i ON t(a);
            INSERT INTO t VALUES(1, 9), (2, 8), (3, 7);
            PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON t(b)' WHERE name = 'i';
            """
        )
        let run = try await Tool.run(["verify", path, "--json"])
        #expect(run.status == 3, "\(run.output)\(run.errors)")
        let lines = try Grammar().check(run)
        let finding = try #require(lines.first { $0["type"]?.string == "finding" })
        #expect(finding["level"]?.string == "sqlite")
        #expect(finding["severity"]?.string == "error")
        #expect(lines.first { $0["type"]?.string == "verification" }?["passed"] == .bool(false))
        let text = try await Tool.run(["verify", path])
        #expect(text.status == 3)
        #expect(text.errors.isEmpty)
        #expect(text.output.contains("sqlite    failed"))
    }
}
