import FoundationEssentials
import SafeFiles
import Testing

@Suite("Bad input")
struct BadInputTests {
    /// Bad input at one of the paths, and the expected answer of the tool.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Shell commands that create the input; `old` and `new` are folders.
        let setup: String
        let status: Int32
        /// A word of the answer.
        let says: String
        var old = "old/H.sqlite"
        var new = "new/H.sqlite"
    }

    static let store = "sqlite3 old/H.sqlite 'CREATE TABLE t(a); INSERT INTO t VALUES(1);'"

    static let cases = [
        Case(testDescription: "nothing there", setup: "true", status: 10, says: "old/H.sqlite"),
        Case(testDescription: "the old folder is missing", setup: "rmdir old", status: 10, says: "old"),
        Case(testDescription: "a directory", setup: "mkdir old/H.sqlite", status: 12, says: "folder"),
        Case(testDescription: "a FIFO", setup: "mkfifo old/H.sqlite", status: 12, says: "old/H.sqlite"),
        Case(
            testDescription: "a symbolic link",
            setup: "\(store); mv old/H.sqlite old/x; ln -s x old/H.sqlite",
            status: 12,
            says: "link"
        ),
        Case(testDescription: "a dangling link", setup: "ln -s x old/H.sqlite", status: 12, says: "link"),
        Case(testDescription: "a hard link", setup: "\(store); ln old/H.sqlite old/x", status: 12, says: "name"),
        Case(testDescription: "a text file", setup: "seq 1000 > old/H.sqlite", status: 12, says: "old/H.sqlite"),
        Case(
            testDescription: "a truncated database",
            setup: """
                sqlite3 old/H.sqlite 'CREATE TABLE t(a); WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c \
                WHERE n < 5000) INSERT INTO t SELECT hex(randomblob(20)) FROM c;'; truncate -s 20480 old/H.sqlite
                """,
            status: 12,
            says: "old/H.sqlite"
        ),
        Case(testDescription: "a zero-byte file", setup: ": > old/H.sqlite", status: 10, says: "old/H.sqlite"),
        Case(testDescription: "a log without its store", setup: "echo x > old/H.sqlite-wal", status: 12, says: "-wal"),
        Case(testDescription: "the container is missing", setup: "\(store); rmdir new", status: 10, says: "mkdir"),
        Case(
            testDescription: "a folder inside the container is missing",
            setup: store,
            status: 10,
            says: "mkdir",
            new: "new/sub/H.sqlite"
        ),
        Case(
            testDescription: "a text file at the new path",
            setup: "\(store); seq 1000 > new/H.sqlite",
            status: 12,
            says: "new/H.sqlite"
        ),
        Case(
            testDescription: "a symbolic link at the new path",
            setup: "\(store); ln -s x new/H.sqlite",
            status: 12,
            says: "link"
        ),
    ]

    @Test("share, plan and a dry run fail on bad input with one line, and change nothing", arguments: cases)
    func places(_ row: Case) async throws {
        let scratch = try Scratch()
        try scratch.folder("old")
        try scratch.folder("new")
        let setup = try await Tool.run(command: ["bash", "-c", row.setup], folder: scratch.path)
        try #require(setup.status == 0, "\(setup.errors)")
        let before = try scratch.fingerprint(withFolderTimes: false)
        for verb in [["plan"], ["share", "--dry-run"], ["share"]] {
            let run = try await Tool.run(verb + [row.old, row.new], folder: scratch.path)
            #expect(run.status == row.status, "\(verb): \(run.errors)")
            #expect(run.errorLines.count == 1, "\(verb): \(run.errors)")
            #expect(run.errors.contains(row.says), "\(verb): \(run.errors)")
            #expect(run.errors.hasPrefix("store-migrate: "))
            #expect(try scratch.fingerprint(withFolderTimes: false) == before, "\(verb) changed something")
        }
    }

    @Test(
        "inspect and verify fail on bad input with one line, and change nothing",
        arguments: cases.filter { $0.new == "new/H.sqlite" && !$0.setup.contains("new") }
    )
    func oneStore(_ row: Case) async throws {
        let scratch = try Scratch()
        try scratch.folder("old")
        let setup = try await Tool.run(command: ["bash", "-c", row.setup], folder: scratch.path)
        try #require(setup.status == 0, "\(setup.errors)")
        let before = try scratch.fingerprint()
        for verb in ["inspect", "verify"] {
            let run = try await Tool.run([verb, row.old], folder: scratch.path)
            // inspect accepts a folder; this one contains no store.
            let status = verb == "inspect" && row.testDescription == "a directory" ? 10 : row.status
            #expect(run.status == status, "\(verb): \(run.errors)")
            #expect(run.errorLines.count == 1, "\(verb): \(run.errors)")
            #expect(try scratch.fingerprint() == before, "\(verb) changed something")
        }
    }

    @Test("A store that the user cannot read ends with status 12 and stays unchanged")
    func unreadable() async throws {
        let scratch = try Scratch()
        try await scratch.store("H.sqlite")
        try FileManager.default.setAttributes([.posixPermissions: 0o000], ofItemAtPath: scratch.path("H.sqlite"))
        let nobody = try Nobody(scratch)
        let new = try nobody.folder("new")
        for verb in [["share"], ["plan"]] {
            let run = try await nobody.run(verb + [scratch.path("H.sqlite"), new])
            #expect(run.status == 12, "\(run.errors)")
            #expect(run.errorLines.count == 1, "\(run.errors)")
        }
        #expect(try await nobody.run(["inspect", scratch.path("H.sqlite")]).status == 12)
        #expect(try scratch.names(new).isEmpty)
        #expect(try scratch.names(scratch.path) == ["H.sqlite", "new"])
    }

    @Test("A container that the user cannot write to ends with status 12 and leaves no files")
    func readOnlyDestination() async throws {
        let scratch = try Scratch()
        let nobody = try Nobody(scratch)
        let old = try nobody.folder("old")
        try await nobody.shell("sqlite3 \(old)/H.sqlite 'CREATE TABLE t(a); INSERT INTO t VALUES(1);'")
        let new = try nobody.folder("new")
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: new)
        let run = try await nobody.run(["share", old + "/H.sqlite", new])
        #expect(run.status == 12, "\(run.errors)")
        #expect(run.errorLines.count == 1, "\(run.errors)")
        #expect(run.errors.contains("new"))
        #expect(try scratch.names(old) == ["H.sqlite"])
        #expect(try scratch.names(new).isEmpty)
    }

    @Test("A share under a limit on the size of files ends with 14 and removes its files")
    func fileSize() async throws {
        let scratch = try Scratch()
        for folder in ["old", "new"] { try scratch.folder(folder) }
        let old = try await scratch.store("old/H.sqlite")

        let run = try await Tool.run(
            command: ["sh", "-c", "ulimit -f 8; exec \"$@\"", "sh", try Tool.path, "share", old, scratch.path("new")]
        )

        #expect(run.status == 14, "\(run.errors)")
        #expect(run.errorLines.count == 1, "\(run.errors)")
        #expect(try scratch.names(scratch.path("new")).isEmpty)
    }

    @Test("A share that runs out of descriptors reports too many open files as the cause", arguments: 12...19)
    func openFiles(limit: Int) async throws {
        let scratch = try Scratch()
        for folder in ["old", "new"] { try scratch.folder(folder) }
        let old = try await scratch.store("old/H.sqlite")
        let script = "ulimit -n \(limit); exec \"$@\""

        let run = try await Tool.run(
            command: ["sh", "-c", script, "sh", try Tool.path, "share", old, scratch.path("new")]
        )

        #expect([0, 1, 6].contains(run.status), "\(run.errors)")
        guard run.status != 0 else { return }
        #expect(run.errors.lowercased().contains("too many"), "\(run.errors)")
        if run.status == 1 { #expect(run.errors.contains("ulimit -n"), "\(run.errors)") }
    }

    @Test("The tool works with a stack limit of 64 KiB", arguments: ["share", "plan", "verify"])
    func smallStack(verb: String) async throws {
        let scratch = try Scratch()
        for folder in ["old", "new"] { try scratch.folder(folder) }
        let old = try await scratch.store("old/H.sqlite")
        let words = verb == "verify" ? [old] : [old, scratch.path("new")]

        let run = try await Tool.run(
            command: ["bash", "-c", "ulimit -s 64; exec \"$@\"", "bash", try Tool.path, verb] + words
        )

        #expect(run.status == 0, "\(run.errors)")
    }
}
