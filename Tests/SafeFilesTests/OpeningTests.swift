import CLinux
import Glibc
import SafeFiles
import SystemPackage
import TestSupport
import Testing

@Suite("Opening files and folders")
struct OpeningTests {
    private let temporary: TemporaryDirectory
    private var folder: Directory { temporary.directory }

    init() throws {
        temporary = try TemporaryDirectory(prefix: "opening-tests")
    }

    struct Refused: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let make: @Sendable (_ path: String, _ target: String) -> Int32
        let refusal: FileError.Refusal

        static let all = [
            Refused(
                testDescription: "a symbolic link",
                make: { symlink($1, $0) },
                refusal: .wrongKind(.symbolicLink)
            ),
            Refused(
                testDescription: "a folder",
                make: { path, _ in mkdir(path, 0o700) },
                refusal: .wrongKind(.directory)
            ),
            Refused(testDescription: "a FIFO", make: { path, _ in mkfifo(path, 0o600) }, refusal: .wrongKind(.fifo)),
            Refused(
                testDescription: "a socket",
                make: { path, _ in mknod(path, S_IFSOCK | 0o600, 0) },
                refusal: .wrongKind(.socket)
            ),
            Refused(testDescription: "a file with two names", make: { link($1, $0) }, refusal: .hardLinked(2)),
        ]
    }

    @Test("A file that is not regular, or has a second name, is refused at once", arguments: Refused.all)
    func refusals(_ row: Refused) throws {
        try folder.replace("target", with: [1], mode: 0o600)
        try #require(row.make(folder.path + "/name", folder.path + "/target") == 0)
        let before = try folder.status(of: "name")
        let attempts: [() throws -> Void] = [
            { _ = try folder.openFile("name", for: .reading) },
            { _ = try folder.openFile("name", for: .writing) },
            { _ = try FileLock.acquire("name", in: folder, deadline: Deadline(after: .zero)) },
        ]
        for attempt in attempts {
            let error = #expect(throws: FileError.self) { try attempt() }
            #expect(error?.refusal == row.refusal)
        }
        #expect(try folder.status(of: "name") == before)
        let error = #expect(throws: FileError.self) { try folder.openFile("name", for: .writing) }
        #expect(error?.description == "cannot open to write, \(row.refusal): \(folder.path)/name")
    }

    @Test("A device is refused without being opened")
    func device() throws {
        let system = RecordingFileSystem()
        let devices = try Directory.open(path: "/dev", operations: system)
        let error = #expect(throws: FileError.self) { try devices.openFile("null", for: .writing) }
        #expect(error?.refusal == .wrongKind(.device))
        #expect(!system.calls.contains { $0.hasPrefix("open null") })
    }

    @Test("A FIFO that replaces a file before it is opened is refused without waiting")
    func swappedAfterLooking() throws {
        try #require(mkfifo(folder.path + "/name", 0o600) == 0)
        // The first status call fails as if the name did not exist yet.
        let system = RecordingFileSystem(failures: [2: .noSuchFileOrDirectory])
        let watched = try Directory.open(path: folder.path, operations: system)
        let error = #expect(throws: FileError.self) { try watched.openFile("name", for: .reading) }
        #expect(error?.description == "cannot open to read, it is a FIFO: \(folder.path)/name")
        #expect(system.calls.contains("open name reading"))
    }

    @Test("Creating a file fails if the name exists, even as a dangling symbolic link")
    func creatingIsExclusive() throws {
        try #require(symlink("/nowhere/at/all", folder.path + "/link") == 0)
        try folder.replace("file", with: [1], mode: 0o600)
        for name in ["link", "file"] {
            let error = #expect(throws: FileError.self) { try folder.createFile(name, mode: 0o600) }
            #expect(error?.errno == .fileExists)
        }
        #expect(try folder.contents(of: "file", limit: 1) == [1])
    }

    @Test("Symbolic links are followed in the path of a folder, and refused below it")
    func symbolicLinks() throws {
        _ = try folder.createDirectory("real", mode: 0o700).createDirectory("inner", mode: 0o700)
        try #require(symlink("real", folder.path + "/link") == 0)
        let opened = try Directory.open(path: folder.path + "/link/inner")
        #expect(opened.path == folder.path + "/real/inner")
        let error = #expect(throws: FileError.self) { try folder.openDirectory("link") }
        #expect(error?.errno == .tooManySymbolicLinkLevels || error?.errno == .notDirectory)
    }

    @Test("An opened folder stays the same when its path refers to a different folder")
    func ancestorsAreResolvedOnce() throws {
        let first = try folder.createDirectory("a", mode: 0o700)
        try folder.move("a", to: "moved", in: folder)
        _ = try folder.createDirectory("a", mode: 0o700)
        _ = try first.createFile("file", mode: 0o600)
        #expect(first.path == folder.path + "/moved")
        #expect(try folder.openDirectory("a").entries().isEmpty)
        #expect(try folder.openDirectory("moved").entries() == ["file"])
    }

    @Test("A folder repeatedly swapped with a symbolic link never redirects a new file")
    func swapRace() throws {
        let outside = try folder.createDirectory("outside", mode: 0o700)
        _ = try folder.createDirectory("a", mode: 0o700)
        try #require(symlink(outside.path, folder.path + "/b") == 0)
        let path = folder.path
        let tries = 4000
        let swapper = SeparateThread {
            let parent = try Directory.open(path: path)
            let number = open(parent.path, O_DIRECTORY | O_CLOEXEC)
            defer { close(number) }
            // RENAME_EXCHANGE: both names exist at all times.
            for _ in 0..<tries * 4 { _ = clinux_renameat2(number, "a", number, "b", 2) }
        }
        var refused = 0
        for number in 0..<tries {
            do {
                let inner = try folder.openDirectory(number.isMultiple(of: 2) ? "a" : "b")
                try inner.createFile("file\(number)", mode: 0o600).close()
            } catch {
                refused += 1
            }
        }
        try swapper.value()
        #expect(try outside.entries().isEmpty)
        #expect(refused > 0, "without swaps every second name is the link")
        #expect(refused < tries)
    }

    @Test("openat2 is retried after EAGAIN a limited number of times")
    func tryAgain() throws {
        let system = RecordingFileSystem()
        let watched = try Directory.open(path: folder.path, operations: system)
        system.fail(after: 0..<5, with: .resourceTemporarilyUnavailable)
        _ = try watched.createFile("a", mode: 0o600)
        system.fail(after: 0..<10_000, with: .resourceTemporarilyUnavailable)
        let error = #expect(throws: FileError.self) { try watched.createFile("b", mode: 0o600) }
        #expect(error?.errno == .resourceTemporarilyUnavailable)
    }

    @Test("A file without read permission is reported as permissionDenied")
    func permission() throws {
        try folder.replace("secret", with: [1], mode: 0)
        try folder.setMode(0o755)
        let path = folder.path
        let errno = try SeparateThread(asOrdinaryUser: true) { () -> Errno? in
            do {
                _ = try Directory.open(path: path).openFile("secret", for: .reading)
                return nil
            } catch let error as FileError {
                return error.errno
            }
        }
        .value()
        #expect(errno == .permissionDenied)
    }

    @Test("A file within the limit is read completely, and a larger one is refused")
    func contents() throws {
        try folder.replace("file", with: [1, 2, 3], mode: 0o600)
        #expect(try folder.contents(of: "file", limit: 3) == [1, 2, 3])
        let error = #expect(throws: FileError.self) { try folder.contents(of: "file", limit: 2) }
        #expect(error?.refusal == .tooLarge)
    }
}
