import Glibc
import SafeFiles
import SystemPackage
import TestSupport
import Testing

@Suite("Introducing a file under its name")
struct IntroductionTests {
    private let scratch: ScratchFolder
    private let system = RecordingFileSystem()
    private let folder: Directory

    init() throws {
        scratch = try ScratchFolder()
        folder = try Directory.open(path: scratch.path, operations: system)
    }

    private func make(_ nursery: Directory) throws {
        let file = try nursery.createFile("file", mode: 0o640)
        try [7, 8].withUnsafeBytes { try file.write($0, at: 0) }
        try file.close()
    }

    @Test("An introduced file is complete and closed before it has its name, and the name is durable")
    func order() throws {
        let isNew = try folder.introduce("file") { nursery in
            try make(nursery)
            #expect(try folder.entries().allSatisfy { $0.hasPrefix(".") })
        }
        #expect(isNew)
        let calls = system.calls
        let opening = try #require(calls.firstIndex { $0.hasPrefix("open file") })
        let closing = try #require(calls[opening...].firstIndex(of: "close"))
        let naming = try #require(calls.firstIndex(of: "rename file file"))
        #expect(closing < naming)
        #expect(calls.firstIndex { $0.hasPrefix("open file") } == calls.lastIndex { $0.hasPrefix("open file") })
        let flushing = try #require(calls[naming...].firstIndex(of: "synchronize"))
        #expect(calls[naming..<flushing].contains { $0.hasPrefix("removeDirectory .store-migrate-new-") })
        #expect(try folder.entries() == ["file"])
        #expect(try folder.status(of: "file")?.mode == 0o640)
    }

    @Test("An existing file with the name stays, and the new one is removed")
    func second() throws {
        try scratch.write("file", [1])
        #expect(try !folder.introduce("file", make))
        #expect(try folder.contents(of: "file", limit: 10) == [1])
        #expect(try folder.entries() == ["file"])
    }

    @Test("A failed introduction leaves no file")
    func failure() throws {
        #expect(throws: FileError.self) {
            try folder.introduce("file") { nursery in
                try make(nursery)
                throw FileError(operation: "make", path: "file", errno: .ioError)
            }
        }
        #expect(try folder.entries() == [])
    }

    @Test("An introduced file inherits its folder's group", .enabled(if: ProcessIdentity.effectiveUser == 0))
    func group() throws {
        try folder.setOwner(user: nil, group: 4_321)
        try folder.setMode(0o2770)
        _ = try folder.introduce("file", make)
        #expect(try folder.status(of: "file")?.group == 4_321)
    }

    @Test("A file left under both names by a power cut keeps only the introduced name")
    func bothNames() throws {
        let digits = String(repeating: "0a", count: 10)
        let nursery = try folder.createDirectory(".store-migrate-new-\(digits)", mode: 0o700)
        try make(nursery)
        #expect(try !folder.isIntroduced("file"))
        try #require(link(nursery.path + "/file", scratch.path + "/file") == 0)
        #expect(try folder.isIntroduced("file"))
        #expect(try folder.entries() == ["file"])
        #expect(try folder.status(of: "file")?.linkCount == 1)
        let count = system.calls.count
        #expect(try folder.isIntroduced("file"))
        #expect(system.calls.dropFirst(count) == ["status file"], "the folder of a file with one name is not listed")
    }

    @Test("Leftovers of killed processes are removed on request")
    func abandoned() throws {
        let digits = String(repeating: "0a", count: 10)
        for mode in [0o700, 0o2700] as [UInt32] {
            try make(folder.createDirectory(".store-migrate-new-\(digits)", mode: mode))
            folder.removeUnintroduced()
            #expect(try folder.entries() == [])
        }
    }

    @Test("Each introduction removes the leftovers of killed processes")
    func abandonedMeanwhile() throws {
        let digits = String(repeating: "0a", count: 10)
        for name in ["one", "two"] {
            try make(folder.createDirectory(".store-migrate-new-\(digits)", mode: 0o700))
            _ = try folder.introduce(name) { try $0.createFile(name, mode: 0o600).close() }
        }
        #expect(try folder.entries() == ["one", "two"])
    }
}
