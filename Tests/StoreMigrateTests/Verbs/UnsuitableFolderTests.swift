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
}
