import SafeFiles
import SystemPackage
import Testing

@Suite("A folder that was opened once")
struct DirectoryTests {
    private let temporary: TemporaryDirectory
    private var folder: Directory { temporary.directory }

    init() throws {
        temporary = try TemporaryDirectory(prefix: "directory-tests")
    }

    @Test("A replaced file holds the new content, has the mode asked for, and leaves nothing beside it")
    func replace() throws {
        try folder.replace("receipt.json", with: Array("old, and longer".utf8), mode: 0o600)
        try folder.replace("receipt.json", with: Array("new".utf8), mode: 0o666)
        #expect(try folder.contents(of: "receipt.json", limit: 100) == Array("new".utf8))
        #expect(try folder.status(of: "receipt.json")?.mode == 0o666)
        #expect(try folder.entries() == ["receipt.json"])
    }

    @Test("A move never takes a name that is in use")
    func moveNeverReplaces() throws {
        try folder.replace("from", with: [1], mode: 0o600)
        try folder.replace("to", with: [2], mode: 0o600)
        let error = #expect(throws: FileError.self) { try folder.move("from", to: "to", in: folder) }
        #expect(error?.errno == .fileExists)
        #expect(try folder.contents(of: "from", limit: 1) == [1])
        #expect(try folder.contents(of: "to", limit: 1) == [2])
    }

    @Test("A name that is not one component is refused", arguments: ["", ".", "..", "a/b", "/a", "a\0b", "../a"])
    func invalidNames(_ name: String) throws {
        #expect(throws: FileError.self) { try folder.createFile(name, mode: 0o600) }
        #expect(throws: FileError.self) { try folder.openDirectory(name) }
        #expect(throws: FileError.self) { try folder.status(of: name) }
        #expect(try folder.entries().isEmpty)
    }
}
