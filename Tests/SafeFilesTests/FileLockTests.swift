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

    @Test("The file of a lock is its owner's alone, and is closed when the lock is released")
    func closed() throws {
        let lock = try #require(try FileLock.acquire("lock", in: folder, deadline: atOnce))
        #expect(try folder.status(of: "lock")?.mode == 0o600)
        lock.release()
        let error = #expect(throws: FileError.self) { try lock.file.status() }
        #expect(error?.refusal == .closed)
    }

    @Test("A file that gets a second name before it is opened is not locked, and the error names it")
    func linkedAfterLooking() throws {
        try folder.createFile("guard", mode: 0o600).close()
        try #require(link(folder.path + "/guard", folder.path + "/second") == 0)
        // The first status call fails as if the name did not exist yet.
        let system = RecordingFileSystem(failures: [2: .noSuchFileOrDirectory])
        let watched = try Directory.open(path: folder.path, operations: system)
        let error = #expect(throws: FileError.self) { try FileLock.acquire("guard", in: watched, deadline: atOnce) }
        #expect(error?.description == "cannot lock, it has 2 names (hard links): \(folder.path)/guard")
        #expect(system.calls.contains("open guard locking"))
        let early = #expect(throws: FileError.self) { try FileLock.acquire("guard", in: folder, deadline: atOnce) }
        #expect(early == error)
    }

    @Test("A file that cannot be opened is not locked, and the error names it")
    func unopened() throws {
        let system = RecordingFileSystem()
        let watched = try Directory.open(path: folder.path, operations: system)
        system.fail(opening: "guard", with: .ioError)
        let error = #expect(throws: FileError.self) { try FileLock.acquire("guard", in: watched, deadline: atOnce) }
        #expect(error?.description == "cannot lock, \(Errno.ioError.description): \(folder.path)/guard")
    }

    @Test("Without inotify the pauses between two attempts grow")
    func growingPauses() throws {
        let lock = try #require(try FileLock.acquire("lock", in: folder, deadline: atOnce))
        let system = RecordingFileSystem(refusesWatches: true)
        let watched = try Directory.open(path: folder.path, operations: system)
        #expect(try FileLock.acquire("lock", in: watched, deadline: Deadline(after: .milliseconds(100))) == nil)
        // Milliseconds: 1, 2, 4, 8, 16, 32, and the rest.
        #expect((1...7).contains(system.calls.count { $0 == "poll" }))
        lock.release()
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
