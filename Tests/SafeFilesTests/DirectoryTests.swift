import Foundation
import Glibc
import SafeFiles
import SystemPackage
import TestSupport
import Testing

@Suite("Directory")
struct DirectoryTests {
    /// The environment variable with the umask that a process was started with.
    private static let maskVariable = "STORE_MIGRATE_TESTS_MASK"
    private static let givenMask = ProcessInfo.processInfo.environment[maskVariable].flatMap { mode_t($0, radix: 8) }

    private let temporary: TemporaryDirectory
    private var folder: Directory { temporary.directory }

    init() throws {
        temporary = try TemporaryDirectory(prefix: "directory-tests")
    }

    @Test("A replaced file has the new content and mode, and leaves no other file")
    func replace() throws {
        try folder.replace("receipt.json", with: Array("old, and longer".utf8), mode: 0o600)
        try folder.replace("receipt.json", with: Array("new".utf8), mode: 0o666)
        #expect(try folder.contents(of: "receipt.json", limit: 100) == Array("new".utf8))
        #expect(try folder.status(of: "receipt.json")?.mode == 0o666)
        #expect(try folder.entries() == ["receipt.json"])
    }

    @Test("A replacement reuses the leftovers of an interrupted one")
    func replaceAfterInterruption() throws {
        _ = try folder.createFile("receipt.json.new", mode: 0o600)
        try folder.replace("receipt.json", with: [1], mode: 0o600)
        #expect(try folder.entries() == ["receipt.json"])
    }

    @Test("Concurrent replacements leave the whole content of one of them")
    func replaceTogether() throws {
        let path = folder.path
        let writers = ([0, 1, 2, 3] as [UInt8])
            .map { writer in
                SeparateThread {
                    let folder = try Directory.open(path: path)
                    for _ in 0..<25 {
                        try folder.replace("file", with: [UInt8](repeating: writer, count: 5000), mode: 0o600)
                    }
                }
            }
        for writer in writers { try writer.value() }
        let bytes = try folder.contents(of: "file", limit: 5000)
        #expect(bytes.count == 5000)
        #expect(Set(bytes).count == 1)
        #expect(try folder.entries() == ["file"])
    }

    @Test("A move to an existing name fails")
    func moveNeverReplaces() throws {
        try folder.replace("from", with: [1], mode: 0o600)
        try folder.replace("to", with: [2], mode: 0o600)
        let error = #expect(throws: FileError.self) { try folder.move("from", to: "to", in: folder) }
        #expect(error?.errno == .fileExists)
        #expect(try folder.contents(of: "from", limit: 1) == [1])
        #expect(try folder.contents(of: "to", limit: 1) == [2])
    }

    @Test("Concurrent moves to one name: exactly one succeeds")
    func moveRace() throws {
        let path = folder.path
        for round in 0..<50 {
            let movers = (0..<4)
                .map { mover in
                    SeparateThread { () -> Bool in
                        let folder = try Directory.open(path: path)
                        try folder.createFile("from-\(mover)", mode: 0o600).close()
                        do throws(FileError) {
                            try folder.move("from-\(mover)", to: "to-\(round)", in: folder)
                            return true
                        } catch {
                            guard error.errno == .fileExists else { throw error }
                            try folder.removeFile("from-\(mover)")
                            return false
                        }
                    }
                }
            #expect(try movers.filter { try $0.value() }.count == 1)
        }
        #expect(try folder.entries().count == 50)
    }

    @Test("A name that is not one component is refused", arguments: ["", ".", "..", "a/b", "/a", "../a", "a\u{0}b"])
    func invalidNames(_ name: String) throws {
        try folder.replace("a", with: [1], mode: 0o600)
        let attempts: [() throws -> Void] = [
            { _ = try folder.createFile(name, mode: 0o600) },
            { _ = try folder.openFile(name, for: .reading) },
            { _ = try folder.openDirectory(name) },
            { _ = try folder.createDirectory(name, mode: 0o700) },
            { _ = try folder.status(of: name) },
            { try folder.move("a", to: name, in: folder) },
            { try folder.move(name, to: "b", in: folder) },
            { try folder.exchange("a", with: name) },
            { try folder.exchange(name, with: "a") },
            { try folder.removeFile(name) },
            { try folder.removeDirectory(name) },
            { _ = try FileLock.acquire(name, in: folder, deadline: Deadline(after: .zero)) },
        ]
        for attempt in attempts {
            let error = #expect(throws: FileError.self) { try attempt() }
            #expect(error?.refusal == .invalidName)
            #expect(error?.path == folder.path)
        }
        #expect(try folder.entries() == ["a"])
    }

    @Test("New files and folders have exact modes under every umask", arguments: ["000", "022", "077"])
    func modes(mask: String) throws {
        // The umask belongs to the whole process, so the test runs in a child process.
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
        let (status, output) = try ChildProgram.run(
            ["/bin/sh", "-c", #"umask "$0"; exec "$@""#, mask, program]
                + ["--testing-library", "swift-testing", "--filter", "DirectoryTests/modesUnderMask"],
            environment: [Self.maskVariable: mask]
        )
        #expect(status == 0 && output.contains("with 1 test in 1 suite passed"), "\(output)")
    }

    @Test("Modes are exact under the umask of this process", .enabled(if: DirectoryTests.givenMask != nil))
    func modesUnderMask() throws {
        let mask = try #require(Self.givenMask)
        #expect(umask(mask) == mask)
        for mode in [0o600, 0o664, 0o666, 0o440] as [UInt32] {
            _ = try folder.createFile("file-\(mode)", mode: mode)
            #expect(try folder.status(of: "file-\(mode)")?.mode == mode)
        }
        for mode in [0o700, 0o777, 0o2770, 0o1777] as [UInt32] {
            _ = try folder.createDirectory("folder-\(mode)", mode: mode)
            #expect(try folder.status(of: "folder-\(mode)")?.mode == mode)
        }
    }

    @Test("Names are listed unchanged in byte order; one that is not UTF-8 is skipped")
    func entries() throws {
        let names = ["b", "a", "B", "é", "e\u{301}", "a b", ".hidden", "日本語"]
        for name in names { try folder.createFile(name, mode: 0o600).close() }
        let path = Array(folder.path.utf8CString.dropLast()) + [0x2F, CChar(bitPattern: 0xFF), 0]
        try #require(mkfifo(path, 0o600) == 0)
        let expected = [".hidden", "B", "a", "a b", "b", "e\u{301}", "é", "日本語"]
        #expect(try folder.entries().map { Array($0.utf8) } == expected.map { Array($0.utf8) })
        #expect(unlink(path) == 0)
    }

    @Test("A folder whose resolved path is not UTF-8 is refused")
    func unspeakablePath() throws {
        let path = Array(folder.path.utf8CString.dropLast()) + [0x2F, CChar(bitPattern: 0xFF), 0]
        try #require(mkdir(path, 0o700) == 0)
        defer { rmdir(path) }
        try #require(symlink(path, folder.path + "/link") == 0)
        let error = #expect(throws: FileError.self) { try Directory.open(path: folder.path + "/link") }
        #expect(error?.refusal == .notUnicode)
    }

    @Test("An exchange gives each name the file of the other one")
    func exchange() throws {
        try folder.replace("a", with: [1], mode: 0o600)
        try folder.replace("b", with: [2], mode: 0o600)
        try folder.exchange("a", with: "b")
        #expect(try folder.contents(of: "a", limit: 1) == [2])
        #expect(try folder.contents(of: "b", limit: 1) == [1])
        let error = #expect(throws: FileError.self) { try folder.exchange("a", with: "absent") }
        #expect(error?.errno == .noSuchFileOrDirectory)
    }

    @Test("A folder that does not exist is absent; one that cannot be opened is an error")
    func openIfPresent() throws {
        try folder.replace("file", with: [1], mode: 0o600)
        try #require(symlink(folder.path + "/loop", folder.path + "/loop") == 0)
        #expect(try Directory.openIfPresent(path: folder.path)?.path == folder.path)
        #expect(try Directory.openIfPresent(path: folder.path + "/absent") == nil)
        #expect(try Directory.openIfPresent(path: folder.path + "/file/inner") == nil)
        let error = #expect(throws: FileError.self) { try Directory.openIfPresent(path: folder.path + "/loop") }
        #expect(error?.errno == .tooManySymbolicLinkLevels)
    }

    @Test("A missing file has no status, and opening it reports its absence")
    func absent() throws {
        #expect(try folder.status(of: "absent") == nil)
        let error = #expect(throws: FileError.self) { try folder.openFile("absent", for: .reading) }
        #expect(error?.errno == .noSuchFileOrDirectory)
        #expect(error?.path == folder.path + "/absent")
    }

    @Test("A folder is removed only when it is empty")
    func removing() throws {
        try folder.createDirectory("inner", mode: 0o700).replace("file", with: [1], mode: 0o600)
        let error = #expect(throws: FileError.self) { try folder.removeDirectory("inner") }
        #expect(error?.errno == .directoryNotEmpty)
        try folder.openDirectory("inner").removeFile("file")
        try folder.removeDirectory("inner")
        #expect(try folder.entries().isEmpty)
    }

    @Test(
        "Network and user-space file systems are recognised by their type",
        arguments: [(0x6969, true), (0xFF53_4D42, true), (0x6573_5546, true), (0xEF53, false), (0x0102_1994, false)]
            as [(UInt64, Bool)]
    )
    func networkFileSystems(_ type: UInt64, isNetwork: Bool) throws {
        let system = RecordingFileSystem(fileSystemType: type)
        let folder = try Directory.open(path: folder.path, operations: system)
        #expect(try folder.isOnNetworkFileSystem() == isNetwork)
    }

    @Test("The free space is that of statvfs for an unprivileged user")
    func freeBytes() throws {
        var status = statvfs()
        try #require(statvfs(folder.path, &status) == 0)
        let capacity = Int64(status.f_blocks * status.f_frsize)
        #expect(try (1...capacity).contains(folder.freeBytes()))
    }

    @Test("A token changes with the main file, its log and its journal, and with no other file")
    func token() throws {
        #expect(try folder.token(of: "s") == FileToken(main: nil, writeAheadLog: nil, journal: nil))
        var tokens: Set<FileToken> = []
        for name in ["s", "s-wal", "s-journal"] {
            let file = try folder.createFile(name, mode: 0o600)
            tokens.insert(try folder.token(of: "s"))
            try file.truncate(to: 1)
            tokens.insert(try folder.token(of: "s"))
        }
        #expect(tokens.count == 6)
        try folder.createFile("s-shm", mode: 0o600).close()
        _ = try folder.openFile("s", for: .reading)
        #expect(try tokens.contains(folder.token(of: "s")))
    }

    @Test("A recorded token and file match after the device number changed, and only then")
    func mountedAnew() throws {
        try folder.createFile("s", mode: 0o600).close()
        let (token, identity) = try (folder.token(of: "s"), folder.status(of: "s")?.identity)
        let inode = try #require(identity?.inode)
        let text = try String(decoding: JSONEncoder().encode(token), as: UTF8.self)
        let device = try #require(identity?.device)
        func kept(_ old: String, _ new: String) throws -> FileToken {
            try JSONDecoder().decode(FileToken.self, from: Data(text.replacing(old, with: new).utf8))
        }
        let elsewhere = try kept("\"device\":\(device)", "\"device\":\(device + 1)")
        #expect(elsewhere.main?.identity.device == device + 1)
        #expect(elsewhere == token)
        #expect(elsewhere.hashValue == token.hashValue)
        #expect(try kept("\"inode\":\(inode)", "\"inode\":\(inode + 1)") != token)
        #expect(try kept("\"size\":0", "\"size\":1") != token)
        #expect(
            FileIdentity(device: device + 1, inode: inode).mayBe(recorded: FileIdentity(device: device, inode: inode))
        )
        #expect(
            !FileIdentity(device: device, inode: inode + 1).mayBe(recorded: FileIdentity(device: device, inode: inode))
        )
    }
}
