import SafeFiles
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
}
