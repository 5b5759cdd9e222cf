import CTestSupport
import Glibc
import SafeFiles
import TestSupport
import Testing

@Suite("OpenFiles")
struct OpenFilesTests {
    private let temporary: TemporaryDirectory
    private var folder: Directory { temporary.directory }

    init() throws {
        temporary = try TemporaryDirectory(prefix: "open-files-tests")
    }

    @Test("A file counts as open in this process while a descriptor refers to it")
    func here() throws {
        let file = try folder.createFile("file", mode: 0o600)
        let identity = try file.status().identity
        #expect(try OpenFiles.isOpenInThisProcess(identity))
        try file.close()
        #expect(try !OpenFiles.isOpenInThisProcess(identity))
    }

    @Test("A descriptor on /proc of an ended process is ignored")
    func gone() throws {
        let identity = try folder.createFile("file", mode: 0o600).status().identity
        let process = try HeldProcess("echo here; exec cat")
        let descriptors = try Directory.open(path: "/proc/\(process.identifier)/fd")
        process.kill()
        #expect(try !OpenFiles.isOpenInThisProcess(identity))
        withExtendedLifetime(descriptors) {}
    }

    @Test("Lock holders include a process with a lock, and not one that only has the file open")
    func locked() throws {
        let path = folder.path + "/file"
        try folder.createFile("file", mode: 0o600).close()
        let identity = try #require(try folder.status(of: "file")).identity
        let reader = try HeldProcess("exec 3<\"$1\"; echo open; exec cat", path)
        #expect(try OpenFiles.lockHolders(of: identity) == [])
        let lock = try #require(try FileLock.acquire("file", in: folder, deadline: Deadline(after: .seconds(60))))
        #expect(try OpenFiles.lockHolders(of: identity) == [getpid()])
        lock.release()
        #expect(try OpenFiles.lockHolders(of: identity) == [])
        reader.kill()
    }

    @Test("A lock of a process whose open files are hidden is found by its file", .enabled(if: geteuid() == 0))
    func hidden() throws {
        try folder.createFile("file", mode: 0o600).close()
        let identity = try #require(try folder.status(of: "file")).identity
        let script = "exec flock --no-fork \"$1\" sh -c 'echo held; exec cat'"
        let holder = try HeldProcess(script, folder.path + "/file")
        let (locking, holding) = try SeparateThread(asOrdinaryUser: true) {
            (try OpenFiles.lockHolders(of: identity), OpenFiles.holders(of: identity))
        }
        .value()
        #expect(locking == [holder.identifier])
        #expect(holding == [])
        #expect(try OpenFiles.lockHolders(of: identity) == [holder.identifier])
        holder.kill()
        #expect(try OpenFiles.lockHolders(of: identity) == [])
    }

    @Test("Holders include another process that has the file open")
    func elsewhere() throws {
        try folder.createFile("file", mode: 0o600).close()
        let identity = try #require(try folder.status(of: "file")).identity
        let holder = try HeldProcess("exec 3<\"$1\"; echo open; exec cat", folder.path + "/file")
        #expect(OpenFiles.holders(of: identity).contains(holder.identifier))
        holder.kill()
        #expect(!OpenFiles.holders(of: identity).contains(holder.identifier))
    }

    @Test("A child of this process that has not started its program yet is no holder")
    func starting() throws {
        let file = try folder.createFile("file", mode: 0o600)
        let identity = try file.status().identity
        let child = ctest_fork()
        try #require(child > 0)
        defer {
            kill(child, SIGKILL)
            waitpid(child, nil, 0)
        }
        #expect(!OpenFiles.holders(of: identity).contains(child))
        #expect(OpenFiles.holders(of: identity).contains(getpid()))
        try file.close()
    }
}
