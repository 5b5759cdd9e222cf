import FoundationEssentials
import Testing

@Suite("Usage errors")
struct UsageTests {
    @Test(
        "Invalid arguments end with status 2 and one line that names the error",
        arguments: [
            (["share"], "Missing expected argument"),
            (["share", "a"], "name the new store once"),
            (["share", "a", "b", "--group", "g"], "name the new store once"),
            (["share", "a", "b", "--name", "n"], "--name and --groups go with --group"),
            (["share", "", "b"], "invalid"),
            (["share", "a", "--group", "g", "--name", "../n"], "is not a database name"),
            (["share", "a", "--group", "../g"], "is no group identifier"),
            (["share", "a", "b", "--old", "destroy"], "fence"),
            (["share", "a", "b", "--lock-timeout", "5"], "250ms"),
            (["share", "a", "b", "--lock-timeout", "ms"], "250ms"),
            (["share", "a", "b", "--lock-timeout", "99999999999999999999m"], "no more than"),
            (["share", "a", "b", "--nme", "x"], "Did you mean '--name'?"),
            (["shrae", "a", "b"], "there is no command 'shrae'; did you mean 'share'?"),
            (["shar", "a", "b"], "there is no command 'shar'; did you mean 'share'?"),
            (["backups", "prun", "d"], "there is no command 'prun'; did you mean 'prune'?"),
            (["relay", "drian", "s"], "there is no command 'drian'; did you mean 'drain'?"),
            (["container", "put"], "there is no command 'put'"),
            (["container", "get", ".."], "is no group identifier"),
        ]
    )
    func usage(_ arguments: [String], _ expected: String) async throws {
        let run = try await Tool.run(arguments)
        #expect(run.status == 2)
        #expect(run.output.isEmpty)
        #expect(run.errorLines.count == 1, "\(run.errors)")
        #expect(run.errors.contains(expected), "\(run.errors)")
        #expect(run.errors.hasPrefix("store-migrate: "))
        #expect(run.errors.contains("See 'store-migrate help"))
    }

    /// The parser itself checks this only in a debug build.
    @Test("The options of a command have different names, and a flag is off by default")
    func declarations() async throws {
        let run = try await Tool.run(["--experimental-dump-help"])
        let root = try JSONDecoder().decode(DeclaredTool.self, from: Data(run.output.utf8)).command
        #expect(root.all.count > 30)
        for command in root.all {
            let names = (command.arguments ?? []).flatMap { $0.names ?? [] }
            #expect(Set(names).count == names.count, "\(command.commandName): \(names.map(\.name).sorted())")
            let enabled = (command.arguments ?? []).filter { $0.kind == "flag" && $0.defaultValue == "true" }
            #expect(enabled.isEmpty, "\(command.commandName): \(enabled.flatMap { $0.names ?? [] }.map(\.name))")
        }
    }

    @Test("An argument that is not valid UTF-8 ends with status 2")
    func notUnicode() async throws {
        let run = try await Tool.run(command: ["bash", "-c", "'\(try Tool.path)' inspect --json $'a\\xff'"])
        #expect(run.status == 2)
        #expect(run.errors.contains("not valid UTF-8"))
        #expect(try Grammar().check(run).last?["command"]?.string == "inspect")
    }

    @Test("A working folder that is not valid UTF-8 ends with status 2, and relative paths name no file of a sibling")
    func folderNotUnicode() async throws {
        let scratch = try Scratch()
        // Foundation reads the invalid byte as U+FFFD, which is the sibling's name.
        try scratch.folder("\u{FFFD}/new")
        try await scratch.store("\u{FFFD}/H.db")
        let before = try scratch.fingerprint(withFolderTimes: false)
        for call in ["share H.db new", "share --if-missing ignore H.db new", "status H.db new --json", "doctor"] {
            let script = "mkdir $'\\xff'; cd $'\\xff'; '\(try Tool.path)' \(call); s=$?; rmdir $'../\\xff'; exit $s"
            let run = try await Tool.run(command: ["bash", "-c", script], folder: scratch.path)
            #expect(run.status == 2, "\(call): \(run.output)")
            #expect(run.errorLines.count == 1, "\(run.errors)")
            #expect(run.errors.contains("the path of the working folder is not valid UTF-8"), "\(run.errors)")
        }
        #expect(try scratch.fingerprint(withFolderTimes: false) == before)
    }

    @Test(
        "A working folder that was removed, or whose path is too long, ends with status 2: nothing is resolved against /"
    )
    func unknownFolder() async throws {
        let scratch = try Scratch()
        let store = try await scratch.store("s.sqlite", "CREATE TABLE t (x)")
        let group = try scratch.folder("group")
        let before = try scratch.fingerprint()
        let relative = [store, group].map { String($0.dropFirst()) }
        let long = String(repeating: "d", count: 240)
        for enter in [
            "mkdir gone && cd gone && rmdir ../gone", "for n in 1 2 3 4 5 6; do mkdir \(long) && cd \(long); done",
        ] {
            let script = "cd \"$1\" && { \(enter); } && exec \"$2\" share \"$3\" \"$4\""
            let place = try scratch.folder("place")
            let run = try await Tool.run(command: ["bash", "-c", script, "-", place, try Tool.path] + relative)
            #expect(run.status == 2, "\(enter): \(run.output)\(run.errors)")
            #expect(run.errors.contains("the working folder was removed, or its path is too long"), "\(run.errors)")
            try FileManager.default.removeItem(atPath: place)
        }
        #expect(try scratch.fingerprint() == before)
    }

    @Test(
        "A variable that names files and is not valid UTF-8 ends with status 2",
        arguments: [
            "STORE_MIGRATE_GROUPS", "STORE_MIGRATE_STATE", "STORE_MIGRATE_CONFIG", "XDG_DATA_HOME", "TMPDIR", "HOME",
        ]
    )
    func variableNotUnicode(_ name: String) async throws {
        let scratch = try Scratch()
        try await scratch.store("H.db")
        try scratch.folder("new")
        let before = try scratch.fingerprint()
        for call in ["share H.db new", "plan H.db new --json"] {
            let run = try await Tool.run(
                command: ["bash", "-c", "\(name)=/$'\\xff' '\(try Tool.path)' \(call)"],
                folder: scratch.path
            )
            #expect(run.status == 2, "\(call): \(run.output)")
            #expect(run.errorLines.count == 1, "\(run.errors)")
            #expect(run.errors.contains("$\(name) is not valid UTF-8"), "\(run.errors)")
        }
        #expect(try scratch.fingerprint() == before)
    }

    @Test(
        "Without /proc a call ends with status 1 and one line, and changes nothing",
        .mounts,
        arguments: ["share H.db new", "nonsense", ""]
    )
    func withoutProc(_ words: String) async throws {
        let scratch = try Scratch()
        try await scratch.store("H.db")
        try scratch.folder("new")
        let before = try scratch.fingerprint()
        let run = try await PrivateMounts.run(
            "mount -t tmpfs none /proc; exec \"$TOOL\" \(words)",
            folder: scratch.path
        )
        #expect(run.status == 1, "\(run.output)")
        #expect(run.output.isEmpty)
        #expect(run.errorLines.count == 1, "\(run.errors)")
        #expect(run.errors.contains("no proc file system is mounted at /proc. Mount it"), "\(run.errors)")
        #expect(try scratch.fingerprint() == before)
    }

    @Test(
        "Invalid arguments with --json print an error object and a summary",
        arguments: [["share"], ["nonsense"], ["verify"]]
    )
    func json(_ arguments: [String]) async throws {
        let run = try await Tool.run(arguments + ["--json"])
        let lines = try Grammar().check(run)
        #expect(lines.compactMap { $0["type"]?.string } == ["error", "summary"])
        #expect(lines.last?["outcome"]?.string == "usage")
        #expect(run.errorLines.count == 1)
    }

    @Test("A call without arguments prints the help with status 0", arguments: [[], ["container"]])
    func help(_ arguments: [String]) async throws {
        let run = try await Tool.run(arguments)
        #expect(run.status == 0)
        #expect(run.output.contains("USAGE: store-migrate"))
    }
}

/// The commands as the parser lists them for other programs.
private struct DeclaredTool: Decodable {
    struct Command: Decodable {
        let commandName: String
        let arguments: [Argument]?
        let subcommands: [Command]?

        var all: [Command] { [self] + (subcommands ?? []).flatMap(\.all) }
    }

    struct Argument: Decodable {
        struct Name: Decodable, Hashable {
            let kind: String
            let name: String
        }

        let kind: String
        let names: [Name]?
        let defaultValue: String?
    }

    let command: Command
}
