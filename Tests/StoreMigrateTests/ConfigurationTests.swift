import FoundationEssentials
import StoreAccess
import StoreMigration
import StoreStrategies
import StrategyProcess
import Testing

@testable import store_migrate

@Suite("The configuration file and the environment")
struct ConfigurationTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// The options of a call of `share` with a configuration.
    private func share(
        _ yaml: String,
        _ words: [String],
        environment: [String: String] = [:]
    ) throws -> ShareVerb {
        let file = try scratch.file("store-migrate.yaml", Array(yaml.utf8))
        return try completed(["share", "--config", file] + words, environment)
    }

    private func completed<Command: ConfiguredVerb>(
        _ words: [String],
        _ environment: [String: String],
        as type: Command.Type = ShareVerb.self
    ) throws -> Command {
        try #require(try Launch.parsed(words, environment: environment) as? Command)
    }

    @Test("Keys of a configuration become options, and relative paths start at its folder")
    func options() throws {
        let found = try share(
            """
            level: coredata
            state: journals
            roles: [app=Model.momd, extension(widget)]
            strategies:
              - WriteAheadLog
              - SharedAccess: {mode: "0660", group: habits}
            plugin-path: plugins
            """,
            ["old", "new"]
        )
        #expect(found.policy.level == .coredata && found.policy.onBoth == .fail)
        #expect(found.run.state?.text == scratch.path + "/journals")
        #expect(found.strategies.roles.map(\.role) == [.app, .extension("widget")])
        #expect(found.strategies.roles.map(\.modelFile) == [scratch.path + "/Model.momd", nil])
        #expect(found.strategies.selections.map(\.name) == ["WriteAheadLog", "SharedAccess"])
        #expect(found.strategies.selections.map(\.options.values) == [[:], ["mode": "0660", "group": "habits"]])
        #expect(found.strategies.plugins.pluginPath.map(\.text) == [scratch.path + "/plugins"])
    }

    @Test("migrate, model and version make a share migrate its copy, and need each other as the options do")
    func migration() throws {
        let found = try share("model: Habits.momd\nmigrate: true\nversion: Habits 2\n", ["old", "new"]).policy
        #expect(found.migrate && found.modelVersion == "Habits 2")
        #expect(found.model?.text == scratch.path + "/Habits.momd")
        #expect(try !share("model: Habits.momd\nmigrate: false\n", ["old", "new"]).policy.migrate)
        for yaml in ["migrate: true", "model: Habits.momd\nversion: Habits 2"] {
            #expect(throws: (any Error).self) { try share(yaml, ["old", "new"]) }
        }
    }

    @Test("legacy-defaults and legacy-key become one import per list element")
    func legacyChanges() throws {
        let yaml = "legacy-defaults: [group.plist, /other.plist]\nlegacy-key: [pending, changes]\n"
        let found = try share(yaml, ["a", "b"]).policy.legacy
        #expect(found.legacyDefaults.map(\.text) == [scratch.path + "/group.plist", "/other.plist"])
        #expect(found.legacyKey == ["pending", "changes"])
    }

    @Test("Arguments override the environment, which overrides the file; a list is replaced whole")
    func precedence() throws {
        let yaml = "level: files\nold: capture\nstrategies: [WriteAheadLog, FileProtection]\n"
        let environment = ["STORE_MIGRATE_LEVEL": "sqlite", "STORE_MIGRATE_STRATEGIES": "RollbackJournal"]
        let plain = try share(yaml, ["a", "b"], environment: environment)
        #expect(plain.policy.old == .capture && plain.policy.level == .sqlite)
        #expect(plain.strategies.selections.map(\.name) == ["RollbackJournal"])
        let called = try share(yaml, ["a", "b", "--level", "content", "--strategy=X"], environment: environment)
        #expect(called.policy.old == .capture && called.policy.level == .content)
        #expect(called.strategies.selections.map(\.name) == ["X"])
    }

    @Test("A new store on the command line overrides the group of the configuration")
    func placeOfCall() throws {
        let yaml = "group: group.app\nname: Habits\n"
        func places(_ words: [String]) throws -> [String?] {
            let places = try share(yaml, words).places
            return [places.old.text, places.new?.text, places.group.group, places.group.name]
        }
        #expect(try places(["old"]) == ["old", nil, "group.app", "Habits"])
        #expect(try places(["--strict", "old", "new"]) == ["old", "new", nil, nil])
        #expect(try places(["old", "--group", "g"]) == ["old", nil, "g", nil])
        #expect(try places(["old", "--name", "Own"]) == ["old", nil, "group.app", "Own"])
    }

    @Test("STORE_MIGRATE_CONFIG alone names the configuration, and verbs other than share and plan ignore it")
    func others() async throws {
        let file = try scratch.file("other.yaml", Array("level: files".utf8))
        let environment = ["STORE_MIGRATE_CONFIG": file]
        #expect(try completed(["share", "a", "b"], environment).policy.level == .files)
        #expect(try completed(["plan", "a", "b"], environment, as: PlanVerb.self).policy.level == .files)
        let absent = ["STORE_MIGRATE_CONFIG": scratch.path("absent.yaml")]
        #expect(try await Tool.run(["status", scratch.path("a"), scratch.path("b")], environment: absent).status == 10)
        #expect(try await Tool.run(["plan", scratch.path("a"), scratch.path("b")], environment: absent).status == 2)
    }

    @Test("Options of the call and of its configuration must fit together")
    func together() async throws {
        let file = try scratch.file("keys.yaml", Array("legacy-key: pending\nroles: [app, app]\n".utf8))
        let call = ["plan", scratch.path("a"), scratch.path("b"), "--config", file]
        let twice = try await Tool.run(call)
        #expect(twice.status == 2 && twice.errors.contains("the role app is named twice"), "\(twice.errors)")
        let keys = try await Tool.run(call + ["--role", "app"])
        #expect(keys.status == 2 && keys.errors.contains("name a key with --legacy-key"), "\(keys.errors)")
        let both = try await Tool.run(call + ["--role", "app", "--legacy-defaults", scratch.path("p.plist")])
        #expect(both.status == 10, "\(both.errors)")
    }

    @Test(
        "An invalid configuration ends with status 2, names line and column, and changes nothing",
        arguments: [
            ("level: files\nlevle: sqlite\n", "line 2, column 1: 'levle' is not a configuration key"),
            ("level: [a, b]\n", "line 1, column 8: 'level' takes one value, not a list"),
            ("- a\n", "line 1, column 1: a configuration is a list"),
            ("strategies:\n  - SharedAccess: 5\n", "line 2, column 19: the options of 'SharedAccess'"),
            ("level: {a: b}\n", "line 1, column 8: the value of 'level' must be a string"),
            ("level: files\nold: keep\n", "line 2, column 6: 'keep' is not a value of 'old'; use fence, capture"),
            ("on-both: \"no\"", "line 1, column 10: 'no' is not a value of 'on-both'; use fail, keep-old, keep-new"),
            ("level:  deep", "line 1, column 9: 'deep' is not a value of 'level'; use files, sqlite"),
            ("model: m\nmigrate: maybe", "line 2, column 10: 'maybe' is not a value of 'migrate'; use true, false"),
            ("if-missing: never", "line 1, column 13: 'never' is not a value of 'if-missing'; use fail, ignore"),
            ("if-busy: x", "line 1, column 10: 'x' is not a value of 'if-busy'; use wait, defer, fail"),
            ("plugin-sandbox: off", "line 1, column 17: 'off' is not a value of 'plugin-sandbox'; use required"),
            ("lock-timeout: soon", "line 1, column 15: write a whole number and a unit"),
            ("plugin-timeout: 1m", "line 1, column 17: --plugin-timeout must be more than 0 and at most 30s"),
            ("group: ../etc", "line 1, column 8: '../etc' is no group identifier"),
            ("name: a/b", "line 1, column 7: 'a/b' is not a database name"),
            ("roles: [app, widget]", "line 1, column 14: write app or extension(name)"),
            ("roles: [app=]", "line 1, column 9: write app or extension(name)"),
            ("strategies: [WriteAheadLog, Nonsense]", "line 1, column 29: there is no strategy 'Nonsense'"),
            ("strategies:\n  - WriteAheadLog:speed=1", "line 2, column 5: WriteAheadLog has no option speed"),
            ("strategies: [{SharedAccess: {mode: 777}}]", "line 1, column 14: SharedAccess: '777' is no value of"),
            ("strategies: [RollbackJournal:mode=off]", "line 1, column 14: RollbackJournal: 'off' is no value"),
            ("strategies: ['SharedAccess:mode']", "line 1, column 14: SharedAccess: 'mode' is no option"),
            ("state: {a: b}", "line 1, column 8: the value of 'state' must be a string"),
            ("level: \"files\nold: fence\n", "line "),
            ("level: files\nlevel: sqlite\n", "line 2, column 1: the key 'level' is there twice"),
            ("level: &a x\nname: [" + String(repeating: "*a, ", count: 33) + "]", "more than 32 aliases"),
        ]
    )
    func wrong(_ yaml: String, _ message: String) async throws {
        let file = try scratch.file("wrong.yaml", Array(yaml.utf8))
        let before = try scratch.fingerprint()
        let run = try await Tool.run(["share", scratch.path("a"), scratch.path("b"), "--config", file])
        #expect(run.status == 2)
        #expect(run.errorLines.count == 1 && run.errors.contains(message), "\(run.errors)")
        #expect(run.errors.contains(file), "\(run.errors)")
        #expect(try scratch.fingerprint() == before)
        let missing = try await Tool.run(["share", "a", "b", "--config=\(scratch.path("none.yaml"))", "--json"])
        #expect(missing.status == 2)
        try Grammar().check(missing)
    }

    @Test("A share applies the strategies and the descriptions file of a configuration")
    func share() async throws {
        let old = try await scratch.store("Habits.sqlite", "PRAGMA journal_mode=wal;" + Scratch.habits)
        let new = try scratch.folder("new")
        let file = try scratch.file(
            "store-migrate.yaml",
            Array("strategies: [RollbackJournal]\ndescriptions: out.json\n".utf8)
        )
        let run = try await Tool.run(["share", old, new], environment: ["STORE_MIGRATE_CONFIG": file])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try Array(Data(contentsOf: URL(filePath: new + "/Habits.sqlite")))[18...19] == [1, 1])
        #expect(FileManager.default.fileExists(atPath: scratch.path("out.json")))
    }

    @Test(
        "An invalid value in the environment ends with status 2 and names the variable",
        arguments: [
            ("LEVEL", "deep", "$STORE_MIGRATE_LEVEL: 'deep' is not a value of 'level'"),
            ("STRATEGIES", "WriteAheadLog Nonsense", "$STORE_MIGRATE_STRATEGIES: there is no strategy 'Nonsense'"),
            ("LOCK_TIMEOUT", "1h", "$STORE_MIGRATE_LOCK_TIMEOUT: write a whole number"),
        ]
    )
    func wrongVariable(_ name: String, _ value: String, _ message: String) async throws {
        let run = try await Tool.run(
            ["share", scratch.path("a"), scratch.path("b")],
            environment: ["STORE_MIGRATE_" + name: value]
        )
        #expect(run.status == 2)
        #expect(run.errorLines.count == 1 && run.errors.contains(message), "\(run.errors)")
    }

    /// Three different valid values of every key: for the file, the environment and the arguments.
    private static let values: [ConfigurationKey: [String]] = [
        .group: ["group.a", "group.b", "group.c"], .name: ["a", "b", "c"], .groups: ["/a", "/b", "/c"],
        .previous: ["/a.sqlite", "/b.sqlite", "/c.sqlite"], .onSeveral: ["newest", "merge", "fail"],
        .old: ["fence", "capture", "fence"], .onBoth: ["merge", "keep-old", "keep-new"],
        .level: ["files", "sqlite", "coredata"], .model: ["/a.momd", "/b.momd", "/c.momd"],
        .migrate: ["true", "false", "true"], .version: ["1", "2", "3"],
        .ifMissing: ["ignore", "fail", "ignore"], .ifBusy: ["wait", "defer", "fail"],
        .lockTimeout: ["1s", "2s", "3s"], .state: ["/a", "/b", "/c"],
        .confirm: ["/a", "/b", "/c"], .resolver: ["/a", "/b", "/c"],
        .backup: ["/archives", "/other", "/third"],
        .strategies: ["WriteAheadLog", "RollbackJournal", "HistoryTracking"], .roles: ["app", "extension(b)", "app"],
        .pluginTimeout: ["1s", "2s", "3s"], .pluginPath: ["/a", "/b", "/c"],
        .pluginSandbox: ["best-effort", "required", "best-effort"],
        .descriptions: ["/a.json", "/b.json", "/c.json"],
        .legacyDefaults: ["/a.plist", "/b.plist", "/c.plist"], .legacyKey: ["a", "b", "c"],
    ]

    /// The value of an option, as it is written.
    private static func text(_ key: ConfigurationKey, _ verb: some ConfiguredVerb) -> String? {
        let plugins = verb.strategies.plugins
        return switch key {
        case .group: verb.places.group.group
        case .name: verb.places.group.name
        case .groups: verb.places.group.groups?.text
        case .previous: verb.previous.previous.map(\.text).joined(separator: " ")
        case .onSeveral: verb.previous.onSeveral.rawValue
        case .old: verb.policy.old?.rawValue
        case .onBoth: verb.policy.onBoth.rawValue
        case .level: verb.policy.level.rawValue
        case .model: verb.policy.model?.text
        case .migrate: "\(verb.policy.migrate)"
        case .version: verb.policy.modelVersion
        case .ifMissing: verb.policy.ifMissing.rawValue
        case .ifBusy: verb.run.ifBusy.rawValue
        case .lockTimeout: verb.run.access.lockTimeout.description
        case .state: verb.run.state?.text
        case .strategies: verb.strategies.selections.map(\.name).joined(separator: " ")
        case .roles: verb.strategies.roles.map { "\($0.role)" }.joined(separator: " ")
        case .pluginPath: plugins.pluginPath.map(\.text).joined(separator: " ")
        case .pluginSandbox: plugins.confinement.pluginSandbox.rawValue
        case .pluginTimeout: plugins.confinement.pluginTimeout.description
        case .confirm: verb.confirm?.text
        case .resolver: verb.policy.merging.resolver?.text
        case .backup: verb.policy.backup?.text
        case .descriptions: verb.descriptions?.text
        case .legacyDefaults: verb.policy.legacy.legacyDefaults.map(\.text).joined(separator: " ")
        case .legacyKey: verb.policy.legacy.legacyKey.joined(separator: " ")
        }
    }

    @Test(
        "For every key, arguments override the environment, which overrides the file",
        arguments: ConfigurationKey.allCases
    )
    func everyKey(_ key: ConfigurationKey) throws {
        let values = try #require(Self.values[key])
        let yaml = "\(key.rawValue): \(key.isList ? "[\(values[0])]" : values[0])"
        // Options that fit only together with another option.
        let other: [ConfigurationKey: String] = [
            .name: "group: g", .groups: "group: g", .legacyKey: "legacy-defaults: /p", .legacyDefaults: "legacy-key: k",
            .migrate: "model: /m", .version: "model: /m\nmigrate: true",
        ]
        let file = try scratch.file("key.yaml", Array((yaml + "\n" + (other[key] ?? "")).utf8))
        let environment = [key.variable: values[1]]
        func check<Verb: ConfiguredVerb>(_ verb: Verb.Type) throws {
            func found(_ environment: [String: String], _ words: [String] = []) throws -> String? {
                let places = key.isPlace ? ["old"] : ["old", "new"]
                let call = Verb.words + ["--config", file] + places + words
                return Self.text(key, try completed(call, environment, as: Verb.self))
            }
            #expect(try found([:]) == values[0])
            // The library reads the variable of this key itself, and it overrides the file.
            #expect(try found(environment) == (key == .groups ? nil : values[1]))
            guard key != .migrate else {
                // A flag.
                #expect(try found(environment, [key.option]) == values[2])
                return
            }
            #expect(try found(environment, ["\(key.option)=\(values[2])"]) == values[2])
            #expect(try found(environment, [key.option, values[2]]) == values[2])
        }
        try check(ShareVerb.self)
        try check(PlanVerb.self)
    }

    @Test("Environment variables hold lists, and folders of plugins may have spaces in their names")
    func lists() throws {
        let environment = [
            "STORE_MIGRATE_PLUGIN_PATH": "/a b:/c", "STORE_MIGRATE_STRATEGIES": "WriteAheadLog HistoryTracking",
        ]
        let found = try share("level: files", ["a", "b"], environment: environment)
        #expect(found.policy.level == .files)
        #expect(found.strategies.selections.map(\.name) == ["WriteAheadLog", "HistoryTracking"])
        #expect(found.strategies.plugins.pluginPath.map(\.text) == ["/a b", "/c"])
    }

    @Test(
        "--config without a file, or given twice, ends with status 2",
        arguments: [
            (["share", "a", "b", "--config"], "Missing value for '--config"),
            (["share", "--config=", "a", "b"], "is invalid for '--config"),
            (["share", "--config", "--", "a", "b"], "Missing value for '--config"),
            (["share", "--config", "--json", "a", "b"], "Missing value for '--config"),
            (["plan", "--config", "x", "a", "b", "--config=y"], "'--config' is given twice"),
        ]
    )
    func option(_ call: [String], _ message: String) async throws {
        let run = try await Tool.run(call)
        #expect(run.status == 2)
        #expect(run.errorLines.count == 1 && run.errors.contains(message), "\(run.errors)")
    }

    @Test("After --, every argument is positional, even --config")
    func places() throws {
        let file = try scratch.file("group.yaml", Array("group: group.app\nlevel: files\n".utf8))
        func found(_ words: [String]) throws -> [String?] {
            let verb = try completed(["share", "--config", file] + words, [:])
            return [verb.places.new?.text, verb.places.group.group, verb.policy.level.rawValue]
        }
        #expect(try found(["--", "a", "--config"]) == ["--config", nil, "files"])
        #expect(try found(["--", "a", "--level"]) == ["--level", nil, "files"])
        #expect(try found(["--", "a"]) == [nil, "group.app", "files"])
        #expect(try found(["a", "--", "b"]) == ["b", nil, "files"])
        #expect(try found(["a", "--state", "b"]) == [nil, "group.app", "files"])
    }

    @Test("A printed next command knows which options have no value, and which have a path")
    func repeatedOptions() async throws {
        var (flags, paths): (Set<String>, Set<String>) = ([], [])
        for verb in ["share", "plan", "merge", "unshare", "retire", "resume", "abort", "status", "unmerge", "migrate"] {
            let listed = try await Tool.run([verb, "--help"]).lines.filter { $0.hasPrefix("  -") }
                .map { $0.split(separator: " ").map(String.init) }
            #expect(listed.count > 5)
            for words in listed {
                guard let index = words.firstIndex(where: { $0.hasPrefix("--") }) else { continue }
                let value = words.dropFirst(index + 1).first { $0.hasPrefix("<") && index + 1 < words.count }
                if value == nil || words[index + 1].first != "<" { flags.insert(words[index]) }
                if ["<file>", "<dir>", "<store>", "<path>"].contains(value) { paths.insert(words[index]) }
            }
        }
        #expect(flags.subtracting(RepeatedOptions.left).subtracting(["--help"]) == RepeatedOptions.flags)
        #expect(paths.subtracting(RepeatedOptions.left).subtracting(["--from-parked"]) == RepeatedOptions.paths)
    }
}
