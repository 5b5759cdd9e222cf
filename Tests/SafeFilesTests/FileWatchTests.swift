import Dispatch
import SafeFiles
import SystemPackage
import TestSupport
import Testing

@Suite("FileWatch")
struct FileWatchTests {
    private let temporary: TemporaryDirectory
    private var folder: Directory { temporary.directory }

    init() throws {
        temporary = try TemporaryDirectory(prefix: "file-watch-tests")
    }

    @Test("A change before the wait is reported once")
    func earlier() throws {
        let watch = try FileWatch(on: folder)
        #expect(!watch.wait(until: Deadline(after: .zero)))
        try folder.createFile("file", mode: 0o600).close()
        #expect(watch.wait(until: Deadline(after: .zero)))
        #expect(!watch.wait(until: Deadline(after: .zero)))
    }

    @Test("A change during the wait ends it")
    func during() throws {
        let path = folder.path
        let watch = try FileWatch(on: folder)
        let writer = SeparateThread { try Directory.open(path: path).createFile("file", mode: 0o600).close() }
        #expect(watch.wait(until: Deadline(after: .seconds(60))))
        try writer.value()
    }

    @Test("Changes in a folder are reported on a queue until the reports are cancelled")
    func events() throws {
        let watch = try FileWatch(on: folder)
        try folder.createFile("before", mode: 0o600).close()
        let queue = DispatchQueue(label: "file-watch-tests")
        let reported = DispatchSemaphore(value: 0)
        let events = FileWatchEvents(of: watch, on: queue) { reported.signal() }
        #expect(reported.wait(timeout: .now() + 60) == .success)
        // The events so far have been read, so only a new change is reported next.
        queue.sync {}
        while reported.wait(timeout: .now()) == .success {}
        #expect(reported.wait(timeout: .now() + .milliseconds(20)) == .timedOut)
        try folder.createFile("during", mode: 0o600).close()
        #expect(reported.wait(timeout: .now() + 60) == .success)
        events.cancel()
        queue.sync {}
        while reported.wait(timeout: .now()) == .success {}
        try folder.createFile("after", mode: 0o600).close()
        queue.sync {}
        #expect(reported.wait(timeout: .now()) == .timedOut)
    }

    @Test("A burst of changes before the reports begin is reported once")
    func burst() throws {
        let watch = try FileWatch(on: folder)
        // More events than one read returns.
        for number in 0..<500 { try folder.createFile("file-\(number)", mode: 0o600).close() }
        let queue = DispatchQueue(label: "file-watch-tests.burst")
        let reported = DispatchSemaphore(value: 0)
        let events = FileWatchEvents(of: watch, on: queue) { reported.signal() }
        #expect(reported.wait(timeout: .now() + 60) == .success)
        #expect(reported.wait(timeout: .now() + .milliseconds(20)) == .timedOut)
        events.cancel()
    }

    @Test("A wait that fails, or that other events end, goes on until the deadline")
    func failures() throws {
        let system = RecordingFileSystem()
        let watch = try FileWatch(on: Directory.open(path: folder.path, operations: system))
        system.failNext(with: .ioError)
        #expect(!watch.wait(until: Deadline(after: .zero)))
        try folder.createFile("file", mode: 0o600).close()
        system.failNext(with: .interrupted)
        #expect(watch.wait(until: Deadline(after: .seconds(60))))
        #expect(system.calls.suffix(3) == ["poll", "poll", "drainEvents"])
        let watched = try Directory.open(path: folder.path, operations: system)
        system.failNext(with: .noSpace)
        let error = #expect(throws: FileError.self) { try FileWatch(on: watched) }
        #expect(error?.description == "cannot watch, \(Errno.noSpace.description): \(folder.path)")
    }
}
