import FoundationEssentials
import Testing

@Suite("Plans with strategies")
struct PlanStrategiesTests {
    private let scratch: Scratch
    private let nobody: Nobody

    init() throws {
        scratch = try Scratch()
        nobody = try Nobody(scratch)
    }

    /// A call, and the preparation of its folders.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var options: [String] = []
        /// Shell commands, run as the user of the tool, with `$old` and `$new` as the folders.
        var before = ":"
        let status: Int32
        let message: String

        static let all = [
            Case(
                testDescription: "no obstacle",
                options: ["--strategy", "SharedAccess"],
                status: 0,
                message: ""
            ),
            Case(
                testDescription: "a group that the user is not a member of",
                options: ["--strategy", "SharedAccess:group=0"],
                status: 12,
                message: "cannot give the files to the group 0"
            ),
            Case(
                testDescription: "a missing group",
                options: ["--strategy", "SharedAccess:group=nobodys-group"],
                status: 2,
                message: "there is no group 'nobodys-group'"
            ),
            Case(
                testDescription: "a container that cannot be written",
                options: ["--strategy", "WriteAheadLog"],
                before: "chmod 555 $new",
                status: 12,
                message: "this user cannot write to the folder of the new store"
            ),
            Case(
                testDescription: "no container",
                options: ["--strategy", "WriteAheadLog"],
                before: "rmdir $new",
                status: 10,
                message: "the folder of the new store does not exist"
            ),
            Case(
                testDescription: "an old store that may only be read",
                options: ["--strategy", "WriteAheadLog"],
                before: "chmod 444 $old/Habits.sqlite",
                status: 12,
                message: "cannot write to the old store"
            ),
            Case(
                testDescription: "a read-only folder for the journal",
                before: "chmod 555 $old",
                status: 12,
                message: "cannot create or write the journal's folder"
            ),
            Case(
                testDescription: "an existing store in another journal mode",
                options: ["--strategy", "RollbackJournal"],
                before:
                    "sqlite3 $new/Habits.sqlite 'PRAGMA journal_mode=wal; CREATE TABLE habit(id INTEGER PRIMARY KEY)'",
                status: 4,
                message: "is in write-ahead log mode"
            ),
        ]
    }

    @Test("plan, dry run and share end with the same status, and only share writes", arguments: Case.all)
    func alike(_ row: Case) async throws {
        let world = try nobody.folder("world")
        let (old, new) = (world + "/old", world + "/new")
        try await nobody.shell(
            "mkdir '\(old)' '\(new)'; sqlite3 '\(old)/Habits.sqlite' 'PRAGMA journal_mode=wal; CREATE TABLE habit(id INTEGER PRIMARY KEY); "
                + "INSERT INTO habit DEFAULT VALUES'"
        )
        try await nobody.shell("old='\(old)'; new='\(new)'; " + row.before)
        let call = [old + "/Habits.sqlite", new + "/Habits.sqlite"] + row.options
        let before = try scratch.fingerprint()
        for words in [["plan"] + call, ["share", "--dry-run"] + call] {
            let run = try await nobody.run(words)
            #expect(run.status == row.status, "\(words[0]): \(run.errors)")
            #expect(run.errors.contains(row.message), "\(words[0]): \(run.errors)")
            #expect(try scratch.fingerprint() == before)
        }
        let run = try await nobody.run(["share"] + call)
        #expect(run.status == row.status, "share: \(run.errors)")
        #expect(run.errors.contains(row.message), "share: \(run.errors)")
        if row.status != 0 { #expect(try scratch.fingerprint() == before) }
    }

    @Test("A plan shows the settings of each strategy for each role, and the step that applies them")
    func shown() async throws {
        let old = try await scratch.store("Habits.sqlite", "PRAGMA journal_mode=wal;" + Scratch.habits)
        let new = try scratch.folder("group")
        let call = [
            "plan", old, new, "--strategy", "RollbackJournal", "--strategy", "ReadOnlyExtension", "--role", "app",
            "--role", "extension(widget)",
        ]
        let run = try await Tool.run(call)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("app: sqlitePragmas.journal_mode = DELETE (RollbackJournal)"), "\(run.output)")
        #expect(run.output.contains("extension(widget): isReadOnly = true (ReadOnlyExtension)"))
        #expect(run.output.contains("apply the strategies to the copy for NEW"))
        let record = try Grammar().check(try await Tool.run(call + ["--json"])).first
        #expect(record?["descriptions"]?["extension(widget)"]?["isReadOnly"] == .bool(true))
        #expect(record?["descriptions"]?["app"]?["sqlitePragmas"]?["journal_mode"]?.string == "DELETE")
        #expect(try scratch.names(new).isEmpty)
    }

    @Test("plan and share started as root check the permissions of the old store's owner")
    func asOwner() async throws {
        guard try await Tool.run(command: ["id", "-u"]).output == "0\n" else { return }
        let (old, new) = (try nobody.folder("old"), try scratch.folder("new"))
        try await nobody.shell("sqlite3 '\(old)/Habits.sqlite' 'CREATE TABLE habit(id INTEGER PRIMARY KEY)'")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: new)
        for verb in ["plan", "share"] {
            let run = try await Tool.runProcess([verb, old + "/Habits.sqlite", new])
            #expect(run.status == 12, "\(verb): \(run.errors)")
            #expect(run.errors.contains("this user cannot write to the folder of the new store"), "\(run.errors)")
        }
        #expect(try scratch.names(new).isEmpty)
    }
}
