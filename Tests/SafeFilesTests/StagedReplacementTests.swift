import Glibc
import SafeFiles
import SystemPackage
import TestSupport
import Testing

@Suite("Staged replacements and write permissions")
struct StagedReplacementTests {
    private let temporary: TemporaryDirectory
    private var folder: Directory { temporary.directory }

    init() throws { temporary = try TemporaryDirectory(prefix: "staged-replacement-tests") }

    private func text(_ name: String) throws -> String {
        String(decoding: try folder.contents(of: name, limit: 100), as: UTF8.self)
    }

    @Test("A staged replacement replaces the file only when it is committed")
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

    @Test("The new content and mode are durable before the rename, and the rename before the replacement ends")
    func order() throws {
        try folder.replace("note", with: Array("old".utf8), mode: 0o600)
        let system = RecordingFileSystem()
        try Directory.open(path: folder.path, operations: system).replace("note", with: [1], mode: 0o640)
        let changes = ["truncate", "write", "setMode", "synchronize", "rename"]
        #expect(
            system.calls.filter { call in changes.contains { call.hasPrefix($0) } } == [
                "truncate", "write", "setMode", "synchronize", "rename note.new note replacing", "synchronize",
            ]
        )
    }

    @Test("A longer leftover of an interrupted replacement adds nothing to the new content")
    func longerLeftover() throws {
        let left = try folder.createFile("note.new", mode: 0o600)
        try Array("a long leftover".utf8).withUnsafeBytes { try left.write($0, at: 0) }
        try left.close()
        try folder.replace("note", with: Array("new".utf8), mode: 0o600)
        #expect(try text("note") == "new")
    }

    @Test("A cancelled or released staged replacement leaves no file")
    func cancel() throws {
        try folder.stageReplacement(of: "note", with: [1], mode: 0o600).cancel()
        #expect(try folder.entries().isEmpty)
        _ = try folder.stageReplacement(of: "note", with: [1], mode: 0o600)
        #expect(try folder.entries().isEmpty)
    }

    @Test("A committed or cancelled replacement keeps no file open, and a later one is not affected by its release")
    func settled() throws {
        let system = RecordingFileSystem()
        let watched = try Directory.open(path: folder.path, operations: system)
        let open = system.openDescriptors.count
        let committed = try watched.stageReplacement(of: "note", with: [1], mode: 0o600)
        try committed.commit()
        #expect(system.openDescriptors.count == open)
        var cancelled: StagedReplacement? = try watched.stageReplacement(of: "note", with: [2], mode: 0o600)
        cancelled?.cancel()
        #expect(system.openDescriptors.count == open)
        let later = try watched.stageReplacement(of: "note", with: [3], mode: 0o600)
        withExtendedLifetime(committed) {}
        withExtendedLifetime(cancelled) {}
        cancelled = nil
        try later.commit()
        #expect(try folder.contents(of: "note", limit: 10) == [3])
    }

    @Test("A file left under two names by a power cut can be replaced")
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

    @Test("Another user's file under the temporary name is removed, and the replacement succeeds")
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

    @Test("A replacement whose temporary file was exchanged fails, and the old content stays")
    func takenAway() throws {
        try folder.replace("note", with: Array("old".utf8), mode: 0o600)
        let replacement = try folder.stageReplacement(of: "note", with: Array("new".utf8), mode: 0o600)
        try folder.removeFile("note.new")
        try folder.createFile("note.new", mode: 0o600).close()
        #expect(throws: FileError.self) { try replacement.commit() }
        #expect(try text("note") == "old")
    }

    @Test("A full disk or a failed rename is reported, and the old content stays")
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
        // Each call of the staging fails once, and the file must stay.
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

    @Test("Write permissions are reported without writing")
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
            #expect(file == false && !own && !closed)
        } else {
            #expect(try folder.allowsWriting("note") == false)
            #expect(try !folder.openDirectory("closed").allowsWriting())
        }
        #expect(try folder.allowsWriting("absent") == nil)
        try folder.setMode(0o777)
        // Names in a folder need the permission to search it; a file need not be executable.
        let (own, closed) = try SeparateThread(asOrdinaryUser: true) {
            let folder = try Directory.open(path: path)
            try folder.createFile("own", mode: 0o600).close()
            return try (folder.allowsWriting("own"), folder.createDirectory("list", mode: 0o600).allowsWriting())
        }
        .value()
        #expect(own == true && !closed)
    }

    @Test(
        "Groups are found by name and number, and the number for unchanged is rejected",
        arguments: [("0", 0), ("root", 0), ("4294967294", 4_294_967_294), ("4294967295", nil), ("4294967296", nil)]
            as [(String, UInt32?)]
    )
    func groups(_ name: String, _ number: UInt32?) {
        #expect(UserGroup.number(of: name) == number)
    }

    @Test("A user can assign files only to own groups")
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
