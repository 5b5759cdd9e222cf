import FoundationEssentials
import SafeFiles
import Testing

@Suite("Paths too long for the copies that a run makes beside a store")
struct LongPathTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// The path of a store of this many bytes, in a new folder.
    private func path(ofLength length: Int, _ first: String) throws -> String {
        let name = "s.sqlite"
        var folder = first
        while true {
            let rest = length - scratch.path(folder).utf8.count - 1 - name.utf8.count
            guard rest > 0 else { return try scratch.folder(folder) + "/" + name }
            // A part with its slash; the last one has at least one letter.
            folder += "/" + String(repeating: "d", count: rest > 202 ? 100 : rest - 1)
        }
    }

    /// Expects that each command ends with status 2 and the same error, and that nothing was written.
    private func expectRefusal(_ commands: [[String]]) async throws {
        let before = try scratch.fingerprint(withFolderTimes: false)
        var errors: Set<String> = []
        for words in commands {
            let run = try await Tool.run(words)
            #expect(run.status == 2, "\(words[0]) \(run.output)\(run.errors)")
            #expect(run.errors.contains("path is too long"), "\(words[0]) \(run.errors)")
            errors.insert(run.errors)
        }
        #expect(errors.count == 1)
        #expect(try scratch.fingerprint(withFolderTimes: false) == before)
    }

    @Test(
        "plan and share refuse a new path without room for the staging folder, and share to the longest path succeeds"
    )
    func newPath() async throws {
        let old = try await scratch.store("s.sqlite")
        let long = try path(ofLength: 456, "long")
        try await expectRefusal([["plan", old, long], ["share", old, long]])
        let new = try path(ofLength: 455, "new")
        for words in [["plan", old, new], ["share", old, new], ["unshare", old, new]] {
            let run = try await Tool.run(words)
            #expect(run.status == 0, "\(words[0]) \(run.errors)")
        }
    }

    @Test("plan and share refuse to replace a store at a path without room for its displaced copy")
    func occupiedPath() async throws {
        let old = try await scratch.store("s.sqlite")
        for (length, isRefused) in [(450, true), (449, false)] {
            let new = try path(ofLength: length, "new\(length)")
            try await SQLiteProgram.run(new, "CREATE TABLE other (x); INSERT INTO other VALUES (1)")
            let words = [old, new, "--on-both", "keep-old"]
            if isRefused {
                try await expectRefusal([["plan"] + words, ["share"] + words])
            } else {
                let run = try await Tool.run(["share"] + words)
                #expect(run.status == 0, "\(run.errors)")
            }
        }
    }

    @Test("plan and share refuse an old path without room for the copy that unshare makes")
    func oldPath() async throws {
        let (group, state) = (try scratch.folder("group"), try scratch.folder("state"))
        for (length, isRefused) in [(450, true), (449, false)] {
            let old = try path(ofLength: length, "old\(length)")
            try await SQLiteProgram.run(old, Scratch.habits)
            let words = [old, group + "/s.sqlite", "--state", state]
            if isRefused {
                try await expectRefusal([["plan"] + words, ["share"] + words])
            } else {
                for verb in ["share", "unshare"] {
                    let run = try await Tool.run([verb] + words)
                    #expect(run.status == 0, "\(verb) \(run.errors)")
                }
            }
        }
    }

    @Test("publish and publish -n refuse a path without room for the private folder")
    func publish() async throws {
        let store = try await scratch.store("s.sqlite")
        let long = try path(ofLength: 454, "long")
        try await expectRefusal([["publish", "-n", store, long], ["publish", store, long]])
        let run = try await Tool.run(["publish", store, try path(ofLength: 453, "place")])
        #expect(run.status == 0, "\(run.errors)")
    }

    @Test("restore refuses a path without room for the displaced copy, vacant or not, before it unpacks")
    func restore() async throws {
        let archive = scratch.path("archive.tar.zst")
        let store = try await scratch.store("s.sqlite")
        #expect(try await Tool.run(["backup", store, "-o", archive]).status == 0)
        for length in [450, 449] {
            let place = try path(ofLength: length, "place\(length)")
            let words = ["restore", archive, place]
            if length == 450 {
                try await expectRefusal([words])
            } else {
                #expect(try await Tool.run(words).status == 0)
            }
            try await SQLiteProgram.run(place, "CREATE TABLE other (x); INSERT INTO other VALUES (1)")
            let over = words + ["--overwrite", "always", "--other-store"]
            if length == 450 {
                try await expectRefusal([over])
            } else {
                let run = try await Tool.run(over)
                #expect(run.status == 0, "\(run.errors)")
            }
        }
        // In a folder, the archive gives the name.
        let folder = try path(ofLength: 470, "folder").dropLast("s.sqlite".count)
        let run = try await Tool.run(["restore", archive, String(folder)])
        #expect(run.status == 13 && run.errors.contains("too long"), "\(run.status) \(run.errors)")
        #expect(try scratch.names(String(folder)) == [])
    }

    @Test("migrate and migrate -n refuse a store whose path has no room for its displaced copy")
    func migrate() async throws {
        for (length, isRefused) in [(450, true), (449, false)] {
            let versions = try await ModelVersions(journalMode: "rollback")
            let store = try path(ofLength: length, "store\(length)")
            try FileManager.default.copyItem(atPath: versions.store, toPath: store)
            let words = ["migrate", store, "--model", try versions.second()]
            if isRefused {
                try await expectRefusal([words + ["-n"], words])
            } else {
                let run = try await Tool.run(words)
                #expect(run.status == 0, "\(run.errors)")
            }
        }
    }
}
