import BuiltInStrategies
import FoundationEssentials
import StoreStrategies
import Testing

@Suite("Verbs strategies list, show and run")
struct StrategiesTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test("strategies list prints every strategy with its summary")
    func list() async throws {
        let run = try await Tool.run(["strategies", "list"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.lines.count == BuiltInStrategies.all.count)
        for (line, strategy) in zip(run.lines, BuiltInStrategies.all) {
            #expect(line.hasPrefix("  \(strategy.name) "))
            #expect(line.hasSuffix(strategy.documentation.summary))
        }
        let json = try await Tool.run(["strategies", "list", "--json"])
        let names = try Grammar().check(json).compactMap { $0["name"]?.string }
        #expect(names == BuiltInStrategies.all.map(\.name))
    }

    @Test("strategies show prints all documentation of a strategy", arguments: BuiltInStrategies.all.map(\.name))
    func show(_ name: String) async throws {
        let page = try #require(BuiltInStrategies.all.first { $0.name == name }?.documentation)
        let run = try await Tool.run(["strategies", "show", name])
        #expect(run.status == 0, "\(run.errors)")
        let words =
            [page.summary, page.notApplicable, "--strategy " + page.example] + page.sets.map(\.rawValue)
            + page.options.flatMap { [$0.name, $0.summary] + $0.values + [$0.defaultValue].compactMap(\.self) }
        for word in words { #expect(run.output.contains(word), "\(word)") }
        let record = try Grammar().check(try await Tool.run(["strategies", "show", name, "--json"])).first
        #expect(record?["notApplicable"]?.string == page.notApplicable)
        #expect(record?["options"]?.array?.count == page.options.count)
    }

    private static let request = """
        {"facts": {"kind": "coreData", "journalMode": "wal", "hasHistory": false, "hasModel": true, "objectCount": 1,
         "byteCount": 1, "externalFileCount": 0, "mode": 420, "containerMode": 509, "containerGroup": 1,
         "isContainerRemote": false}, "role": "ROLE", "options": {}, "description": {"url": "file:///g/H.sqlite"}}
        """

    @Test("strategies run prints what a strategy sets, or why it does not apply")
    func run() async throws {
        let file = try scratch.file("app.json", Array(Self.request.replacing("ROLE", with: "app").utf8))
        let call = ["strategies", "run", "WriteAheadLog:persistent=true", "--request", file]
        let run = try await Tool.run(call)
        #expect(run.output == "sqlitePragmas.journal_mode = WAL\nusesPersistentWriteAheadLog = true\n", "\(run.errors)")
        let answer = try Grammar().check(try await Tool.run(call + ["--json"])).first
        #expect(answer?["changes"]?["sqlitePragmas"]?["journal_mode"]?.string == "WAL")
        #expect(answer?["changes"]?["usesPersistentWriteAheadLog"] == .bool(true))

        let other = try await Tool.run(["strategies", "run", "ReadOnlyExtension", "--request", file])
        #expect(other.status == 0)
        #expect(other.output == "does not apply: the app writes the store\n")
    }

    @Test(
        "An unknown strategy or option, or an invalid request, ends with status 2 and one line",
        arguments: [
            ("WriteAheadLog:speed=1", "{REQUEST}", "has no option speed"),
            ("Nonsense", "{REQUEST}", "there is no strategy 'Nonsense'"),
            ("WriteAheadLog", "{}", "the request has no member 'facts'"),
            ("WriteAheadLog", "hello", "the request is invalid"),
            ("WriteAheadLog", "{\"facts\": 5}", "the request's member 'facts' has the wrong type"),
        ]
    )
    func wrong(_ strategy: String, _ request: String, _ message: String) async throws {
        let text = request == "{REQUEST}" ? Self.request.replacing("ROLE", with: "app") : request
        let file = try scratch.file("request.json", Array(text.utf8))
        let run = try await Tool.run(["strategies", "run", strategy, "--request", file])
        #expect(run.status == 2)
        #expect(run.errorLines.count == 1 && run.errors.contains(message), "\(run.errors)")
        #expect(try await Tool.run(["strategies", "show", "Nonsense"]).status == 2)
        #expect(try await Tool.run(["strategies", "run", strategy, "--request", scratch.path("no")]).status == 2)
    }
}
