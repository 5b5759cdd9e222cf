import Glibc
import SafeFiles
import Testing

@Suite("A folder of our own that goes away")
struct TemporaryDirectoryTests {
    @Test("It is closed to others, and goes away with what is in it")
    func lifetime() throws {
        var temporary: TemporaryDirectory? = try TemporaryDirectory(prefix: "temporary")
        let folder = try #require(temporary?.directory)
        #expect(try folder.status().mode == 0o700)
        let inner = try folder.createDirectory("inner", mode: 0o700)
        try inner.replace("file", with: [1], mode: 0o400)
        let path = folder.path
        temporary = nil
        #expect(access(path, F_OK) == -1)
    }

    @Test("What its symbolic links lead to stays")
    func symbolicLinks() throws {
        let kept = try TemporaryDirectory(prefix: "kept")
        try kept.directory.replace("file", with: [1], mode: 0o600)
        let temporary = try TemporaryDirectory(prefix: "temporary")
        try #require(symlink(kept.directory.path, temporary.directory.path + "/link") == 0)
        temporary.remove()
        #expect(try kept.directory.entries() == ["file"])
    }

    @Test("Whatever took its name meanwhile stays")
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
}
