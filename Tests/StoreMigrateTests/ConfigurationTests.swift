import FoundationEssentials
import Testing

@testable import store_migrate

@Suite("The configuration file and the environment")
struct ConfigurationTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func words(_ yaml: String, _ words: [String], environment: [String: String] = [:]) throws -> [String] {
        let file = try scratch.file("store-migrate.yaml", Array(yaml.utf8))
        return try ConfiguredWords([words[0], "--config", file] + words.dropFirst(), environment: environment).words
    }

    @Test("Keys of a configuration become options, and relative paths start at its folder")
    func options() throws {
        let found = try words(
            """
            level: coredata
            state: journals
            roles: [app=Model.momd, extension(widget)]
            strategies:
              - WriteAheadLog
              - SharedAccess: {mode: "0660", group: habits}
            plugin-path: plugins
            """,
            ["share", "old", "new"]
        )
        #expect(
            found == [
                "share", "--level=coredata", "--state=\(scratch.path)/journals", "--strategy=WriteAheadLog",
                "--strategy=SharedAccess:mode=0660,group=habits", "--role=app=\(scratch.path)/Model.momd",
                "--role=extension(widget)", "--plugin-path=\(scratch.path)/plugins", "old", "new",
            ]
        )
    }

    @Test("legacy-defaults and legacy-key become one option per list element")
    func legacyChanges() throws {
        let yaml = "legacy-defaults: [group.plist, /other.plist]\nlegacy-key: [pending, changes]\n"
        #expect(
            try words(yaml, ["share", "a", "b"]) == [
                "share", "--legacy-defaults=\(scratch.path)/group.plist", "--legacy-defaults=/other.plist",
                "--legacy-key=pending", "--legacy-key=changes", "a", "b",
            ]
        )
    }

    @Test("Arguments override the environment, which overrides the file; a list is replaced whole")
    func precedence() throws {
        let yaml = "level: files\nold: capture\nstrategies: [WriteAheadLog, FileProtection]\n"
        let environment = ["STORE_MIGRATE_LEVEL": "sqlite", "STORE_MIGRATE_STRATEGIES": "RollbackJournal"]
        #expect(
            try words(yaml, ["plan", "a", "b"], environment: environment)
                == ["plan", "--old=capture", "--level=sqlite", "--strategy=RollbackJournal", "a", "b"]
        )
        #expect(
            try words(yaml, ["plan", "a", "b", "--level", "content", "--strategy=X"], environment: environment)
                == ["plan", "--old=capture", "a", "b", "--level", "content", "--strategy=X"]
        )
    }

    @Test("A new store on the command line overrides the group of the configuration")
    func placeOfCall() throws {
        let yaml = "group: group.app\nname: Habits\n"
        #expect(try words(yaml, ["share", "old"]) == ["share", "--group=group.app", "--name=Habits", "old"])
        #expect(try words(yaml, ["share", "--strict", "old", "new"]) == ["share", "--strict", "old", "new"])
        #expect(try words(yaml, ["share", "old", "--group", "g"]) == ["share", "old", "--group", "g"])
    }

    @Test("STORE_MIGRATE_CONFIG alone names the configuration, and verbs other than share and plan ignore it")
    func others() throws {
        let file = try scratch.file("other.yaml", Array("level: files".utf8))
        let environment = ["STORE_MIGRATE_CONFIG": file]
        #expect(try ConfiguredWords(["inspect", "a"], environment: environment).words == ["inspect", "a"])
        #expect(
            try ConfiguredWords(["share", "a", "b"], environment: environment).words == [
                "share", "--level=files", "a", "b",
            ]
        )
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

    /// Three valid values of every key: for the file, the environment and the arguments.
    private static let values: [ConfigurationKey: [String]] = [
        .group: ["group.a", "group.b", "group.c"], .name: ["a", "b", "c"], .groups: ["/a", "/b", "/c"],
        .old: ["fence", "capture", "fence"], .onBoth: ["fail", "keep-old", "keep-new"],
        .level: ["files", "sqlite", "coredata"], .model: ["/a.momd", "/b.momd", "/c.momd"],
        .ifMissing: ["fail", "ignore", "fail"], .ifBusy: ["wait", "defer", "fail"],
        .lockTimeout: ["1s", "2s", "3s"], .state: ["/a", "/b", "/c"],
        .backup: ["/archives", "/other", "/third"],
        .strategies: ["WriteAheadLog", "RollbackJournal", "HistoryTracking"], .roles: ["app", "extension(b)", "app"],
        .pluginTimeout: ["1s", "2s", "3s"], .pluginPath: ["/a", "/b", "/c"],
        .pluginSandbox: ["required", "best-effort", "required"],
        .descriptions: ["/a.json", "/b.json", "/c.json"],
        .legacyDefaults: ["/a.plist", "/b.plist", "/c.plist"], .legacyKey: ["a", "b", "c"],
    ]

    @Test(
        "For every key, arguments override the environment, which overrides the file",
        arguments: ConfigurationKey.allCases
    )
    func everyKey(_ key: ConfigurationKey) throws {
        let values = try #require(Self.values[key])
        let place = key == .name || key == .groups ? ["--group", "g"] : []
        let yaml = "\(key.rawValue): \(key.isList ? "[\(values[0])]" : values[0])"
        // The library reads the variable of this key itself, so it is not added to the arguments.
        let isVariableOurs = key != .groups
        let environment = [key.variable: values[1]]
        for verb in ["share", "plan"] {
            func found(_ environment: [String: String], _ words: [String] = []) throws -> [String] {
                try self.words(yaml, [verb, "old"] + place + words, environment: environment)
                    .filter { $0.hasPrefix(key.option + "=") }
            }
            guard key != .group else {
                // As an argument it names the new store, and overrides the other keys that do.
                #expect(try found([:]) == ["--group=group.a"])
                #expect(try found(environment) == ["--group=group.b"])
                #expect(try found(environment, ["--group", values[2]]) == [])
                continue
            }
            guard place.isEmpty else {
                func words(_ environment: [String: String]) throws -> [String] {
                    try self.words(yaml + "\ngroup: g", [verb, "old"], environment: environment)
                }
                #expect(try words([:]).contains("\(key.option)=\(values[0])"))
                #expect(try words(environment).contains("\(key.option)=\(values[1])") == isVariableOurs)
                #expect(try !words(environment).contains("\(key.option)=\(values[0])"))
                continue
            }
            #expect(try found([:]) == ["\(key.option)=\(values[0])"])
            #expect(try found(environment) == ["\(key.option)=\(values[1])"])
            #expect(try found(environment, ["\(key.option)=\(values[2])"]) == ["\(key.option)=\(values[2])"])
            #expect(try found(environment, [key.option, values[2]]) == [])
        }
    }

    @Test("Environment variables hold lists, and folders of plugins may have spaces in their names")
    func lists() throws {
        let environment = [
            "STORE_MIGRATE_PLUGIN_PATH": "/a b:/c", "STORE_MIGRATE_STRATEGIES": "WriteAheadLog HistoryTracking",
        ]
        #expect(
            try words("level: files", ["share", "a", "b"], environment: environment)
                == [
                    "share", "--level=files", "--strategy=WriteAheadLog", "--strategy=HistoryTracking",
                    "--plugin-path=/a b", "--plugin-path=/c", "a", "b",
                ]
        )
    }

    @Test(
        "--config without a file, or given twice, ends with status 2",
        arguments: [
            (["share", "a", "b", "--config"], "'--config' needs a file"),
            (["share", "--config=", "a", "b"], "'--config' needs a file"),
            (["share", "--config", "--", "a", "b"], "'--config' needs a file"),
            (["share", "--config", "--json", "a", "b"], "'--config' needs a file"),
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
        func words(_ words: [String]) throws -> [String] {
            try ConfiguredWords(["share", "--config", file] + words, environment: [:]).words
        }
        #expect(try words(["--", "a", "--config"]) == ["share", "--level=files", "--", "a", "--config"])
        #expect(try words(["--", "a"]) == ["share", "--group=group.app", "--level=files", "--", "a"])
        #expect(try words(["a", "--", "b"]) == ["share", "--level=files", "a", "--", "b"])
        #expect(
            try words(["a", "--state", "b"]) == ["share", "--group=group.app", "--level=files", "a", "--state", "b"]
        )
        #expect(try words(["--help"]) == ["share", "--config", file, "--help"])
    }

    @Test("The list of flags contains every option without a value of share and plan")
    func flags() async throws {
        for verb in ["share", "plan"] {
            let listed = try await Tool.run([verb, "--help"]).lines
                .filter { $0.hasPrefix("  -") && !$0.contains("<") }
                .flatMap { $0.split(separator: " ").map { $0.filter { $0 != "," } } }
                .filter { $0.hasPrefix("--") }
            #expect(listed.count > 5)
            #expect(Set(listed).subtracting(ConfiguredWords.flags) == [])
        }
    }
}
