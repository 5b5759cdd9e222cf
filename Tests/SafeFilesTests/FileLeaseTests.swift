import Glibc
import SafeFiles
import SystemPackage
import TestSupport
import Testing

@Suite("The kernel's word that nobody has a file open")
struct FileLeaseTests {
    private let temporary: TemporaryDirectory
    private var folder: Directory { temporary.directory }

    init() throws {
        temporary = try TemporaryDirectory(prefix: "file-lease-tests")
        try temporary.directory.createFile("file", mode: 0o600).close()
    }

    /// Takes a lease that nothing stands against.
    ///
    /// A process that another test is just starting has, until its `exec`, everything open that this one has.
    private func acquireSoon(on name: String) throws -> FileLease? {
        let watch = try FileWatch(on: folder)
        let deadline = Deadline(after: .seconds(60))
        while !deadline.hasPassed {
            if let lease = try FileLease.acquire(on: name, in: folder) { return lease }
            _ = watch.wait(until: Deadline(after: .milliseconds(1)))
        }
        return nil
    }

    @Test("A file that nobody has open is leased, and can be renamed under the lease")
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

    @Test("A file that this process has open is not leased, nor opened for it")
    func openHere() throws {
        let file = try folder.openFile("file", for: .reading)
        let system = RecordingFileSystem()
        let watched = try Directory.open(path: folder.path, operations: system)
        #expect(try FileLease.acquire(on: "file", in: watched) == nil)
        #expect(!system.calls.contains { $0.hasPrefix("open file") })
        try file.close()
        #expect(try acquireSoon(on: "file") != nil)
    }

    @Test("Somebody who opens the file breaks the lease, and this process lives to see it")
    func broken() throws {
        let lease = try #require(try acquireSoon(on: "file"))
        // Without waiting the opener is sent away, and the lease counts as broken all the same.
        let opener = try HeldProcess(
            "dd if=\"$1\" iflag=nonblock 2>/dev/null && echo opened || echo refused; exec cat",
            folder.path + "/file"
        )
        #expect(opener.firstLine == "refused")
        #expect(!lease.isIntact())
    }

    @Test("Nobody but the owner gets a lease, and it is told apart from an open file")
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
        // What the kernel answers whoever opens such a file without waiting, until the holder gave its lease back.
        system.fail(opening: "file", with: .resourceTemporarilyUnavailable)
        #expect(try FileLease.acquire(on: "file", in: watched) == nil)
    }

    @Test("An absent file cannot be leased")
    func absent() throws {
        let error = #expect(throws: FileError.self) { try FileLease.acquire(on: "absent", in: folder) }
        #expect(error?.errno == .noSuchFileOrDirectory)
    }
}
