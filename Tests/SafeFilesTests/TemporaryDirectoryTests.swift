import Glibc
import SafeFiles
import SystemPackage
import TestSupport
import Testing

@Suite("TemporaryDirectory")
struct TemporaryDirectoryTests {
    @Test("A temporary folder is private, and is removed with its content")
    func lifetime() throws {
        var temporary: TemporaryDirectory? = try TemporaryDirectory(prefix: "temporary")
        let folder = try #require(temporary?.directory)
        #expect(try folder.status().mode == 0o700)
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        #expect(try folder.path.hasPrefix(Directory.open(path: parent.isEmpty ? "/tmp" : parent).path + "/temporary-"))
        let inner = try folder.createDirectory("inner", mode: 0o700)
        try inner.replace("file", with: [1], mode: 0o400)
        let path = folder.path
        temporary = nil
        #expect(access(path, F_OK) == -1)
    }

    @Test("Removing a temporary folder keeps the targets of its symbolic links")
    func symbolicLinks() throws {
        let kept = try TemporaryDirectory(prefix: "kept")
        try kept.directory.replace("file", with: [1], mode: 0o600)
        let temporary = try TemporaryDirectory(prefix: "temporary")
        try #require(symlink(kept.directory.path, temporary.directory.path + "/link") == 0)
        temporary.remove()
        #expect(try kept.directory.entries() == ["file"])
    }

    @Test("A folder that replaced a temporary one under its name stays")
    func takenName() throws {
        let outer = try TemporaryDirectory(prefix: "outer")
        let temporary = try TemporaryDirectory(prefix: "temporary")
        let path = temporary.directory.path
        try #require(rename(path, outer.directory.path + "/moved") == 0)
        try #require(mkdir(path, 0o700) == 0)
        defer { rmdir(path) }
        temporary.remove()
        #expect(access(path, F_OK) == 0)
    }

    @Test("Leftovers of a killed process are removed by the next use of the prefix, once per process")
    func abandoned() throws {
        let outer = try TemporaryDirectory(prefix: "outer")
        let digits = String(repeating: "0a", count: 10)
        // No other test uses this prefix, because inode numbers are reused.
        let left = try outer.directory.createDirectory("left-\(digits)", mode: 0o700)
        try left.createDirectory("inner", mode: 0o700).replace("file", with: [1], mode: 0o600)
        let system = RecordingFileSystem()
        _ = try TemporaryDirectory(prefix: "left", in: outer.directory.path, operations: system)
        #expect(try outer.directory.entries().isEmpty)
        let listings = { system.calls.count { $0.hasPrefix("entries") } }
        let first = listings()
        try #require(first > 0)
        let second = try TemporaryDirectory(prefix: "left", in: outer.directory.path, operations: system)
        #expect(listings() == first)
        second.remove()
    }

    @Test("Leftovers with any of the product's prefixes can be removed, and other folders stay")
    func abandonedOfAnyPrefix() throws {
        let outer = try TemporaryDirectory(prefix: "outer")
        let digits = String(repeating: "0a", count: 10)
        let inUse = try TemporaryDirectory(prefix: "store-migrate-probe", in: outer.directory.path)
        // Names that users give to their own folders, too.
        let others = [
            "other-view-\(digits)", "store-migrate-\(digits)", "store-migrate-integrationtests",
            "store-migrate-longer-\(digits)",
            "store-migrate-view", "store-migrate-view-UPPER\(digits)",
        ]
        for name in others {
            _ = try outer.directory.createDirectory(name, mode: 0o700)
        }
        let before = try outer.directory.entries()
        for prefix in ["store-migrate-view", "store-migrate-version", ".store-migrate-unpacked"] {
            let left = try outer.directory.createDirectory("\(prefix)-\(digits)", mode: 0o700)
            try left.replace("file", with: [1], mode: 0o600)
        }
        TemporaryDirectory.removeAbandoned(in: outer.directory)
        #expect(try outer.directory.entries() == before)
        #expect(try inUse.directory.status().kind == .directory)
    }

    @Test("Folders in use, or possibly not temporary ones, stay")
    func notAbandoned() throws {
        let outer = try TemporaryDirectory(prefix: "outer")
        let digits = String(repeating: "0a", count: 10)
        let inUse = try outer.directory.createDirectory("kept-1\(digits)", mode: 0o700)
        try inUse.replace("file", with: [1], mode: 0o600)
        // A lock like that of another process.
        let descriptor = open(inUse.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(descriptor) }
        try #require(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        for name in ["kept", "kept-", "kept-short", "kept-\(digits)-\(digits)", "other-\(digits)"] {
            _ = try outer.directory.createDirectory(name, mode: 0o700)
        }
        _ = try outer.directory.createDirectory("kept-\(digits)", mode: 0o755)
        let before = try outer.directory.entries()
        _ = try TemporaryDirectory(prefix: "kept", in: outer.directory.path)
        #expect(try outer.directory.entries() == before)
        #expect(try inUse.entries() == ["file"])
    }

    @Test("Concurrent threads do not remove each other's temporary folders")
    func together() throws {
        let outer = try TemporaryDirectory(prefix: "outer")
        let path = outer.directory.path
        let makers = (0..<4)
            .map { _ in
                SeparateThread {
                    for round in 0..<50 {
                        // The first one searches for leftovers while the others create theirs.
                        let temporary = try TemporaryDirectory(prefix: "copy\(round)", in: path)
                        try temporary.directory.replace("file", with: [1], mode: 0o600)
                        try #require(try temporary.directory.entries() == ["file"])
                    }
                }
            }
        for maker in makers { try maker.value() }
        #expect(try outer.directory.entries().isEmpty)
    }

    @Test("A single failed call while creating or removing a temporary folder leaves no folder")
    func failures() throws {
        let outer = try TemporaryDirectory(prefix: "outer")
        func run(_ system: RecordingFileSystem, _ number: Int) throws {
            let path = outer.directory.path
            // A new prefix each time, or there would be no search for leftovers.
            let temporary = try TemporaryDirectory(prefix: "failing\(number)", in: path, operations: system)
            try temporary.directory.replace("file", with: [1], mode: 0o600)
            try temporary.directory.createDirectory("inner", mode: 0o700).replace("file", with: [1], mode: 0o600)
        }
        let system = RecordingFileSystem()
        try run(system, -1)
        try #require(system.calls.count > 10)
        for number in system.calls.indices {
            let harmed = RecordingFileSystem(failures: [number: .ioError])
            try? run(harmed, number)
            #expect(try outer.directory.entries().isEmpty, "call \(number), \(system.calls[number])")
            #expect(harmed.openDescriptors.isEmpty)
        }
    }
}
