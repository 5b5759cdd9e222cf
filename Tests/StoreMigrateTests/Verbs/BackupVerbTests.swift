import FoundationEssentials
import Testing

@Suite("Verbs backup, restore and backups")
struct BackupVerbTests {
    private let scratch: Scratch
    private let store: String
    private let archives: String

    init() async throws {
        scratch = try Scratch()
        store = try await scratch.store("Habits.sqlite")
        archives = try scratch.folder("archives")
    }

    private func lines(_ arguments: [String], status: Int32 = 0) async throws -> [JSONTree] {
        let run = try await Tool.run(arguments + ["--json"])
        #expect(run.status == status, "\(run.errors)")
        return try Grammar().check(run)
    }

    @Test("backup prints the content of the archive, and restore brings the rows back")
    func roundTrip() async throws {
        let archive = archives + "/Habits.tar.gz"
        let run = try await Tool.run(["backup", store, "-o", archive])
        #expect(run.status == 0 && run.lines.first?.hasPrefix("Backed up Habits.sqlite: 3 rows, ") == true, "\(run)")
        #expect(run.lines.last?.hasPrefix("  archive  \(archive)") == true)
        let place = try scratch.folder("place")

        let restored = try await lines(["restore", archive, place])

        let record = restored.first { $0["type"]?.string == "restored" }
        #expect(record?["path"]?.string == place + "/Habits.sqlite")
        #expect(restored.last?["outcome"]?.string == "restored")
        #expect(try scratch.names(place) == ["Habits.sqlite"])
        let rows = try await SQLiteProgram.run(place + "/Habits.sqlite", "SELECT group_concat(name) FROM habit")
        #expect(rows.contains("read,run"))
        let again = try await Tool.run(["restore", archive, place])
        #expect(again.status == 0 && again.output == "Restored: the destination already has the backup's content\n")
    }

    @Test(
        "A store whose name has control characters is shared, backed up, retired and restored",
        arguments: ["\u{1}", "\t", "\n", "\u{1B}", "\u{7F}", "\u{85}"]
    )
    func controlCharacters(_ character: String) async throws {
        let name = "s\(character).db"
        let old = try await scratch.store(name)
        let new = try scratch.folder("new")
        let content = try await SQLiteProgram.content(old)
        for call in [["share", old, new], ["backup", new + "/" + name, "-o", archives + "/b.tar"], ["retire", old]] {
            let run = try await Tool.run(call)
            #expect(run.status == 0, "\(call): \(run.errors)")
        }
        #expect(try !scratch.names(scratch.path).contains(name))
        let state = scratch.path(".store-migrate/" + name)
        let retired = try #require(try scratch.names(state).first { $0.hasSuffix(".tar.zst") })
        for (archive, place) in [(archives + "/b.tar", "fromBackup"), (state + "/" + retired, "fromArchive")] {
            let folder = try scratch.folder(place)
            let run = try await Tool.run(["restore", archive, folder])
            #expect(run.status == 0, "\(run.errors)")
            #expect(try await SQLiteProgram.content(folder + "/" + name) == content)
        }
    }

    @Test("A share of a store named like an archive's manifest ends with status 2, and changes nothing")
    func manifestName() async throws {
        let old = try await scratch.store("manifest.json")
        let before = try scratch.fingerprint()
        let run = try await Tool.run(["share", old, archives])
        #expect(run.status == 2, "\(run.errors)")
        #expect(try scratch.fingerprint() == before)
    }

    @Test("A backup piped to restore arrives complete")
    func pipe() async throws {
        let tool = try Tool.path
        let place = try scratch.folder("place")
        let command = "'\(tool)' backup '\(store)' -o - --compress none | '\(tool)' restore - '\(place)/Copy.sqlite'"
        let run = try await Tool.run(command: ["sh", "-c", command])
        #expect(run.status == 0 && run.output.hasPrefix("Restored Habits.sqlite: 3 rows"), "\(run.errors)")
        #expect(try scratch.names(place) == ["Copy.sqlite"])
    }

    @Test("restore from a silent pipe fails after --input-timeout")
    func silence() async throws {
        let place = try scratch.folder("place")
        // The descriptor is also open for writing, so the pipe never reaches its end.
        let command = """
            mkfifo '\(scratch.path("pipe"))'; exec 3<>'\(scratch.path("pipe"))'
            '\(try Tool.path)' restore - '\(place)/Copy.sqlite' --input-timeout 200ms --json <&3
            """
        let run = try await Tool.run(command: ["bash", "-c", command])
        #expect(run.status == 1)
        #expect(run.errors.contains("standard input sent nothing for 200ms") && run.errors.contains("--input-timeout"))
        #expect(try Grammar().check(run).last?["outcome"]?.string == "failed")
        #expect(try scratch.names(place).isEmpty)
    }

    @Test("restore by root into another user's folder creates files of that user")
    func superuser() async throws {
        let nobody = try Nobody(scratch)
        let (archive, place) = (archives + "/Habits.tar.zst", try nobody.folder("place"))
        _ = try await lines(["backup", store, "-o", archive])
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: archive)
        let run = try await Tool.runProcess(
            ["restore", archive, place],
            environment: ["TMPDIR": try nobody.folder("temporary")]
        )
        #expect(run.status == 0, "\(run.errors)")
        let owners = try [place, place + "/Habits.sqlite"]
            .map {
                try FileManager.default.attributesOfItem(atPath: $0)[.ownerAccountID] as? Int
            }
        #expect(owners[0] == owners[1] && owners[0] != nil)
    }

    @Test(
        "A path that is not an archive, or not a valid destination, ends with advice and changes nothing",
        arguments: [
            (["restore", "missing.tar", "."], 10, "Check the path"),
            (["backups", "check", "missing"], 10, "Check the path"),
            (["restore", "link.tar.zst", "."], 12, "the archive's own path"),
            (["restore", "pipe", "."], 12, "name that -"),
            (["restore", ".", "x"], 12, "it is a folder"), (["inspect", "cut.tar.zst"], 12, "backups check says"),
            (["restore", "good.tar.zst", "link"], 12, "the target of the link"),
        ] as [([String], Int32, String)]
    )
    func noArchive(arguments: [String], status: Int32, advice: String) async throws {
        _ = try await lines(["backup", store, "-o", archives + "/good.tar.zst"])
        let command =
            "head -c 200 good.tar.zst > cut.tar.zst; ln -s good.tar.zst link.tar.zst; ln -s /nowhere link; mkfifo pipe"
        #expect(try await Tool.run(command: ["sh", "-c", command], folder: archives).status == 0)
        let names = try scratch.names(archives)
        let run = try await Tool.run(arguments, folder: archives)
        #expect(run.status == status && run.errors.contains(advice), "\(run.errors)")
        #expect(try scratch.names(archives) == names)
    }

    @Test("A store whose log is missing is backed up with the finding walHeaderWithoutLog")
    func missingLog() async throws {
        _ = try await SQLiteProgram.run(store, "PRAGMA journal_mode=wal")
        let found = try await lines(["backup", store, "-o", archives + "/Habits.tar.zst"])
        #expect(found.contains { $0["code"]?.string == "walHeaderWithoutLog" })
    }

    @Test("restore over an existing store needs a decision; with --overwrite it names where the old store is kept")
    func overwrite() async throws {
        let archive = archives + "/Habits.tar.zst"
        _ = try await lines(["backup", store, "-o", archive])
        let other = try await scratch.store("Other.sqlite", "CREATE TABLE t(x); INSERT INTO t VALUES (1);")
        let refused = try await lines(["restore", archive, other], status: 4)
        #expect(refused.last?["outcome"]?.string == "needsDecision")
        let done = try await lines(["restore", archive, other, "--overwrite", "always"])
        let aside = try #require(done.first { $0["type"]?.string == "restored" }?["keptAside"]?.string)
        #expect(try scratch.names(aside) == ["Other.sqlite"])
    }

    @Test("backups list, check and prune report the state of every archive in a folder")
    func folder() async throws {
        for _ in 0..<3 { _ = try await lines(["backup", store, "-o", archives]) }
        #expect(try await lines(["backups", "list", archives]).count { $0["state"]?.string == "listed" } == 3)
        #expect(try await lines(["backups", "check", archives]).count { $0["state"]?.string == "good" } == 3)
        let rehearsed = try await lines(["backups", "prune", archives, "--keep-last", "1", "-n"])
        #expect(rehearsed.count { $0["state"]?.string == "removed" } == 2)
        #expect(try scratch.names(archives).count == 3)
        _ = try await lines(["backups", "prune", archives, "--keep-last", "1"])
        #expect(try scratch.names(archives).count == 1)
        _ = try scratch.file("archives/bad.tar.zst", [0x28, 0xB5, 0x2F, 0xFD, 0, 0, 0])
        let checked = try await lines(["backups", "check", archives], status: 3)
        #expect(checked.contains { $0["state"]?.string == "bad" && $0["problem"]?.string != nil })
    }

    @Test("Read-only verbs accept an archive in place of a store, and do not change it")
    func reading() async throws {
        let recipe = Tool.package + "/Fixtures/Stores/history-on/recipe.yaml"
        let notes = scratch.path("Notes.sqlite")
        #expect(try await Tool.run(["fixture", "build", recipe, notes]).status == 0)
        let archive = archives + "/Notes.zip"
        _ = try await lines(["backup", notes, "-o", archive])
        let before = try scratch.fingerprint(archives)

        let inspected = try await lines(["inspect", archive])
        let record = try #require(inspected.first { $0["type"]?.string == "store" })
        #expect(record["path"]?.string == archive + "/Notes.sqlite")
        #expect(!inspected.contains { $0["code"]?.string == "walHeaderWithoutLog" })
        let proof = try await lines(["verify", archive, "--against", notes])
        #expect(proof.contains { $0["passed"] == .bool(true) })
        let entity = try #require(record["entities"]?.array?.first?["name"]?.string)
        let objects = try await lines(["fetch", archive, entity]).filter { $0["type"]?.string == "object" }
        let originals = try await lines(["fetch", notes, entity]).filter { $0["type"]?.string == "object" }
        #expect(objects.count == originals.count && !objects.isEmpty)
        #expect(try scratch.fingerprint(archives) == before)
    }

    @Test("share --backup and retire --backup each add a good archive, and retire removes the old store")
    func share() async throws {
        let new = try scratch.folder("group") + "/Habits.sqlite"
        let shared = try await lines(["share", store, new, "--backup", archives])
        #expect(shared.contains { $0["code"]?.string == "backedUp" })
        #expect(try scratch.names(archives).count == 1)
        let retired = try await lines(["retire", store, "--backup", archives])
        #expect(retired.last?["outcome"]?.string == "retired")
        #expect(try scratch.names(archives).count == 2)
        #expect(try scratch.names(scratch.path).filter { $0.hasPrefix("Habits") }.isEmpty)
        #expect(try await lines(["backups", "check", archives]).count { $0["state"]?.string == "good" } == 2)
    }

    @Test(
        "Impossible combinations of options end with status 2 and write nothing",
        arguments: [
            ["backup", "S", "-o", "-", "--json"], ["backup", "S", "-o", "x.zip", "--compress", "zstd"],
            ["backups", "prune", "."], ["backups", "prune", ".", "--keep-last", "0"],
        ]
    )
    func usage(arguments: [String]) async throws {
        let run = try await Tool.run(arguments.map { $0 == "S" ? store : $0 }, folder: archives)
        #expect(run.status == 2, "\(run.errors)")
        #expect(try scratch.names(archives).isEmpty)
    }
}
