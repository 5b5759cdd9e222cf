import SafeFiles
import SystemPackage
import TestSupport
import Testing

@Suite("Failures of single system calls")
struct FailureTests {
    struct Work: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let run: @Sendable (Directory) throws -> Void

        static let all = [
            Work(testDescription: "creating and writing a file") { folder in
                let file = try folder.createFile("new", mode: 0o640)
                try [UInt8](repeating: 1, count: 100).withUnsafeBytes { try file.write($0, at: 0) }
                try file.truncate(to: 50)
                try file.setOwner(user: nil, group: nil)
                try file.synchronize()
                try file.close()
                try folder.synchronize()
            },
            Work(testDescription: "replacing a file") { try $0.replace("old", with: [2, 2], mode: 0o600) },
            Work(testDescription: "creating a folder and moving a file there") { folder in
                let inner = try folder.createDirectory("inner", mode: 0o700)
                try folder.move("old", to: "moved", in: inner)
                try inner.synchronize()
            },
            Work(testDescription: "reading") { folder in
                #expect(try folder.contents(of: "old", limit: 10) == [1, 1])
                _ = try folder.token(of: "old")
                _ = try folder.entries()
            },
            Work(testDescription: "locking") { folder in
                let lock = try FileLock.acquire("lock", in: folder, deadline: Deadline(after: .zero))
                try #require(lock != nil)
                lock?.release()
            },
            Work(testDescription: "leasing") { folder in
                // Nil if a child of another test has the file open between fork and exec.
                try FileLease.acquire(on: "old", in: folder)?.release()
            },
        ]
    }

    @Test(
        "A failed system call is reported, and leaves no open descriptor and no partial file",
        arguments: Work.all,
        [Errno.ioError, .noSpace]
    )
    func failEach(_ work: Work, _ errno: Errno) throws {
        let unharmed = try run(work, failing: nil, with: errno)
        #expect(unharmed.error == nil)
        try #require(unharmed.count > 3)
        for number in 1..<unharmed.count {
            let outcome = try run(work, failing: number, with: errno)
            // The number of open descriptors, which a lease checks, differs between runs.
            guard let failed = outcome.failed else { continue }
            let isBestEffort = ["path", "close", "unlock", "returnLease"].contains(failed)
            let error = outcome.error as? FileError
            #expect(error?.errno == errno || isBestEffort && outcome.error == nil, "call \(number), \(failed)")
        }
    }

    private struct Outcome {
        let count: Int
        /// The call that failed, if there were that many calls.
        let failed: String?
        let error: (any Error)?
    }

    private func run(_ work: Work, failing number: Int?, with errno: Errno) throws -> Outcome {
        let temporary = try TemporaryDirectory(prefix: "failure-tests")
        let folder = temporary.directory
        try folder.replace("old", with: [1, 1], mode: 0o600)
        let system = RecordingFileSystem(failures: number.map { [$0: errno] } ?? [:])
        var failure: (any Error)?
        do {
            try work.run(Directory.open(path: folder.path, operations: system))
        } catch {
            failure = error
        }
        #expect(system.openDescriptors.isEmpty)
        if try folder.status(of: "old") != nil {
            #expect([[1, 1], [2, 2]].contains(try folder.contents(of: "old", limit: 10)))
        } else {
            #expect(try folder.openDirectory("inner").contents(of: "moved", limit: 10) == [1, 1])
        }
        let calls = system.calls
        return Outcome(
            count: calls.count,
            failed: number.flatMap { calls.indices.contains($0) ? calls[$0] : nil },
            error: failure
        )
    }
}
