import SafeFiles
import SystemPackage
import TestSupport
import Testing

@Suite("DurableFile")
struct DurableFileTests {
    private let temporary: TemporaryDirectory

    init() throws {
        temporary = try TemporaryDirectory(prefix: "durable-file-tests")
    }

    private func folder(_ system: RecordingFileSystem) throws -> Directory {
        try Directory.open(path: temporary.directory.path, operations: system)
    }

    private func write(_ text: String, to file: DurableFile, at offset: Int64 = 0) throws {
        try Array(text.utf8).withUnsafeBytes { try file.write($0, at: offset) }
    }

    private func read(_ count: Int, from file: DurableFile, at offset: Int64 = 0) throws -> String {
        var bytes = [UInt8](repeating: 0, count: count)
        let done = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
        return String(decoding: bytes.prefix(done), as: UTF8.self)
    }

    @Test("Short transfers are continued until all bytes have moved", arguments: [1, 3, 1000])
    func shortTransfers(_ largest: Int) throws {
        let file = try folder(RecordingFileSystem(largestTransfer: largest)).createFile("a", mode: 0o600)
        try write("0123456789", to: file)
        try write("abc", to: file, at: 4)
        #expect(try read(10, from: file) == "0123abc789")
        #expect(try read(10, from: file, at: 7) == "789", "only the end of the file cuts a read short")
        #expect(try read(10, from: file, at: 100) == "")
    }

    @Test("An interrupted call is retried, except fsync, where a retry would hide a failure")
    func interruptions() throws {
        let system = RecordingFileSystem()
        let file = try folder(system).createFile("a", mode: 0o600)
        system.fail(after: 0..<3, with: .interrupted)
        try write("abc", to: file)
        system.failNext(with: .interrupted)
        #expect(try read(3, from: file) == "abc")
        system.failNext(with: .interrupted)
        try file.truncate(to: 1)
        #expect(try file.status().size == 1)
        system.failNext(with: .interrupted)
        #expect(throws: FileError.self) { try file.synchronize() }
    }

    @Test("A call that signals interrupt forever fails instead of hanging")
    func endlessInterruptions() throws {
        let system = RecordingFileSystem()
        let file = try folder(system).createFile("a", mode: 0o600)
        system.fail(after: 0..<10_000, with: .interrupted)
        let error = #expect(throws: FileError.self) { try write("abc", to: file) }
        #expect(error?.errno == .interrupted)
    }

    @Test("A write of which the kernel accepts no byte fails instead of hanging")
    func noProgress() throws {
        let file = try folder(RecordingFileSystem(largestTransfer: 0)).createFile("a", mode: 0o600)
        let error = #expect(throws: FileError.self) { try write("abc", to: file) }
        #expect(error?.errno == .ioError)
    }

    @Test("After a failed fsync a file rejects writes and never reports success")
    func abandoned() throws {
        let system = RecordingFileSystem()
        let file = try folder(system).createFile("a", mode: 0o600)
        try write("abc", to: file)
        system.failNext(with: .ioError)
        #expect(throws: FileError.self) { try file.synchronize() }
        let synchronizations = system.calls.filter { $0.hasPrefix("synchronize") }.count

        let other = try folder(system).createFile("b", mode: 0o600)
        let attempts: [() throws -> Void] = [
            { try file.synchronize() }, { try write("d", to: file) }, { try file.truncate(to: 0) },
            { try file.setMode(0o644) }, { try file.setOwner(user: nil, group: nil) },
            { _ = try file.clone(from: other) },
        ]
        for attempt in attempts {
            let error = #expect(throws: FileError.self) { try attempt() }
            #expect(error?.refusal == .abandoned)
            #expect(error?.path == temporary.directory.path + "/a")
        }
        #expect(system.calls.filter { $0.hasPrefix("synchronize") }.count == synchronizations, "fsync was not retried")
        #expect(try read(3, from: file) == "abc", "reading is still allowed")
    }

    @Test("Changed content is flushed with fdatasync, and a changed mode with fsync")
    func dataOnly() throws {
        let system = RecordingFileSystem()
        let file = try folder(system).createFile("a", mode: 0o600)
        func kinds() -> [String] { system.calls.filter { $0.hasPrefix("synchronize") } }
        try file.synchronize()
        try write("abc", to: file)
        try file.synchronize()
        try file.setMode(0o640)
        try file.synchronize()
        try file.setOwner(user: nil, group: nil)
        try file.synchronize()
        #expect(kinds() == ["synchronize", "synchronize data", "synchronize", "synchronize"])
        let opened = try self.folder(system).openFile("a", for: .writing)
        try write("def", to: opened)
        try opened.synchronize()
        #expect(kinds().last == "synchronize data", "the names and mode of an existing file are durable already")
    }

    @Test("A file whose mode cannot be set is not created")
    func modeFailure() throws {
        let system = RecordingFileSystem()
        let folder = try folder(system)
        // The calls before it open the file and read the folder's path.
        system.fail(after: [2], with: .ioError)
        let error = #expect(throws: FileError.self) { try folder.createFile("a", mode: 0o600) }
        #expect(system.calls.contains("setMode"))
        #expect(error?.operation == "set the mode of")
        #expect(error?.errno == .ioError)
        #expect(try folder.entries() == [])
    }

    @Test("A full disk is reported with the file and the kernel's error")
    func full() throws {
        let system = RecordingFileSystem()
        let folder = try folder(system)
        let file = try folder.createFile("a", mode: 0o600)
        system.failNext(with: .noSpace)
        let error = #expect(throws: FileError.self) { try write("abc", to: file) }
        #expect(error?.errno == .noSpace)
        #expect(error?.path == folder.path + "/a")
        #expect(error.map { "\($0)" }?.hasPrefix("cannot write, ") == true)
    }

    @Test("Closing reports a failure once, and the file cannot be used afterwards")
    func close() throws {
        let system = RecordingFileSystem()
        let folder = try folder(system)
        let file = try folder.createFile("a", mode: 0o600)
        let before = system.openDescriptors.count
        system.failNext(with: .ioError)
        #expect(throws: FileError.self) { try file.close() }
        #expect(system.openDescriptors.count == before - 1)
        try file.close()
        let error = #expect(throws: FileError.self) { try file.synchronize() }
        #expect(error?.refusal == .closed)
        #expect(error?.path == folder.path + "/a")
    }

    @Test("An invalid offset is refused", arguments: [-1, Int64.min, Int64.max])
    func offsets(_ offset: Int64) throws {
        let file = try folder(RecordingFileSystem(largestTransfer: 1)).createFile("a", mode: 0o600)
        #expect(throws: FileError.self) { try write("abc", to: file, at: offset) }
        if offset < 0 { #expect(throws: FileError.self) { try read(3, from: file, at: offset) } }
    }

    @Test("A clone has the same bytes, or returns false without a change")
    func clone() throws {
        let folder = try folder(RecordingFileSystem())
        let source = try folder.createFile("a", mode: 0o600)
        try write("content", to: source)
        try source.synchronize()
        let copy = try folder.createFile("b", mode: 0o600)
        let isCloned = try copy.clone(from: source)
        #expect(try read(100, from: copy) == (isCloned ? "content" : ""))
    }

    @Test("A file that may share blocks of a second file is flushed with fsync")
    func cloned() throws {
        let system = RecordingFileSystem(pretendsToClone: true)
        let folder = try folder(system)
        let source = try folder.createFile("a", mode: 0o600)
        let copy = try folder.createFile("b", mode: 0o600)
        for file in [source, copy] { try file.synchronize() }
        #expect(try copy.clone(from: copy))
        #expect(!system.calls.contains("clone"), "a file has the blocks of its own")
        #expect(try copy.clone(from: source))
        try copy.synchronize()
        #expect(system.calls.suffix(2) == ["clone", "synchronize"])
    }

    @Test(
        "Cloning returns false on a file system without clones, and throws on a full or broken one",
        arguments: [
            (Errno.notSupported, true), (.improperLink, true), (.inappropriateIOCTLForDevice, true),
            (.noSpace, false), (.ioError, false),
        ]
    )
    func cloneFailures(_ errno: Errno, isExpected: Bool) throws {
        let system = RecordingFileSystem()
        let folder = try folder(system)
        let source = try folder.createFile("a", mode: 0o600)
        let copy = try folder.createFile("b", mode: 0o600)
        system.failNext(with: errno)
        if isExpected {
            #expect(try copy.clone(from: source) == false)
        } else {
            #expect(throws: FileError.self) { try copy.clone(from: source) }
        }
    }
}
