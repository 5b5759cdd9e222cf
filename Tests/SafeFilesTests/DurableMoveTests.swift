import Glibc
import SafeFiles
import SystemPackage
import TestSupport
import Testing

@Suite("A durable move between folders")
struct DurableMoveTests {
    private let temporary: TemporaryDirectory
    private let system = RecordingFileSystem()
    private let source: Directory
    private let target: Directory

    init() throws {
        temporary = try TemporaryDirectory(prefix: "durable-move-tests")
        try temporary.directory.createDirectory("source", mode: 0o700).replace("file", with: [1, 2], mode: 0o600)
        _ = try temporary.directory.createDirectory("target", mode: 0o700)
        source = try Directory.open(path: temporary.directory.path + "/source", operations: system)
        target = try Directory.open(path: temporary.directory.path + "/target", operations: system)
    }

    /// The calls that change or fsync a file or folder.
    private func changes(since count: Int) -> [String] {
        system.calls.dropFirst(count)
            .filter { call in
                ["link", "rename", "removeFile", "synchronize"].contains { call.hasPrefix($0) }
            }
    }

    @Test("A durable move makes the new name durable before it removes the old one")
    func order() throws {
        let count = system.calls.count
        try source.moveDurably("file", to: "other", in: target)
        let changes = changes(since: count)
        #expect(changes.count == 3)
        #expect(changes.first == "link file other")
        #expect(changes.dropFirst().first?.hasPrefix("synchronize") == true)
        #expect(changes.last == "removeFile file")
        #expect(try source.entries() == [])
        #expect(try target.contents(of: "other", limit: 10) == [1, 2])
        #expect(try target.status(of: "other")?.linkCount == 1)
    }

    @Test("A durable move of a folder renames it and makes the new name durable")
    func folder() throws {
        _ = try source.createDirectory("inner", mode: 0o700)
        let count = system.calls.count
        try source.moveDurably("inner", to: "inner", in: target)
        let changes = changes(since: count)
        #expect(changes.first == "rename inner inner")
        #expect(changes.count == 2)
        #expect(try target.status(of: "inner")?.kind == .directory)
    }

    @Test(
        "Without hard links a durable move renames the file",
        arguments: [Errno.notPermitted, .notSupportedOnSocket, .noFunction, .tooManyLinks, .permissionDenied]
    )
    func withoutLinks(_ refusal: Errno) throws {
        let rehearsal = RecordingFileSystem()
        try Directory.open(path: source.path, operations: rehearsal).moveDurably("file", to: "other", in: target)
        try target.move("other", to: "file", in: source)
        let number = try #require(rehearsal.calls.firstIndex(of: "link file other"))
        let failing = RecordingFileSystem(failures: [number: refusal])
        let source = try Directory.open(path: source.path, operations: failing)
        try source.moveDurably("file", to: "other", in: target)
        #expect(failing.calls.contains("link file other"))
        #expect(failing.calls.contains("rename file other"))
        #expect(try target.contents(of: "other", limit: 10) == [1, 2])
    }

    @Test("A durable move interrupted with both names is completed by the next call")
    func interrupted() throws {
        try source.moveDurably("file", to: "other", in: target)
        try #require(link(target.path + "/other", source.path + "/file") == 0)
        let count = system.calls.count
        try source.moveDurably("file", to: "other", in: target)
        let changes = changes(since: count)
        #expect(changes.count == 2)
        #expect(changes.first?.hasPrefix("synchronize") == true)
        #expect(changes.last == "removeFile file")
        #expect(try source.entries() == [])
        #expect(try target.contents(of: "other", limit: 10) == [1, 2])
    }

    @Test("A durable move to an existing name fails, and both files stay")
    func taken() throws {
        try target.replace("other", with: [7], mode: 0o600)
        let error = #expect(throws: FileError.self) { try source.moveDurably("file", to: "other", in: target) }
        #expect(error?.errno == .fileExists)
        #expect(try source.contents(of: "file", limit: 10) == [1, 2])
        #expect(try target.contents(of: "other", limit: 10) == [7])
    }
}
