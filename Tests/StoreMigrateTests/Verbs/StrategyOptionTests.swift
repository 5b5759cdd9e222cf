import FoundationEssentials
import Testing

@Suite("Options --strategy, --role and --descriptions")
struct StrategyOptionTests {
    private let scratch: Scratch
    private let old: String
    private let new: String

    init() async throws {
        scratch = try Scratch()
        old = try await scratch.store("Habits.sqlite", "PRAGMA journal_mode=wal;" + Scratch.habits)
        new = try scratch.folder("new")
    }

    @Test(
        "Invalid or conflicting strategies end with status 2 and one line, and change nothing",
        arguments: [
            (["Nonsense"], "there is no strategy 'Nonsense'; there are FileProtection, HistoryTracking"),
            (
                ["WriteAheadLog", "RollbackJournal"],
                "WriteAheadLog sets sqlitePragmas.journal_mode to WAL and RollbackJournal"
            ),
            (["WriteAheadLog:speed=1"], "WriteAheadLog has no option speed; it has persistent"),
            (["SharedAccess:mode=777"], "SharedAccess: '777' is no value of the option mode"),
            (["SharedAccess:group=no-such-group-here"], "there is no group 'no-such-group-here'"),
            (["SharedAccess:group=4294967295"], "there is no group '4294967295'"),
            (["SharedAccess:group=4294967296"], "there is no group '4294967296'"),
            (["SharedAccess:mode=07777"], "SharedAccess: '07777' is no value of the option mode"),
            (["SharedAccess:mode=0000"], "SharedAccess: '0000' is no value of the option mode"),
            (["ReadOnlyExtension", "ReadOnlyExtension:name=x"], "ReadOnlyExtension does not apply"),
            (["SharedAccess:mode"], "'mode' is no option; write key=value"),
            (["ReadOnlyExtension"], "ReadOnlyExtension does not apply: the app writes the store"),
            (["HistoryTracking"], "HistoryTracking does not apply: only stores that Core Data made"),
        ]
    )
    func refused(_ strategies: [String], _ message: String) async throws {
        for verb in ["share", "plan"] {
            let before = try scratch.fingerprint()
            let run = try await Tool.run([verb, old, new] + strategies.flatMap { ["--strategy", $0] })
            #expect(run.status == 2)
            #expect(run.errorLines.count == 1, "\(run.errors)")
            #expect(run.errors.contains(message), "\(run.errors)")
            #expect(run.output.isEmpty)
            #expect(try scratch.fingerprint() == before)
        }
    }

    @Test("An invalid or repeated role, or an unreadable model, ends with status 2")
    func roles() async throws {
        let role = try await Tool.run(["share", old, new, "--role", "widget"])
        #expect(role.status == 2 && role.errors.contains("write app or extension(name)"), "\(role.errors)")
        let model = try await Tool.run(["share", old, new, "--role", "app=\(scratch.path("no.momd"))"])
        #expect(model.status == 2 && model.errors.contains("cannot read the model of app"), "\(model.errors)")
        for roles in [["app", "app=\(scratch.path("no.momd"))"], ["extension(a)", "app", "extension(a)"]] {
            let call = ["share", old, new] + roles.flatMap { ["--role", $0] }
            let run = try await Tool.run(call)
            #expect(run.status == 2 && run.errors.contains("is named twice"), "\(run.errors)")
        }
        #expect(try scratch.names(new).isEmpty)
    }

    @Test(
        "--descriptions never overwrites a store, its companion files or an unrelated file",
        arguments: [
            "old/Habits.sqlite", "old/Habits.sqlite-wal", "new/Habits.sqlite", "new/.Habits.sqlite.store-migrate.json",
            "notes.txt",
        ]
    )
    func descriptionsOverStores(_ name: String) async throws {
        let scratch = try Scratch()
        for folder in ["old", "new"] { try scratch.folder(folder) }
        let old = try await scratch.store("old/Habits.sqlite")
        try scratch.file("notes.txt", Array("mine".utf8))
        let before = try scratch.fingerprint()
        let run = try await Tool.run(["share", old, scratch.path("new"), "--descriptions", scratch.path(name)])
        #expect(run.status == 2)
        #expect(run.errors.contains("Name another path for the descriptions."), "\(run.errors)")
        #expect(try scratch.fingerprint() == before)
    }

    @Test("share writes the descriptions of all roles, also when the store is already shared")
    func descriptions() async throws {
        let file = scratch.path("descriptions.json")
        let call = [
            "share", old, new, "--strategy", "RollbackJournal", "--strategy", "ReadOnlyExtension", "--strategy",
            "FileProtection:class=complete", "--role", "app", "--role", "extension(widget)", "--descriptions", file,
        ]
        let first = try await Tool.run(call + ["--json"])
        #expect(first.status == 0, "\(first.errors)")
        let findings = try Grammar().check(first).compactMap { $0["code"]?.string }
        #expect(findings.contains("forApplePlatforms") && findings.contains("strategySkipped"))
        let text = try String(contentsOf: URL(filePath: file), encoding: .utf8)
        let written = try JSONTree(text)
        #expect(written["app"]?["isReadOnly"] == .bool(false))
        #expect(written["extension(widget)"]?["isReadOnly"] == .bool(true))
        #expect(written["app"]?["sqlitePragmas"]?["journal_mode"]?.string == "DELETE")
        #expect(written["app"]?["fileProtection"]?.string == "NSFileProtectionComplete")
        #expect(written["app"]?["url"]?.string?.hasSuffix("/new/Habits.sqlite") == true)

        try FileManager.default.removeItem(atPath: file)
        let second = try await Tool.run(call)
        #expect(second.status == 0, "\(second.errors)")
        #expect(try String(contentsOf: URL(filePath: file), encoding: .utf8) == text)
    }

    @Test("Strategies named after the share give the finding strategiesNotApplied and change nothing")
    func afterwards() async throws {
        #expect(try await Tool.run(["share", old, new]).status == 0)
        let before = try scratch.fingerprint()
        let run = try await Tool.run(["share", old, new, "--strategy", "RollbackJournal", "--json", "--strict"])
        #expect(run.status == 3, "\(run.errors)")
        #expect(try Grammar().check(run).contains { $0["code"]?.string == "strategiesNotApplied" })
        // The text warns each time, with status 0.
        for _ in 1...2 {
            let again = try await Tool.run(["share", old, new, "--strategy", "RollbackJournal"])
            #expect(again.status == 0)
            #expect(again.errors.contains("sqlitePragmas.journal_mode is WAL"), "\(again.errors)")
            #expect(again.errors.contains("RollbackJournal requires DELETE"), "\(again.errors)")
        }
        #expect(try scratch.fingerprint() == before)
    }

    @Test("share of an already shared store loads no plugin unless --strategy names one")
    func unasked() async throws {
        #expect(try await Tool.run(["share", old, new]).status == 0)
        let plugins = scratch.path("no-such-folder")
        let run = try await Tool.run(["share", old, new, "--plugin-path", plugins])
        #expect(run.status == 0, "\(run.errors)")
        let named = try await Tool.run(["share", old, new, "--plugin-path", plugins, "--strategy", "Absent"])
        #expect(named.status == 2, "\(named.errors)")
    }

    @Test("A read-only role of a WAL store gives the finding readerNeedsLog")
    func readerWithoutLog() async throws {
        let nobody = try Nobody(scratch)
        let call = [
            "share", old, new, "--strategy", "ReadOnlyExtension", "--role", "app", "--role", "extension(widget)",
        ]
        let run = try await Tool.run(call + ["--json"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try Grammar().check(run).contains { $0["code"]?.string == "readerNeedsLog" })
        // The cause: another user cannot create the shared-memory file in a folder that only its owner can write to.
        guard try await Tool.run(command: ["id", "-u"]).output == "0\n" else { return }
        let database = new + "/Habits.sqlite"
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: new)
        await #expect(throws: Tool.Failure.self) {
            try await nobody.shell("sqlite3 -readonly '\(database)' 'SELECT count(*) FROM habit'")
        }
        // With RollbackJournal, as the finding advises, the same user can read.
        let other = try scratch.folder("other")
        let copy = try await scratch.store("Second.sqlite", "PRAGMA journal_mode=wal;" + Scratch.habits)
        let rollback = try await Tool.run(["share", copy, other, "--strategy", "RollbackJournal"] + call.dropFirst(3))
        #expect(rollback.status == 0, "\(rollback.errors)")
        try await nobody.shell("sqlite3 -readonly '\(other)/Second.sqlite' 'SELECT count(*) FROM habit'")
    }

    @Test("An existing new store in another journal mode needs a decision and is not changed")
    func occupied() async throws {
        try await scratch.store(
            "new/Habits.sqlite",
            "PRAGMA journal_mode=wal; CREATE TABLE habit(id INTEGER PRIMARY KEY, name TEXT)"
        )
        let before = try scratch.fingerprint()
        let run = try await Tool.run(["share", old, new, "--strategy", "RollbackJournal", "--json"])
        #expect(run.status == 4, "\(run.errors)")
        #expect(run.errors.contains("PRAGMA journal_mode=DELETE"), "\(run.errors)")
        #expect(try Grammar().check(run).last?["next"] != .null)
        #expect(try scratch.fingerprint() == before)
    }

    @Test("SharedAccess with a group that the user is not a member of ends with status 12 and leaves no files")
    func foreignGroup() async throws {
        let nobody = try Nobody(scratch)
        let (from, to) = (try nobody.folder("from"), try nobody.folder("to"))
        try await nobody.shell("sqlite3 '\(from)/Habits.sqlite' 'CREATE TABLE habit(id INTEGER PRIMARY KEY)'")
        let run = try await nobody.run(["share", from + "/Habits.sqlite", to, "--strategy", "SharedAccess:group=0"])
        #expect(run.status == 12, "\(run.errors)")
        #expect(run.errorLines.count == 1 && run.errors.contains("give the files to the group 0"), "\(run.errors)")
        #expect(try scratch.names(to).isEmpty)
        try await nobody.shell("sqlite3 '\(from)/Habits.sqlite' 'INSERT INTO habit DEFAULT VALUES'")
        let mode = try await nobody.run(["share", from + "/Habits.sqlite", to, "--strategy", "SharedAccess:mode=0640"])
        #expect(mode.status == 0, "\(mode.errors)")
    }

    @Test("share and plan end with status 12 if the descriptions cannot be written")
    func unwritableDescriptions() async throws {
        let nobody = try Nobody(scratch)
        let (from, to) = (try nobody.folder("from"), try nobody.folder("to"))
        try await nobody.shell("sqlite3 '\(from)/Habits.sqlite' 'CREATE TABLE habit(id INTEGER PRIMARY KEY)'")
        let closed = try scratch.folder("closed")
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: closed)
        let places = [from + "/Habits.sqlite", to, "--descriptions", closed + "/descriptions.json"]
        let before = try scratch.fingerprint()
        for call in [["share"] + places, ["share", "-n"] + places, ["plan"] + places] {
            let run = try await nobody.run(call)
            #expect(run.status == 12, "\(run.errors)")
            #expect(run.errorLines.count == 1 && run.errors.contains("descriptions.json"), "\(run.errors)")
            #expect(try scratch.fingerprint() == before)
        }
    }

    @Test(
        "A role with a different model ends with status 13, also with LightweightMigration"
    )
    func otherModel() async throws {
        let recipe = Tool.package + "/Fixtures/Stores/clean/recipe.yaml"
        let store = scratch.path("Genuine.sqlite")
        #expect(try await Tool.run(["fixture", "build", recipe, store]).status == 0)
        let model = try scratch.file("contents", Array("<model><entity name='Other'/></model>".utf8))
        let call = [store, new, "--strategy", "LightweightMigration", "--role", "app", "--role"]
        for verb in ["plan", "share"] {
            let run = try await Tool.run([verb] + call + ["extension(widget)=\(model)"])
            #expect(run.status == 13, "\(run.errors)")
            #expect(run.errorLines.count == 1 && run.errors.contains("cannot infer the migration"), "\(run.errors)")
        }
        #expect(try scratch.names(new).isEmpty)
        let carried = try await Tool.run(["share"] + call + ["extension(widget)", "--json"])
        #expect(carried.status == 0, "\(carried.errors)")
    }
}
