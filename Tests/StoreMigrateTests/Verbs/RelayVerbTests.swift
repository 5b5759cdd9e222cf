import ChangeRelay
import FoundationEssentials
import StoreAccess
import Testing

@Suite("Verbs relay post, drain, list, watch and import")
struct RelayVerbTests {
    private let scratch: Scratch
    private let path: String

    init() async throws {
        scratch = try Scratch()
        path = try await scratch.store("habits.sqlite")
    }

    private func relay(_ words: String...) async throws -> Tool.Run { try await Tool.run(["relay"] + words) }

    private func lines(_ words: String..., status: Int32 = 0) async throws -> [JSONTree] {
        let run = try await Tool.run(["relay"] + words + ["--json"])
        #expect(run.status == status, "\(run.errors)")
        return try Grammar().check(run)
    }

    private func uri(_ number: Int) -> String { "x-coredata://U/Habit/p\(number)" }

    @Test("The result of a share names the copied relay, its notices and consumer positions, in text and in JSON")
    func relayLine() async throws {
        #expect(try await relay("drain", path, "--consumer", "app").output.isEmpty)
        #expect(try await relay("post", path, "--everything").status == 0)
        let new = try scratch.folder("new") + "/habits.sqlite"
        let shared = try await Tool.run(["share", path, new])
        let copied = scratch.path("new/.habits.sqlite.relay.sqlite")
        let line = "  relay  \(copied)  copied 1 change notice and 1 consumer position"
        #expect(shared.lines.contains(line), "\(shared.output)\(shared.errors)")
        #expect(try await relay("drain", new, "--consumer", "app").lines.count == 1)
        // Without a relay there is no such line, nor finding.
        let other = try await scratch.store("other.sqlite")
        let plain = try await Tool.run(["share", other, scratch.path("new")])
        #expect(plain.status == 0 && !plain.output.contains("  relay  "), "\(plain.output)")
        let second = try await scratch.store("second.sqlite")
        #expect(try await relay("post", second, "--everything").status == 0)
        let records = try Grammar().check(try await Tool.run(["share", second, scratch.path("new"), "--json"]))
        #expect(
            records.first { $0["code"]?.string == "relayCarried" }?["message"]?.string
                == "copied 1 change notice and 0 consumer positions"
        )
    }

    @Test("relay drain delivers notices in order and once per consumer, and relay list acknowledges nothing")
    func golden() async throws {
        // The first drain registers the consumer, which then gets later notices.
        #expect(try await relay("drain", path, "--consumer", "app").output.isEmpty)
        #expect(try await relay("post", path, "--inserted", uri(1), "--author", "widget").status == 0)
        #expect(try await relay("post", path, "--updated", uri(1), "--deleted", uri(2)).status == 0)
        #expect(try await relay("post", path, "--everything").status == 0)

        let shown = try await relay("list", path)
        #expect(shown.status == 0, "\(shown.errors)")
        let times = shown.output.replacing(/[0-9T:.-]{10,}Z/, with: "TIME")
        #expect(
            times == """
                #1 TIME widget: +Habit/p1
                #2 TIME -: ~Habit/p1 -Habit/p2
                #3 TIME -: everything
                  consumer app has read everything up to #0

                """
        )
        #expect(try await relay("list", path).output == shown.output)

        let first = try await lines("drain", path, "--consumer", "app", "--limit", "2")
        #expect(first.map { $0["place"]?.integer } == [1, 2, nil])
        #expect(first[0]["inserted"] == .array([.string(uri(1))]))
        #expect(first[0]["author"]?.string == "widget")
        let rest = try await lines("drain", path, "--consumer", "app")
        #expect(rest.map { $0["kind"]?.string } == ["everything", nil])
        #expect(try await lines("drain", path, "--consumer", "app").count == 1)
        let left = try await lines("list", path)
        #expect(left.compactMap { $0["type"]?.string } == ["relayConsumer", "summary"])
        #expect(left[0]["position"]?.integer == 3)
    }

    @Test(
        "relay drain does not acknowledge notices that it cannot write to a full device or to a pipe without a reader",
        arguments: ["> /dev/full", "> /dev/full --json", ">&3", ">&3 --json"]
    )
    func unwritten(_ output: String) async throws {
        #expect(try await relay("drain", path, "--consumer", "app").status == 0)
        #expect(try await relay("post", path, "--everything").status == 0)
        let tool = try Tool.path
        let closedPipe = "exec 3> >(true); wait $!"
        let run = try await Tool.run(
            command: ["bash", "-c", "\(closedPipe); '\(tool)' relay drain '\(path)' --consumer app \(output)"]
        )
        #expect(run.status == 1)
        #expect(run.errors.contains("not acknowledged"))
        #expect(try await lines("drain", path, "--consumer", "app").map { $0["kind"]?.string } == ["everything", nil])
    }

    @Test("relay watch ends when the reader of its output has closed the pipe")
    func watchedByNobody() async throws {
        let tool = try Tool.path
        let run = try await Tool.run(
            command: [
                "bash", "-c",
                """
                exec 3> >(true); wait $!
                coproc '\(tool)' relay watch '\(path)' -v 2>&1 >&3
                p=$COPROC_PID; read -ru ${COPROC[0]}; '\(tool)' relay post '\(path)' --everything; wait $p
                """,
            ]
        )
        #expect(run.status == 130, "\(run.errors)")
    }

    @Test("relay drain ends with 11 if another process uses the consumer name, and 2 for an invalid name")
    func aliveElsewhere() async throws {
        let store = StoreLocation(url: URL(filePath: path))
        let consumer = try RelayConsumer("app", of: RelayQueue(beside: store))
        let run = try await relay("drain", path, "--consumer", consumer.name)
        #expect(run.status == 11)
        #expect(run.errors.contains("another process is using consumer app"))
        #expect(try await relay("drain", path, "--consumer", "other").status == 0)
        #expect(try await relay("drain", path, "--consumer", "../x").status == 2)
    }

    @Test(
        "Invalid arguments of relay verbs end with status 2 and one line, and create no relay",
        arguments: [
            (["post"], "name the objects that changed"),
            (["post", "--updated", "rubbish"], "an object URI begins with"),
            (["post", "--updated", "x-coredata:///Habit/tABC"], "temporary"), (["drain"], "--consumer"),
            (["drain", "--consumer", "a", "--limit", "0"], "from 1 on"), (["import"], "--legacy-defaults"),
            (["import", "--legacy-defaults", "a", "--legacy-key", "b", "--legacy-key", "c"], "--legacy-defaults"),
        ]
    )
    func wrong(_ words: [String], _ expected: String) async throws {
        let run = try await Tool.run(["relay", words[0], path] + words.dropFirst())
        #expect(run.status == 2, "\(run.errors)")
        #expect(run.errorLines.count == 1)
        #expect(run.errors.contains(expected), "\(run.errors)")
        #expect(try scratch.names(scratch.path) == ["habits.sqlite"])
    }

    @Test("relay verbs end with 10 for a missing store, and relay list creates no relay")
    func nothing() async throws {
        #expect(try await relay("list", scratch.path("none")).status == 10)
        #expect(try await relay("post", scratch.path("none"), "--everything").status == 10)
        let before = try scratch.fingerprint()
        #expect(try await relay("list", path).output == "\(path): no notice was ever posted\n")
        #expect(try await lines("list", path).count == 1)
        #expect(try scratch.fingerprint() == before)
    }

    @Test("relay post refuses objects of another store if the store has a UUID")
    func anotherStore() async throws {
        let built = scratch.path("Notes.sqlite")
        _ = try await Tool.run(["fixture", "build", Tool.package + "/Fixtures/Stores/clean/recipe.yaml", built])
        let run = try await relay("post", built, "--updated", uri(1))
        #expect(run.status == 2)
        #expect(run.errors.contains("another store"))
    }

    @Test(
        "relay verbs end with 12 for a file that is not a relay, and do not change it",
        arguments: ["list", "post", "drain", "watch"]
    )
    func noRelay(verb: String) async throws {
        try scratch.file(RelayQueue.name(for: "habits.sqlite"), Array("no relay".utf8))
        let before = try scratch.fingerprint(withFolderTimes: false)
        let rest = ["post": ["--everything"], "drain": ["--consumer", "a"], "watch": ["--limit", "1"]][verb] ?? []
        let run = try await Tool.run(["relay", verb, path] + rest)
        #expect(run.status == 12, "\(run.errors)")
        #expect(try scratch.fingerprint(withFolderTimes: false) == before)
    }

    @Test("relay watch prints notices, and commits of programs that do not use the relay, as they happen")
    func watching() async throws {
        // The watching program reads the version of a store in rollback mode under a shared lock: without a timeout, an
        // insert beside it may be refused as busy, and the awaited change never happens.
        let watched = try await Tool.run(
            command: [
                "bash", "-c",
                """
                exec 3< <('\(Tool.path)' relay watch '\(path)' --limit 2 --json -v 2>&1)
                read -r line <&3
                '\(Tool.path)' relay post '\(path)' --updated \(uri(7)) > /dev/null
                read -r line <&3; printf '%s\\n' "$line"
                sqlite3 -cmd '.timeout 10000' '\(path)' "INSERT INTO habit(name) VALUES ('swim')"
                cat <&3
                """,
            ]
        )
        let lines = try watched.lines.map { try JSONTree($0) }
        #expect(lines.map { $0["type"]?.string } == ["notice", "wake", "summary"])
        #expect(lines.first?["updated"] == .array([.string(uri(7))]))
        #expect(lines.last?["exit"]?.integer == 0)
    }

    @Test("relay watch prints nothing when it is woken without a commit")
    func wakeWithoutCommit() async throws {
        let peer = try Tool.path.replacing("store-migrate", with: "relay-peer", maxReplacements: 1)
        let watched = try await Tool.run(
            command: [
                "bash", "-c",
                """
                exec 3< <('\(Tool.path)' relay watch '\(path)' --limit 1 --json -v 2>&1)
                read -r line <&3
                printf 'post\\npost\\n' | '\(peer)' wake '\(path)' > /dev/null
                '\(Tool.path)' relay post '\(path)' --updated \(uri(7)) > /dev/null
                cat <&3
                """,
            ]
        )
        let lines = try watched.lines.map { try JSONTree($0) }
        #expect(lines.map { $0["type"]?.string } == ["notice", "summary"])
    }

    @Test("relay watch ends with status 130 on SIGINT")
    func stoppedWatch() async throws {
        let run = try await Tool.run(
            command: [
                "bash", "-c",
                """
                coproc { exec '\(Tool.path)' relay watch '\(path)' -v 2>&1; }
                read -r line <&"${COPROC[0]}"; kill -INT $COPROC_PID; wait $COPROC_PID
                """,
            ]
        )
        #expect(run.status == 130)
    }

    @Test("relay import posts pending changes once, and removes them from the file when every consumer has read them")
    func importing() async throws {
        let path = scratch.path("Notes.sqlite")
        _ = try await Tool.run(["fixture", "build", Tool.package + "/Fixtures/Stores/clean/recipe.yaml", path])
        let uuid = try await SQLiteProgram.run(path, "SELECT Z_UUID FROM Z_METADATA")
        let note = "x-coredata://\(uuid.dropLast())/Note/p1"
        let file = try scratch.file(
            "group.plist",
            Array(
                """
                <?xml version="1.0" encoding="UTF-8"?>
                <plist version="1.0"><dict><key>kept</key><true/><key>changes</key><array>
                <dict><key>inserted</key><array><string>\(note)</string></array></dict>
                <dict><key>updated</key><array><string>\(note)</string></array>
                <key>strange</key><array/></dict>
                </array></dict></plist>
                """
                .utf8
            )
        )
        #expect(try await relay("drain", path, "--consumer", "app").status == 0)
        let words = ["relay", "import", path, "--legacy-defaults", file, "--legacy-key", "changes"]
        let wrongKey = try await Tool.run(words.dropLast() + ["change"])
        #expect(wrongKey.errors.contains("they are under changes (\(file)) [legacyKeyAbsent]"), "\(wrongKey.errors)")
        let wrongFile = try await Tool.run([
            "relay", "import", path, "--legacy-defaults", file + "x", "--legacy-key", "k",
        ])
        #expect(wrongFile.output == "\(file)x, key 'k': there is no such file, and nothing to import\n")
        let run = try await Tool.run(words + ["--json"])
        let records = try Grammar().check(run)
        #expect(records.map { $0["type"]?.string } == ["finding", "legacy", "summary"])
        #expect(records[0]["code"]?.string == "unknownLegacyKey")
        #expect(records[1]["posted"]?.integer == 2)
        #expect(try await Tool.run(words).output.contains("posted 0, 2 waiting to be merged, removed 0"))
        let drained = try await lines("drain", path, "--consumer", "app")
        #expect(drained.map { $0["inserted"] } == [.array([.string(note)]), .array([]), nil])
        #expect(try await Tool.run(words).output.contains("posted 0, 0 waiting to be merged, removed 2"))
        #expect(try await Tool.run(words).output.contains("posted 0, 0 waiting to be merged, removed 0"))
    }

    @Test("plan names the keys with pending changes for a wrong key, and a missing preferences file")
    func planned() async throws {
        let file = try scratch.file(
            "group.plist",
            Array(
                """
                <?xml version="1.0" encoding="UTF-8"?>
                <plist version="1.0"><dict><key>changes</key><array>
                <dict><key>inserted</key><array><string>\(uri(1))</string></array></dict></array></dict></plist>
                """
                .utf8
            )
        )
        let words = ["plan", path, scratch.path("new.sqlite"), "--legacy-defaults"]
        let wrongKey = try await Tool.run(words + [file, "--legacy-key", "change"])
        #expect(wrongKey.status == 0 && wrongKey.output.contains("they are under changes (\(file)) [legacyKeyAbsent]"))
        let wrongFile = try await Tool.run(words + [file + "x", "--legacy-key", "changes"])
        #expect(wrongFile.output.contains("there is no preferences file (\(file)x) [legacyFileAbsent]"))
        let right = try await Tool.run(words + [file, "--legacy-key", "changes"])
        // A plain store has no objects: the addresses are another store's.
        #expect(right.output.contains("[legacyOfAnotherStore]"), "\(right.output)")
        let folder = try await Tool.run(words + [scratch.path, "--legacy-key", "changes"])
        #expect(folder.status == 2 && folder.errors.contains("is a folder"), "\(folder.errors)")
    }
}
