import Testing

@Suite("Folders that cannot be a state folder or a destination")
struct UnsuitableFolderTests {
    private let scratch: Scratch
    private let app: String
    private let group: String
    private let old: String

    init() async throws {
        scratch = try Scratch()
        app = try scratch.folder("app")
        group = try scratch.folder("group")
        old = try await scratch.store("app/s.sqlite")
    }

    /// Expects that each command ends with this status and text, and writes nothing.
    private func expectRefusal(_ status: Int32, _ text: String, _ commands: [[String]]) async throws {
        let before = try scratch.fingerprint(withFolderTimes: false)
        for words in commands {
            let run = try await Tool.run(words)
            #expect(run.status == status, "\(words) \(run.output)\(run.errors)")
            #expect(run.errors.contains(text), "\(words) \(run.errors)")
        }
        #expect(try scratch.fingerprint(withFolderTimes: false) == before)
    }

    @Test("A state folder that is the folder of the old or the new store is refused with status 2")
    func stateFolder() async throws {
        let new = group + "/s.sqlite"
        try await expectRefusal(
            2,
            "the journal's folder would have the path of the new store: \(new). Name a state folder that contains no store.",
            ["plan", "share"].map { [$0, old, new, "--state", group] }
        )
        // SQLite would use a folder with the name of the log.
        let other = try await scratch.store("app/x.sqlite-wal")
        try await expectRefusal(
            2,
            "the journal's folder would have the path of the new store",
            ["plan", "share"].map { [$0, other, group + "/x.sqlite", "--state", group] }
        )
        try await expectRefusal(
            2,
            "the journal's folder would have the path of a file: \(old). Name a state folder that contains no store.",
            [["plan", old, new], ["share", old, new], ["status", old, new], ["retire", old]]
                .map { $0 + ["--state", app] }
        )
    }

    @Test("A store of another name can have its state folder beside the new store")
    func stateFolderOfOtherName() async throws {
        let new = group + "/t.sqlite"
        for words in [["share", old, new], ["unshare", old, new], ["share", old, new], ["retire", old]] {
            let run = try await Tool.run(words + ["--state", group])
            #expect(run.status == 0, "\(words) \(run.errors)")
        }
    }

    @Test(
        "A folder among a store's external files is refused as a destination, state folder and folder of backups",
        arguments: [".s_SUPPORT", ".s_SUPPORT/_EXTERNAL_DATA", ".s_SUPPORT/_EXTERNAL_DATA/sub"]
    )
    func externalFiles(_ name: String) async throws {
        let folder = try scratch.folder("owner/" + name)
        let owner = try await scratch.store("owner/s.sqlite")
        let archive = scratch.path("archive.tar.zst")
        #expect(try await Tool.run(["backup", old, "-o", archive]).status == 0)
        let says = "the folder is among the external files of the store \(owner): \(folder). Nothing was changed."
        let new = folder + "/new.sqlite"
        try await expectRefusal(
            2,
            says,
            [
                ["plan", old, new], ["share", old, new], ["restore", archive, new], ["publish", old, new, "-n"],
                ["publish", old, new], ["plan", old, group + "/s.sqlite", "--state", folder],
                ["share", old, group + "/s.sqlite", "--state", folder],
                ["share", old, group + "/s.sqlite", "--backup", folder],
            ]
        )
        try await expectRefusal(
            13,
            "the folder is among the external files of \(owner)",
            [["backup", old, "-o", folder + "/b.tar.zst"], ["backup", old, "-o", folder + "/"]]
        )
    }

    @Test("A new store among the old store's external files is refused, and one that is there is not retired")
    func externalFilesOfOldStore() async throws {
        // A link hides the folder from the path.
        let folder = try scratch.folder("app/.s_SUPPORT")
        let link = scratch.path("link")
        try await SQLiteProgram.run(folder + "/s.sqlite", Scratch.habits)
        let words = ["ln", "-s", folder, link]
        #expect(try await Tool.run(command: words).status == 0)
        for new in [folder + "/n.sqlite", link + "/n.sqlite", link + "/s.sqlite"] {
            try await expectRefusal(2, "is among the external files", [["plan", old, new], ["share", old, new]])
        }
        // A former version shared there: the same files, moved as a whole.
        let new = try scratch.folder("group/.x_SUPPORT") + "/s.sqlite"
        #expect(try await Tool.run(["share", old, new]).status == 0)
        try await scratch.store("group/x.sqlite")
        try await expectRefusal(4, "is among the external files of \(group)/x.sqlite", [["retire", old]])
        #expect(try await Tool.run(["unshare", old, new]).status == 0)
    }
}
