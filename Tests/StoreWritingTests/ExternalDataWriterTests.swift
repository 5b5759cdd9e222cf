import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting
import SystemPackage
import TestSupport
import Testing

@Suite("Writing external files")
struct ExternalDataWriterTests {
    private static let large = [UInt8](repeating: 7, count: ExternalDataWriter.threshold + 1)

    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try scratch.makeStore("CREATE TABLE t (x)")
    }

    private func writer(_ operations: any FileSystemOperations = LinuxFileSystem()) throws -> ExternalDataWriter {
        ExternalDataWriter(
            scratch.location("store.sqlite"),
            in: try Directory.open(path: scratch.path, operations: operations),
            identifiers: SeededIdentifiers(seed: "ExternalDataWriterTests")
        )
    }

    private func folder() throws -> Directory {
        try scratch.directory.openDirectory(".store_SUPPORT").openDirectory("_EXTERNAL_DATA")
    }

    @Test("An external file is flushed before it is closed, and its folder after that")
    func flushed() throws {
        let system = RecordingFileSystem()
        try writer(system).write([1, 2, 3], as: "A")
        let steps = ["open A creating", "write", "synchronize", "close"]
        let calls = system.calls.drop { $0 != steps[0] }.filter { steps.contains($0) }
        #expect(Array(calls.prefix(5)) == steps + ["synchronize"])
    }

    @Test("A failed flush of an external file, or of a folder on its path, fails the write", arguments: 0..<4)
    func failedFlush(number: Int) throws {
        let rehearsal = RecordingFileSystem()
        try writer(rehearsal).write([1], as: "A")
        let flushes = rehearsal.calls.indices.filter { rehearsal.calls[$0].hasPrefix("synchronize") }
        try #require(flushes.count == 4)
        let other = try Self()
        let failing = RecordingFileSystem(failures: [flushes[number]: .ioError])
        let error = #expect(throws: FileError.self) { try other.writer(failing).write([1], as: "A") }
        #expect(error?.errno == .ioError)
    }

    @Test("The folder of external files is opened once for all values")
    func openedOnce() throws {
        let system = RecordingFileSystem()
        let writer = try writer(system)
        try writer.write([1], as: "A")
        let count = system.calls.count
        try writer.write([2], as: "B")
        try writer.remove("A")
        #expect(system.calls.dropFirst(count).filter { $0.hasPrefix("open ") } == ["open B creating"])
        #expect(try folder().entries() == ["B"])
    }

    @Test("An equal value keeps the name of its file in another store once, and other values get new names")
    func keptNames() throws {
        let writer = try writer()
        let kept = "0E3E5F3E-1DB3-4B0E-8A6B-0F0A3D0C9A11"

        writer.keepNames([(kept, .blob(Self.large))])
        let names = try [Self.large + [8], Self.large, Self.large]
            .map { value in
                try #require(ExternalDataWriter.fileName(in: writer.stored(value)))
            }

        #expect(names.map { $0 == kept } == [false, true, false])
        #expect(try folder().entries().sorted() == names.sorted())
        #expect(try folder().contents(of: kept, limit: 1 << 20) == Self.large)
    }

    @Test("A name that a file has already is not given to another value")
    func takenName() throws {
        let writer = try writer()
        let taken = "0E3E5F3E-1DB3-4B0E-8A6B-0F0A3D0C9A11"
        try writer.write([1], as: taken)

        writer.keepNames([(taken, .blob(Self.large))])
        let name = ExternalDataWriter.fileName(in: try writer.stored(Self.large))

        #expect(name != taken)
        #expect(try folder().contents(of: taken, limit: 10) == [1])
    }

    @Test(
        "External files get the store's permissions, and their folders let the same users search",
        arguments: [(0o640, 0o640, 0o750), (0o604, 0o604, 0o705), (0o444, 0o644, 0o755)] as [(UInt32, UInt32, UInt32)]
    )
    func permissions(store: UInt32, file: UInt32, folder: UInt32) throws {
        let main = try scratch.directory.openFile("store.sqlite", for: .writing)
        try main.setMode(store)
        try writer().write([1], as: "A")
        #expect(try self.folder().status(of: "A")?.mode == file)
        #expect(try self.folder().status().mode & 0o777 == folder)
    }
}
