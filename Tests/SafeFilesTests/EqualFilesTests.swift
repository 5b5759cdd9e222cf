import SafeFiles
import SystemPackage
import Testing

@Suite("Comparing files of two folders")
struct EqualFilesTests {
    /// More than two of the blocks that are compared at once, and no multiple of them.
    private static let long = [UInt8](repeating: 7, count: 150_000)

    private let temporary: TemporaryDirectory
    private let here: Directory
    private let there: Directory

    init() throws {
        temporary = try TemporaryDirectory(prefix: "equal-files-tests")
        here = try temporary.directory.createDirectory("here", mode: 0o700)
        there = try temporary.directory.createDirectory("there", mode: 0o700)
    }

    @Test("Files with the same bytes are equal", arguments: [0, 1, EqualFilesTests.long.count])
    func equal(_ count: Int) throws {
        let bytes = Array(Self.long.prefix(count))
        try here.replace("file", with: bytes, mode: 0o600)
        try there.replace("file", with: bytes, mode: 0o640)
        #expect(try here.holdsEqualFile("file", to: there))
    }

    @Test("Files that differ in one byte are not equal, wherever it is", arguments: [0, 65_535, 65_536, 149_999])
    func differentByte(_ index: Int) throws {
        try here.replace("file", with: Self.long, mode: 0o600)
        var bytes = Self.long
        bytes[index] = 8
        try there.replace("file", with: bytes, mode: 0o600)
        #expect(try !here.holdsEqualFile("file", to: there))
    }

    @Test("A file is not equal to a longer or shorter one, nor to a missing one")
    func differentSize() throws {
        try here.replace("file", with: [1, 2], mode: 0o600)
        #expect(try !here.holdsEqualFile("file", to: there))
        #expect(try !there.holdsEqualFile("file", to: here))
        for bytes in [[1], [1, 2, 3]] as [[UInt8]] {
            try there.replace("file", with: bytes, mode: 0o600)
            #expect(try !here.holdsEqualFile("file", to: there))
        }
    }

    @Test("A folder is not equal to a folder of the same name")
    func folders() throws {
        for folder in [here, there] { _ = try folder.createDirectory("file", mode: 0o700) }
        #expect(try !here.holdsEqualFile("file", to: there))
    }

    /// The kernel reports a page as the size of the file `online` in this folder, and its text is shorter.
    private static let processors = try? Directory.open(path: "/sys/devices/system/cpu")

    @Test(
        "A file that ends before its size is read up to its end, and equals no file",
        .enabled(if: (try? EqualFilesTests.processors?.status(of: "online"))?.size == 4096)
    )
    func shortRead() throws {
        let processors = try #require(Self.processors)
        let bytes = try processors.contents(of: "online", limit: 4096)
        #expect(bytes.count < 4096)
        #expect(bytes.last == UInt8(ascii: "\n"))
        #expect(try !processors.holdsEqualFile("online", to: processors))
    }
}
