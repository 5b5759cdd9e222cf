import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import SafeFiles

@Suite("Locks that processes hold, as /proc lists them")
struct HeldLockTests {
    private let temporary: TemporaryDirectory
    private var folder: Directory { temporary.directory }

    init() throws { temporary = try TemporaryDirectory(prefix: "held-lock-tests") }

    @Test(
        "A line of /proc/locks names the process, the kind, the range and the file",
        arguments: [
            ("1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF", HeldLock.Kind.flock, true, 0...Int64.max),
            ("2: POSIX  ADVISORY  READ 4711 08:01:131 120 121", .record, false, 120...121),
            ("3: OFDLCK ADVISORY  WRITE 4711 08:01:131 5 5", .openFile, true, 5...5),
            ("4: LEASE  ACTIVE    WRITE 4711 08:01:131 0 EOF", .lease, true, 0...Int64.max),
            ("5: DELEG  ACTIVE    READ 4711 08:01:131 0 EOF", .lease, false, 0...Int64.max),
        ] as [(String, HeldLock.Kind, Bool, ClosedRange<Int64>)]
    )
    func line(_ text: String, _ kind: HeldLock.Kind, _ isExclusive: Bool, _ bytes: ClosedRange<Int64>) throws {
        let lock = try #require(HeldLock(text[...]))
        #expect(lock.process == 4711)
        #expect(lock.kind == kind)
        #expect(lock.isExclusive == isExclusive)
        #expect(lock.bytes == bytes)
        #expect(lock.file == FileIdentity(device: 0x801, inode: 131))
    }

    @Test(
        "A line that is incomplete, unknown or only a request is no lock",
        arguments: [
            "", "1: FLOCK ADVISORY WRITE 4711 08:01:131 0", "1: -> FLOCK ADVISORY WRITE 4711 08:01:131 0 EOF",
            "1: OTHER ADVISORY WRITE 4711 08:01:131 0 EOF", "1: FLOCK ADVISORY WRITE x 08:01:131 0 EOF",
            "1: FLOCK ADVISORY WRITE 4711 08:01:131 x EOF", "1: FLOCK ADVISORY WRITE 4711 08:01:131 0 x",
            "1: FLOCK ADVISORY WRITE 4711 08:01:131 2 1", "1: FLOCK ADVISORY WRITE 4711 08:01 0 EOF",
            "1: FLOCK ADVISORY WRITE 4711 08:01:131:1 0 EOF", "1: FLOCK ADVISORY WRITE 4711 x:01:131 0 EOF",
            "1: FLOCK ADVISORY WRITE 4711 08:x:131 0 EOF", "1: FLOCK ADVISORY WRITE 4711 08:01:x 0 EOF",
        ]
    )
    func unknownLine(_ text: String) {
        #expect(HeldLock(text[...]) == nil)
    }

    @Test(
        "The device of a lock is combined as makedev(3) does",
        arguments: [("103:2", 0x1_0302), ("fd:12345", 0x1230_FD45), ("1234:1", 0x1000_0002_3401)] as [(String, UInt64)]
    )
    func device(_ text: String, _ device: UInt64) throws {
        let lock = try #require(HeldLock("1: FLOCK ADVISORY WRITE 1 \(text):9 0 EOF"))
        #expect(lock.file == FileIdentity(device: device, inode: 9))
    }

    @Test("A lock of an open file names no process, and belongs to the given holder")
    func holder() throws {
        let text = "1: OFDLCK ADVISORY WRITE -1 08:01:131 0 EOF"
        #expect(try #require(HeldLock(text[...], holder: 12)).process == 12)
        #expect(try #require(HeldLock(text[...])).process == -1)
        let other = "1: FLOCK ADVISORY WRITE 0 08:01:131 0 EOF"
        #expect(try #require(HeldLock(other[...], holder: 12)).process == 0)
    }

    @Test("The locked files of a process are listed by path, each with its locks once")
    func lockedFiles() throws {
        let soon = Deadline(after: .seconds(60))
        let locks = try ["b", "a"].map { try #require(try FileLock.acquire($0, in: folder, deadline: soon)) }
        let second = try folder.openFile("b", for: .reading)
        let files = try OpenFiles.lockedFiles(of: getpid()).filter { $0.path.hasPrefix(path("")) }
        #expect(files.map(\.path) == [folder.path + "/a", folder.path + "/b"])
        for file in files {
            #expect(file.locks.map(\.kind) == [.flock])
            #expect(file.locks.map(\.process) == [getpid()])
        }
        // The kernel may list a device that differs from that of the file.
        let listed = try #require(files.first?.locks.first).file
        #expect(try listed.inode == folder.status(of: "a")?.identity.inode)
        let seen = try OpenFiles.locks(on: [listed: "a"], except: [])
        #expect(seen.map(\.path) == ["a"])
        #expect(seen.map(\.lock.process) == [getpid()])
        #expect(try OpenFiles.locks(on: [listed: "a"], except: [getpid()]).isEmpty)
        for lock in locks { lock.release() }
        try second.close()
    }

    @Test("All locks on a file are listed once, although only one of two descriptors lists the flock")
    func recordLocks() throws {
        try folder.createFile("file", mode: 0o600).close()
        let script = #"exec 3<>"$1" 4<"$1"; exec perl -MFcntl -e '"# + Self.locking + "'"
        let process = try HeldProcess(script, path("file"))
        let files = try OpenFiles.lockedFiles(of: process.identifier)
        #expect(files.map(\.path) == [path("file")])
        #expect(files.first?.locks.count == 2)
        #expect(Set(files.first?.locks.map(\.kind) ?? []) == [.record, .flock])
        #expect(files.first?.locks.first { $0.kind == .record }?.bytes == 7...9)
        process.kill()
        let error = #expect(throws: FileError.self) { try OpenFiles.lockedFiles(of: process.identifier) }
        #expect(error?.errno == .noSuchFileOrDirectory)
    }

    private func path(_ name: String) -> String { folder.path + "/" + name }

    /// Locks three bytes through the descriptor 3, as `struct flock` describes them on a 64-bit Linux.
    private static let locking = #"""
        $| = 1; open my $file, "+<&=", 3 or die;
        my $lock = pack "s s x4 q q l x4", F_WRLCK, 0, 7, 3, 0;
        fcntl $file, F_SETLK, $lock or die;
        flock $file, 2 or die;
        print "held\n"; sleep 1000
        """#

    @Test("A process has the name of its program and a start time; one that has ended has neither")
    func processes() throws {
        let process = try HeldProcess("echo here; exec cat")
        let number = process.identifier
        #expect(try OpenFiles.processes().contains(number))
        // The shell may become `cat` at any time.
        #expect(["cat", "sh"].contains(OpenFiles.program(of: number)))
        let own = try #require(OpenFiles.startTime(of: getpid()))
        let started = try #require(OpenFiles.startTime(of: number))
        let now = Int64(time(nil))
        #expect(own <= started)
        // The kernel rounds the time of the boot.
        #expect(started <= now + 2)
        #expect(started > now - 3600)
        let program = try #require(OpenFiles.program(of: getpid()))
        #expect(OpenFiles.names(of: [getpid(), 1 << 30]) == "\(getpid()) (\(program)), \(1 << 30)")
        process.kill()
        #expect(OpenFiles.startTime(of: number) == nil)
        #expect(OpenFiles.program(of: number) == nil)
    }
}
