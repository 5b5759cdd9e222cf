import CLinux
import Glibc
import SafeFiles
import SystemPackage
import Testing

@Suite("The status of files, and what tokens and the kernel's release say about it")
struct FileStatusTests {
    private typealias Time = FileStatus.Time

    private let temporary: TemporaryDirectory
    private var folder: Directory { temporary.directory }

    init() throws { temporary = try TemporaryDirectory(prefix: "file-status-tests") }

    @Test("Times are ordered by their seconds, then by their nanoseconds")
    func times() {
        let ordered = [(1, 5), (1, 6), (2, 0), (2, 9)].map { Time(seconds: $0.0, nanoseconds: $0.1) }
        #expect(ordered.shuffled().sorted() == ordered)
        #expect(!(ordered[0] < ordered[0]))
        #expect(ordered[0].seconds == 1 && ordered[0].nanoseconds == 5)
    }

    @Test("The status of a file has the kernel's sizes, times, owner and number of names")
    func status() throws {
        try folder.replace("file", with: [1, 2, 3], mode: 0o640)
        try #require(link(folder.path + "/file", folder.path + "/second") == 0)
        let times = [timespec(tv_sec: 11, tv_nsec: 12), timespec(tv_sec: 21, tv_nsec: 22)]
        try #require(utimensat(AT_FDCWD, folder.path + "/file", times, 0) == 0)
        let status = try #require(try folder.status(of: "file"))
        var expected = stat()
        try #require(stat(folder.path + "/file", &expected) == 0)
        #expect(status.kind == .regular)
        #expect(status.size == 3)
        #expect(status.mode == 0o640)
        #expect(status.linkCount == 2)
        #expect(status.modified == Time(seconds: 21, nanoseconds: 22))
        #expect(status.changed.seconds == Int64(expected.st_ctim.tv_sec))
        #expect(status.changed.nanoseconds == Int64(expected.st_ctim.tv_nsec))
        #expect(status.identity == FileIdentity(device: UInt64(expected.st_dev), inode: UInt64(expected.st_ino)))
        #expect(status.owner == expected.st_uid)
        #expect(status.group == expected.st_gid)
    }

    @Test("A creation time is not later than now, and a missing file has none")
    func birthTime() throws {
        try folder.replace("file", with: [1], mode: 0o600)
        let now = Int64(Glibc.time(nil))
        var (seconds, nanoseconds): (Int64, Int64) = (0, 0)
        let isKnown = clinux_birth_time(AT_FDCWD, folder.path + "/file", &seconds, &nanoseconds) == 1
        let time = try folder.birthTime(of: "file")
        #expect(time == (isKnown ? Time(seconds: seconds, nanoseconds: nanoseconds) : nil))
        if let time {
            #expect((now - 3600...now + 1).contains(time.seconds))
            #expect((0..<1_000_000_000).contains(time.nanoseconds))
        }
        let error = #expect(throws: FileError.self) { try folder.birthTime(of: "absent") }
        #expect(error?.errno == .noSuchFileOrDirectory)
    }

    @Test("The text of a link is that of its target; a file has none")
    func target() throws {
        try #require(symlink("/nowhere/é", folder.path + "/link") == 0)
        try folder.replace("file", with: [1], mode: 0o600)
        #expect(folder.target(of: "link") == "/nowhere/é")
        #expect(folder.target(of: "file") == nil)
        #expect(folder.target(of: "absent") == nil)
    }

    @Test("Tokens hold the same content only with the same main file, and with empty logs and journals")
    func sameContent() throws {
        func entry(_ name: String, _ bytes: [UInt8]) throws -> FileToken.Entry {
            try folder.replace(name, with: bytes, mode: 0o600)
            return FileToken.Entry(try #require(try folder.status(of: name)))
        }
        let (main, other) = try (entry("main", [1]), entry("other", [1]))
        let (empty, full) = try (entry("empty", []), entry("full", [1]))
        func token(_ log: FileToken.Entry?, _ journal: FileToken.Entry?) -> FileToken {
            FileToken(main: main, writeAheadLog: log, journal: journal)
        }
        #expect(token(nil, empty).holdsSameContent(as: token(empty, nil)))
        #expect(!token(nil, nil).holdsSameContent(as: FileToken(main: other, writeAheadLog: nil, journal: nil)))
        for written in [token(full, nil), token(nil, full)] {
            #expect(!token(nil, nil).holdsSameContent(as: written))
            #expect(!written.holdsSameContent(as: token(nil, nil)))
        }
        #expect(token(full, nil).newest == max(main.modified, main.changed, full.modified, full.changed))
        #expect(FileToken(main: nil, writeAheadLog: nil, journal: nil).newest == nil)
    }

    @Test(
        "The kernel's release is parsed, and timestamps are fine from 6.13 on",
        arguments: [
            ("6.12.3-amd64", 6, 12, false), ("6.13", 6, 13, true), ("6.18.2-amd64", 6, 18, true),
            ("5.20.0", 5, 20, false), ("7.0.0", 7, 0, true),
        ]
    )
    func release(_ text: String, _ major: Int, _ minor: Int, _ isFine: Bool) throws {
        let release = try #require(KernelRelease(text))
        #expect(release.text == text)
        #expect(release.major == major && release.minor == minor)
        #expect(release.hasFineTimestamps == isFine)
    }

    @Test("A text without two numbers is no release; the running kernel has one, and a clock with a resolution")
    func runningKernel() throws {
        for text in ["", "6", "linux", "99999999999999999999.1", "1.99999999999999999999"] {
            #expect(KernelRelease(text) == nil)
        }
        var bytes = [UInt8](repeating: 0, count: 200)
        let file = try Directory.open(path: "/proc/sys/kernel").openFile("osrelease", for: .reading)
        let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        let line = String(decoding: bytes.prefix(count), as: UTF8.self)
        #expect(KernelRelease.current.map { $0.text + "\n" } == line)
        let tick = try #require(KernelRelease.timestampTick)
        #expect(tick > 0 && tick <= 1)
    }
}
