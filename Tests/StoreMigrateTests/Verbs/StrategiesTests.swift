import BuiltInStrategies
import FoundationEssentials
import StoreMigration
import StoreStrategies
import StrategyProcess
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

    /// A folder with the example plugin, which also the user of plugins may enter.
    private func plugins() throws -> String {
        let example = "store-migrate-strategy-ExcludedFromBackup"
        try scratch.folder("plugins")
        try scratch.copy("\(Tool.package)/Plugins/ExcludedFromBackup/\(example)", as: "plugins/\(example)")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scratch.path)
        return scratch.path("plugins")
    }

    @Test("strategies list --plugin-path also lists the plugins of the folder, and names those it cannot ask")
    func listOfPlugins() async throws {
        let folder = try plugins()
        try scratch.file("plugins/store-migrate-strategy-NotExecutable", Array("#!/bin/sh\n".utf8))
        let call = ["strategies", "list", "--plugin-path", folder]
        let run = try await Tool.run(call)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.lines.count == BuiltInStrategies.all.count + 1, "\(run.errors)")
        #expect(run.lines.last?.hasPrefix("  ExcludedFromBackup ") == true, "\(run.output)")
        #expect(run.lines.last?.hasSuffix("Keeps the store out of backups of the device.") == true, "\(run.output)")
        #expect(run.errors.contains("NotExecutable") && run.errors.contains("[pluginNotListed]"), "\(run.errors)")
        let names = try Grammar().check(try await Tool.run(call + ["--json"])).compactMap { $0["name"]?.string }
        #expect(names == BuiltInStrategies.all.map(\.name) + ["ExcludedFromBackup"])
        #expect(try await Tool.run(["strategies", "list"]).lines.count == BuiltInStrategies.all.count)
    }

    @Test("A plugin is a step of a share from Swift, which writes the same descriptions as the tool")
    func pluginStep() async throws {
        let (folder, name) = (try plugins(), "ExcludedFromBackup")
        var descriptions: [String] = []
        for place in ["swift", "tool"] {
            let old = try await scratch.store("\(place).sqlite")
            let new = try scratch.folder(place) + "/habits.sqlite"
            let file = scratch.path("\(place).json")
            if place == "swift" {
                var options = ShareOptions()
                options.descriptionsFile = URL(filePath: file)
                let outcome = try await StoreMigrator(
                    from: URL(filePath: old),
                    to: URL(filePath: new),
                    options: options,
                    strategies: StrategyPipeline([.writeAheadLog, .plugin(name, in: [folder])])
                )
                .shareStoreIfNecessary()
                #expect(outcome.outcome == .shared)
            } else {
                let call = ["share", old, new, "--strategy", "WriteAheadLog", "--strategy", name]
                let run = try await Tool.run(call + ["--plugin-path", folder, "--descriptions", file])
                #expect(run.status == 0, "\(run.errors)")
            }
            descriptions.append(
                try String(contentsOfFile: file, encoding: .utf8).replacing("/\(place)/", with: "/place/")
            )
        }
        #expect(descriptions[0].contains("\"isExcludedFromBackup\" : true"), "\(descriptions[0])")
        #expect(descriptions[0] == descriptions[1])
        let error = await #expect(throws: StrategyError.self) {
            try await StrategyPipeline.Step.plugin("ExcludedFromBackups", in: [folder])
        }
        #expect(error?.message.contains("did you mean '\(name)'?") == true)
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
