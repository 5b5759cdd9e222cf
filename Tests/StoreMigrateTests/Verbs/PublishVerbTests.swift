import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite("Verb publish")
struct PublishVerbTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test("publish makes a snapshot, does nothing the second time, and -n says whether one is due")
    func publish() async throws {
        try scratch.folder("app")
        let group = try scratch.folder("group")
        let store = try await scratch.store("app/Habits.sqlite")
        let before = try scratch.fingerprint(scratch.path("app"))
        let due = try await Tool.run(["publish", store, group, "-n"])
        #expect(due.status == 0)
        #expect(due.output == "would publish \(group)/Habits.sqlite\n")
        #expect(try scratch.names(group) == [])
        let first = try await Tool.run(["publish", store, group, "--json"])
        let lines = try Grammar().check(first)
        #expect(first.status == 0, "\(first.errors)")
        #expect(lines.last?["outcome"]?.string == "published")
        let text = try await Tool.run(["publish", store, group])
        #expect(text.output.hasPrefix("Already published: the store has not changed\n"), "\(text.output)")
        let quiet = try await Tool.run(["publish", store, group, "--json", "-n"])
        #expect(try Grammar().check(quiet).first?["due"] == .bool(false))
        #expect(try scratch.fingerprint(scratch.path("app")) == before)
        // A reader needs no lock, and no right to write.
        let read = try await SQLiteProgram.run("file:\(group)/Habits.sqlite?immutable=1", "SELECT count(*) FROM habit")
        #expect(read == "2\n")
    }

    @Test("Another user may publish to a folder that it can write, again and again")
    func otherUser() async throws {
        let nobody = try Nobody(scratch)
        let (app, group) = (try nobody.folder("app"), try nobody.folder("group"))
        for name in ["first", "second", "third"] {
            try await nobody.shell("sqlite3 \(app)/s.db 'CREATE TABLE \(name) (x)'")
            let run = try await nobody.run(["publish", "\(app)/s.db", group])
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.hasPrefix("Published s.db"), "\(run.output)")
        }
        #expect(try scratch.names(group) == [".s.db.published.json", ".s.db.wake", "s.db"])
    }

    @Test(
        "publish ends with status 4 for a path with another store, 10 without a store or folder, 2 for wrong arguments"
    )
    func refusals() async throws {
        let group = try scratch.folder("group")
        let store = try await scratch.store("Habits.sqlite")
        try await scratch.store("group/Habits.sqlite", "CREATE TABLE other (x)")
        let before = try scratch.fingerprint(withFolderTimes: false)
        for (words, status, says) in [
            ([store, group], 4, "was not published from here"),
            ([scratch.path("absent"), group + "/new"], 10, ""),
            ([store, scratch.path("absent/Habits.sqlite")], 10, "mkdir -p"),
            ([store, store], 2, "the path of the store itself"),
            ([group, group], 12, "Name the store's main file"),
            ([store], 2, "DEST"), ([store, group, "--every", "1s"], 2, "--watch"),
            ([store, group, "--watch", "-n"], 2, "--watch"),
        ] as [([String], Int32, String)] {
            let run = try await Tool.run(["publish"] + words)
            #expect(run.status == status, "\(words) \(run.output)\(run.errors)")
            #expect(run.errors.contains(says), "\(words) \(run.errors)")
        }
        #expect(try scratch.fingerprint(withFolderTimes: false) == before)
    }

    @Test("publish --watch publishes after each change, and ends when it is stopped")
    func watch() async throws {
        let group = try scratch.folder("group")
        let store = try await scratch.store("Habits.sqlite")
        let tool = try ChildProgram([Tool.path, "publish", store, group, "--watch", "--every", "10ms", "--json"])
        defer { tool.kill() }
        var output = ""
        func wait(forSnapshots count: Int) {
            while output.components(separatedBy: "\"due\":false").count <= count {
                let chunk = tool.available(within: .seconds(60))
                guard !chunk.isEmpty else { return }
                output += String(decoding: chunk, as: UTF8.self)
            }
        }
        wait(forSnapshots: 1)
        for number in 2...4 {
            try await SQLiteProgram.run(store, "INSERT INTO habit (name) VALUES ('\(number)')")
            wait(forSnapshots: number)
        }
        let read = try await SQLiteProgram.run("file:\(group)/Habits.sqlite?immutable=1", "SELECT count(*) FROM habit")
        #expect(read == "5\n", "\(output)")
        tool.signal(SIGINT)
        output += String(decoding: tool.rest(), as: UTF8.self)
        let status = tool.wait()
        #expect(status == 130, "\(output.suffix(300))")
        #expect(!(try scratch.names(group).contains { $0.contains("former") || $0.contains("publishing") }))
    }

    @Test("restore and migrate onto a published snapshot end with status 4 and the removal, and write nothing")
    func writesOntoSnapshot() async throws {
        let versions = try await ModelVersions()
        let (store, model) = (versions.store, try versions.second())
        let archive = versions.scratch.path("archive.tar.zst")
        #expect(try await Tool.run(["backup", store, "-o", archive]).status == 0)
        let snapshot = try versions.scratch.folder("group") + "/Habits.sqlite"
        #expect(try await Tool.run(["publish", store, snapshot]).status == 0)
        let before = try versions.scratch.fingerprint(withFolderTimes: false)
        for words in [
            ["restore", archive, snapshot], ["restore", archive, snapshot, "--overwrite", "always"],
            ["restore", archive, versions.scratch.path("group")], ["migrate", snapshot, "--model", model, "-n"],
            ["migrate", snapshot, "--model", model],
        ] {
            let run = try await Tool.run(words)
            #expect(run.status == 4, "\(words) \(run.output)\(run.errors)")
            #expect(run.errors.contains("this is a snapshot that was published from \(store)"), "\(run.errors)")
            #expect(run.errors.contains("Next: rm -f \(snapshot)"), "\(run.errors)")
        }
        #expect(try versions.scratch.fingerprint(withFolderTimes: false) == before)
    }
}
