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

    @Test("What it decides becomes options of the call, and paths are meant from where it lies")
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

    @Test("The file gives way to the environment, and that to the call; a list is replaced whole")
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

    @Test("A place on the command line takes the file's group back")
    func places() throws {
        let yaml = "group: group.app\nname: Habits\n"
        #expect(try words(yaml, ["share", "old"]) == ["share", "--group=group.app", "--name=Habits", "old"])
        #expect(try words(yaml, ["share", "--strict", "old", "new"]) == ["share", "--strict", "old", "new"])
        #expect(try words(yaml, ["share", "old", "--group", "g"]) == ["share", "old", "--group", "g"])
    }

    @Test("Other verbs are left alone, and the environment alone may name the file")
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
        "What is wrong is told with its line and column, and ends with status 2 before anything is done",
        arguments: [
            ("level: files\nlevle: sqlite\n", "line 2, column 1: 'levle' is no key"),
            ("level: [a, b]\n", "line 1, column 8: 'level' is no list"),
            ("- a\n", "line 1, column 1: a configuration is a list"),
            ("strategies:\n  - SharedAccess: 5\n", "line 2, column 19: the options of 'SharedAccess'"),
            ("level: {a: b}\n", "line 1, column 8: a value of 'level' is a text"),
            ("level: \"files\nold: fence\n", "line "),
            ("level: files\nlevel: sqlite\n", "'level' is given twice"),
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

    @Test("A share by it does what the options would")
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
}
