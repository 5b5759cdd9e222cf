import Glibc
import SafeFiles
import SystemPackage
import TestSupport
import Testing

@Suite("FileLease")
struct FileLeaseTests {
    private let temporary: TemporaryDirectory
    private var folder: Directory { temporary.directory }

    init() throws {
        temporary = try TemporaryDirectory(prefix: "file-lease-tests")
        try temporary.directory.createFile("file", mode: 0o600).close()
    }

    /// Acquires a lease on a file that this test does not have open.
    ///
    /// A child of another test may have the file open between fork and exec.
    private func acquireSoon(on name: String) throws -> FileLease? {
        let watch = try FileWatch(on: folder)
        let deadline = Deadline(after: .seconds(60))
        while !deadline.hasPassed {
            if let lease = try FileLease.acquire(on: name, in: folder) { return lease }
            _ = watch.wait(until: Deadline(after: .milliseconds(1)))
        }
        return nil
    }

    @Test("A file that no process has open is leased, and can be renamed under the lease")
    func granted() throws {
        let lease = try #require(try acquireSoon(on: "file"))
        #expect(lease.isIntact())
        try folder.move("file", to: "renamed", in: folder)
        #expect(lease.isIntact())
        lease.release()
        #expect(!lease.isIntact())
        #expect(try acquireSoon(on: "renamed") != nil)
    }

    @Test("A file that another process has open is not leased")
    func openElsewhere() throws {
        let holder = try HeldProcess("exec 3<\"$1\"; echo open; exec cat", folder.path + "/file")
        #expect(try FileLease.acquire(on: "file", in: folder) == nil)
        holder.kill()
        #expect(try acquireSoon(on: "file") != nil)
    }

    @Test("A lease with a deadline is granted when the other process closes the file, and nil if it does not")
    func deadline() throws {
        let holder = try HeldProcess("exec 3<\"$1\"; echo open; exec cat", folder.path + "/file")
        for time in [.zero, .milliseconds(5)] as [Duration] {
            #expect(try FileLease.acquire(on: "file", in: folder, deadline: Deadline(after: time)) == nil)
        }
        let system = RecordingFileSystem()
        let watched = try Directory.open(path: folder.path, operations: system)
        let late = Deadline(after: .milliseconds(100))
        #expect(try FileLease.acquire(on: "file", in: watched, deadline: late) == nil)
        // Milliseconds: 1, 2, 4, 8, 16, 32, and the rest.
        #expect((1...7).contains(system.calls.count { $0 == "poll" }))
        let path = folder.path
        let waiter = SeparateThread {
            let folder = try Directory.open(path: path)
            return try FileLease.acquire(on: "file", in: folder, deadline: Deadline(after: .seconds(60))) != nil
        }
        holder.kill()
        #expect(try waiter.value())
    }

    @Test("A file that this process has open is neither leased nor opened")
    func openHere() throws {
        let file = try folder.openFile("file", for: .reading)
        let system = RecordingFileSystem()
        let watched = try Directory.open(path: folder.path, operations: system)
        #expect(try FileLease.acquire(on: "file", in: watched) == nil)
        #expect(!system.calls.contains { $0.hasPrefix("open file") })
        try file.close()
        #expect(try acquireSoon(on: "file") != nil)
    }

    @Test("An opener breaks the lease, and the process survives")
    func broken() throws {
        let lease = try #require(try acquireSoon(on: "file"))
        // A non-blocking open fails, and breaks the lease all the same.
        let opener = try HeldProcess(
            "dd if=\"$1\" iflag=nonblock 2>/dev/null && echo opened || echo refused; exec cat",
            folder.path + "/file"
        )
        #expect(opener.firstLine == "refused")
        #expect(!lease.isIntact())
    }

    @Test("Another user's file cannot be leased, and the error differs from that of an open file")
    func ordinaryUser() throws {
        guard geteuid() == 0 else { return }
        try folder.setMode(0o777)
        try folder.replace("file", with: [], mode: 0o666)
        let path = folder.path
        let errno = try SeparateThread(asOrdinaryUser: true) { () -> Errno? in
            do {
                _ = try FileLease.acquire(on: "file", in: Directory.open(path: path))
                return nil
            } catch let error as FileError {
                return error.errno
            }
        }
        .value()
        #expect(errno == .permissionDenied)
    }

    @Test("A file on which another process holds a lease is not leased")
    func leasedElsewhere() throws {
        let system = RecordingFileSystem()
        let watched = try Directory.open(path: folder.path, operations: system)
        // The error of a non-blocking open until the holder releases the lease.
        system.fail(opening: "file", with: .resourceTemporarilyUnavailable)
        #expect(try FileLease.acquire(on: "file", in: watched) == nil)
    }

    @Test("An absent file cannot be leased")
    func absent() throws {
        let error = #expect(throws: FileError.self) { try FileLease.acquire(on: "absent", in: folder) }
        #expect(error?.errno == .noSuchFileOrDirectory)
    }
}
