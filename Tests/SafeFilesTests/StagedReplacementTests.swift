import Glibc
import SafeFiles
import SystemPackage
import TestSupport
import Testing

@Suite("Content that waits for its rename, and what a user may write")
struct StagedReplacementTests {
    private let temporary: TemporaryDirectory
    private var folder: Directory { temporary.directory }

    init() throws { temporary = try TemporaryDirectory(prefix: "staged-replacement-tests") }

    private func text(_ name: String) throws -> String {
        String(decoding: try folder.contents(of: name, limit: 100), as: UTF8.self)
    }

    @Test("It takes the file's place when it is committed, and not before")
    func commit() throws {
        try folder.replace("note", with: Array("old".utf8), mode: 0o600)
        let replacement = try folder.stageReplacement(of: "note", with: Array("new".utf8), mode: 0o640)
        #expect(try text("note") == "old")
        try replacement.commit()
        #expect(try text("note") == "new")
        #expect(try folder.status(of: "note")?.mode == 0o640)
        replacement.cancel()
        #expect(try folder.entries() == ["note"])
    }

    @Test("Cancelled or forgotten it leaves nothing")
    func cancel() throws {
        try folder.stageReplacement(of: "note", with: [1], mode: 0o600).cancel()
        #expect(try folder.entries().isEmpty)
        _ = try folder.stageReplacement(of: "note", with: [1], mode: 0o600)
        #expect(try folder.entries().isEmpty)
    }

    @Test("Two names that a power cut left to one file do not stand in the way")
    func bothNames() throws {
        try folder.replace("note", with: Array("old".utf8), mode: 0o600)
        try #require(link(folder.path + "/note", folder.path + "/note.new") == 0)
        let replacement = try folder.stageReplacement(of: "note", with: Array("new".utf8), mode: 0o600)
        #expect(try text("note") == "old")
        try replacement.commit()
        #expect(try text("note") == "new")
        #expect(try folder.entries() == ["note"])
    }

    @Test("A file with its own and the replacement's name is read; one with a third name is refused")
    func readWithBothNames() throws {
        try folder.replace("note", with: Array("old".utf8), mode: 0o600)
        try #require(link(folder.path + "/note", folder.path + "/note.new") == 0)
        #expect(try folder.contents(of: "note", limit: 100) == Array("old".utf8))
        try #require(link(folder.path + "/note", folder.path + "/other") == 0)
        #expect { try folder.contents(of: "note", limit: 100) } throws: { error in
            (error as? FileError)?.refusal == .hardLinked(3)
        }
        try folder.removeFile("note.new")
        #expect(throws: FileError.self) { try folder.contents(of: "note", limit: 100) }
    }

    @Test("A file of a stranger's under the name of the new content goes, and stops nobody")
    func foreignLeftover() throws {
        guard geteuid() == 0 else { return }
        try folder.setMode(0o777)
        let left = try folder.createFile("note.new", mode: 0o666)
        try left.close()
        let path = folder.path
        try SeparateThread(asOrdinaryUser: true) {
            let folder = try Directory.open(path: path)
            try folder.stageReplacement(of: "note", with: Array("new".utf8), mode: 0o644).commit()
        }
        .value()
        #expect(try text("note") == "new")
        #expect(try folder.status(of: "note")?.owner == 65_534)
        #expect(try folder.entries() == ["note"])
    }

    @Test("New content that was taken away is not replaced by what has its name now")
    func takenAway() throws {
        try folder.replace("note", with: Array("old".utf8), mode: 0o600)
        let replacement = try folder.stageReplacement(of: "note", with: Array("new".utf8), mode: 0o600)
        try folder.removeFile("note.new")
        try folder.createFile("note.new", mode: 0o600).close()
        #expect(throws: FileError.self) { try replacement.commit() }
        #expect(try text("note") == "old")
    }

    @Test("A full disk is told before anything is replaced, and a rename that fails leaves the old content")
    func failures() throws {
        try folder.replace("note", with: Array("old".utf8), mode: 0o600)
        let system = RecordingFileSystem()
        let watched = try Directory.open(path: folder.path, operations: system)
        let replacement = try watched.stageReplacement(of: "note", with: Array("new".utf8), mode: 0o600)
        system.failNext(with: .ioError)
        #expect(throws: FileError.self) { try replacement.commit() }
        #expect(try text("note") == "old")
        #expect(try folder.entries() == ["note"])
        var isFull = false
        // Every call of the staging fails once: whichever it is, the file stays.
        for distance in 0..<12 {
            system.fail(after: [distance], with: .noSpace)
            do {
                try watched.stageReplacement(of: "note", with: Array("new".utf8), mode: 0o600).cancel()
            } catch {
                isFull = isFull || error.errno == .noSpace
            }
            #expect(try text("note") == "old")
        }
        #expect(isFull)
    }

    @Test("What this user may write is told without a try")
    func allowsWriting() async throws {
        #expect(try folder.allowsWriting())
        try folder.replace("note", with: [1], mode: 0o444)
        _ = try folder.createDirectory("closed", mode: 0o555)
        let path = folder.path
        if geteuid() == 0 {
            try folder.setMode(0o755)
            let (file, own, closed) = try SeparateThread(asOrdinaryUser: true) {
                let folder = try Directory.open(path: path)
                return try (
                    folder.allowsWriting("note"), folder.allowsWriting(),
                    folder.openDirectory("closed").allowsWriting()
                )
            }
            .value()
            #expect(!file && !own && !closed)
        } else {
            #expect(try !folder.allowsWriting("note"))
            #expect(try !folder.openDirectory("closed").allowsWriting())
        }
        #expect(throws: FileError.self) { try folder.allowsWriting("absent") }
    }

    @Test(
        "Groups are known by name and number, and the number that means none is none",
        arguments: [("0", 0), ("root", 0), ("4294967294", 4_294_967_294), ("4294967295", nil), ("4294967296", nil)]
            as [(String, UInt32?)]
    )
    func groups(_ name: String, _ number: UInt32?) {
        #expect(UserGroup.number(of: name) == number)
    }

    @Test("A user gives files to own groups only")
    func membership() throws {
        #expect(UserGroup.mayBeGiven(getegid()))
        let (own, other) = try SeparateThread(asOrdinaryUser: true) {
            (UserGroup.mayBeGiven(UserGroup.ofNewFiles), UserGroup.mayBeGiven(61_234))
        }
        .value()
        #expect(own)
        #expect(!other)
    }
}
