import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import SafeFiles

@Suite("A lock between processes and threads")
struct FileLockTests {
    private let temporary: TemporaryDirectory
    private var folder: Directory { temporary.directory }

    init() throws {
        temporary = try TemporaryDirectory(prefix: "file-lock-tests")
    }

    private var atOnce: Deadline { Deadline(after: .zero) }
    /// For free locks: a child of another test may still have the file between fork and exec.
    private var soon: Deadline { Deadline(after: .seconds(60)) }

    @Test("A held lock cannot be acquired again in the same process until it is released")
    func sameProcess() throws {
        let first = try #require(try FileLock.acquire("lock", in: folder, deadline: atOnce))
        #expect(try FileLock.acquire("lock", in: folder, deadline: atOnce) == nil)
        #expect(try FileLock.acquire("lock", in: folder, deadline: Deadline(after: .milliseconds(30))) == nil)
        first.release()
        #expect(try FileLock.acquire("lock", in: folder, deadline: atOnce) != nil)
    }

    @Test("A released lock is free at once, even if a child process still has its file open")
    func inheritedByChild() throws {
        func takeAndInherit() throws -> (lock: FileLock, inherited: Int32) {
            let lock = try #require(try FileLock.acquire("lock", in: folder, deadline: atOnce))
            return (lock, try lock.file.withDescriptor("duplicate") { fcntl($0.number, F_DUPFD_CLOEXEC, 0) })
        }
        let (lock, inherited) = try takeAndInherit()
        defer { close(inherited) }
        lock.release()
        let stillOpen = try takeAndInherit().inherited
        defer { close(stillOpen) }
        #expect(try FileLock.acquire("lock", in: folder, deadline: atOnce) != nil)
    }

    @Test("Closing another descriptor of the file does not release the lock")
    func otherDescriptors() throws {
        let lock = try #require(try FileLock.acquire("lock", in: folder, deadline: atOnce))
        try folder.openFile("lock", for: .reading).close()
        #expect(try FileLock.acquire("lock", in: folder, deadline: atOnce) == nil)
        lock.release()
    }

    @Test("Threads that increment a counter under the lock lose no update")
    func threads() throws {
        let path = folder.path
        try folder.replace("count", with: [0, 0], mode: 0o600)
        let counters = (0..<6)
            .map { _ in
                SeparateThread {
                    let folder = try Directory.open(path: path)
                    for _ in 0..<20 {
                        let deadline = Deadline(after: .seconds(60))
                        let lock = try #require(try FileLock.acquire("lock", in: folder, deadline: deadline))
                        defer { lock.release() }
                        let bytes = try folder.contents(of: "count", limit: 2)
                        let count = Int(bytes[0]) * 256 + Int(bytes[1]) + 1
                        let file = try folder.openFile("count", for: .writing)
                        try [UInt8(count / 256), UInt8(count % 256)].withUnsafeBytes { try file.write($0, at: 0) }
                    }
                }
            }
        for counter in counters { try counter.value() }
        #expect(try folder.contents(of: "count", limit: 2) == [0, 120])
    }

    @Test("A lock that another process holds is awaited, and is free when that process is killed")
    func killedHolder() throws {
        try folder.createFile("lock", mode: 0o600).close()
        let holder = try HeldProcess("exec flock --no-fork \"$1\" sh -c 'echo held; exec cat'", folder.path + "/lock")
        #expect(try FileLock.acquire("lock", in: folder, deadline: atOnce) == nil)
        let path = folder.path
        let waiter = SeparateThread {
            try FileLock.acquire("lock", in: Directory.open(path: path), deadline: Deadline(after: .seconds(60)))
        }
        holder.kill()
        #expect(try waiter.value() != nil)
    }

    @Test("A lock of this process excludes other processes")
    func otherProcess() throws {
        let lock = try #require(try FileLock.acquire("lock", in: folder, deadline: atOnce))
        let script = "flock --wait $2 \"$1\" true && echo free || echo held; exec cat"
        #expect(try HeldProcess(script, folder.path + "/lock", "0").firstLine == "held")
        lock.release()
        #expect(try HeldProcess(script, folder.path + "/lock", "60").firstLine == "free")
    }

    @Test("A removed lock file never has two holders")
    func removedFile() throws {
        let first = try #require(try FileLock.acquire("lock", in: folder, deadline: atOnce))
        let path = folder.path
        let waiter = SeparateThread {
            let folder = try Directory.open(path: path)
            let lock = try FileLock.acquire("lock", in: folder, deadline: Deadline(after: .seconds(60)))
            // The waiter's lock must be on the file that has the name now.
            let other = try FileLock.acquire("lock", in: folder, deadline: Deadline(after: .zero))
            return lock != nil && other == nil
        }
        try folder.removeFile("lock")
        first.release()
        #expect(try waiter.value())
    }

    @Test("Without inotify a lock is still awaited")
    func withoutWatch() throws {
        let lock = try #require(try FileLock.acquire("lock", in: folder, deadline: atOnce))
        let path = folder.path
        let system = RecordingFileSystem(refusesWatches: true)
        let waiter = SeparateThread {
            let folder = try Directory.open(path: path, operations: system)
            return try FileLock.acquire("lock", in: folder, deadline: Deadline(after: .seconds(60))) != nil
        }
        let watch = try FileWatch(on: folder)
        while !system.calls.contains("poll") { _ = watch.wait(until: Deadline(after: .milliseconds(1))) }
        lock.release()
        #expect(try waiter.value())
    }
}
