import Glibc
import SafeFiles
import SystemPackage
import TestSupport
import Testing

@Suite("A file that is made out of sight and then gets its name")
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

    @Test("It is whole and closed before it has its name, and the name is brought to the disk")
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
        #expect(calls[naming...].contains("synchronize"))
        #expect(try folder.entries() == ["file"])
        #expect(try folder.status(of: "file")?.mode == 0o640)
    }

    @Test("What has the name first keeps it, and nothing else stays")
    func second() throws {
        try scratch.write("file", [1])
        #expect(try !folder.introduce("file", make))
        #expect(try folder.contents(of: "file", limit: 10) == [1])
        #expect(try folder.entries() == ["file"])
    }

    @Test("One that cannot be made leaves nothing behind")
    func failure() throws {
        #expect(throws: FileError.self) {
            try folder.introduce("file") { nursery in
                try make(nursery)
                throw FileError(operation: "make", path: "file", errno: .ioError)
            }
        }
        #expect(try folder.entries() == [])
    }

    @Test("In a folder that hands its group on it has that group", .enabled(if: ProcessIdentity.effectiveUser == 0))
    func group() throws {
        try folder.setOwner(user: nil, group: 4_321)
        try folder.setMode(0o2770)
        _ = try folder.introduce("file", make)
        #expect(try folder.status(of: "file")?.group == 4_321)
    }

    @Test("A file that a power cut left under both its names keeps the one that it was given")
    func bothNames() throws {
        let digits = String(repeating: "0a", count: 10)
        let nursery = try folder.createDirectory(".store-migrate-new-\(digits)", mode: 0o700)
        try make(nursery)
        #expect(try !folder.isIntroduced("file"))
        try #require(link(nursery.path + "/file", scratch.path + "/file") == 0)
        #expect(try folder.isIntroduced("file"))
        #expect(try folder.entries() == ["file"])
        #expect(try folder.status(of: "file")?.linkCount == 1)
    }

    @Test("What processes left that were killed meanwhile is removed on demand")
    func abandoned() throws {
        let digits = String(repeating: "0a", count: 10)
        for mode in [0o700, 0o2700] as [UInt32] {
            try make(folder.createDirectory(".store-migrate-new-\(digits)", mode: mode))
            folder.removeUnintroduced()
            #expect(try folder.entries() == [])
        }
    }
}
