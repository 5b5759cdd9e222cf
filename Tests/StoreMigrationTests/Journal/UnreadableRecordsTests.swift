import SafeFiles
import StoreAccess
import SystemPackage
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Records that cannot be read")
struct UnreadableRecordsTests {
    /// A failed read says nothing of the file; a refusal does.
    static let passing: [Errno] = [.ioError, .noMemory, .tooManyOpenFiles, .staleNFSFileHandle]
    static let lasting: [Errno] = [.permissionDenied, .noSuchFileOrDirectory, .tooManySymbolicLinkLevels]

    private let system = RecordingFileSystem()
    private let scratch: ScratchFolder
    private let folder: Directory

    init() throws {
        scratch = try ScratchFolder()
        folder = try Directory.open(path: scratch.directory.path, operations: system)
    }

    @Test("A receipt counts as missing if its file is at fault, and the error is thrown if it may pass")
    func receipt() throws {
        let name = ReceiptFile.receiptName(for: "s.db")
        try scratch.directory.replace(name, with: Array("{}".utf8), mode: 0o644)
        for error in Self.passing {
            system.fail(opening: name, with: error)
            #expect(throws: FileError.self, "\(error)") { try Receipt(beside: "s.db", in: folder) }
            #expect(throws: FileError.self, "\(error)") { try ReceiptFile(beside: "s.db", in: folder) }
        }
        for error in Self.lasting {
            system.fail(opening: name, with: error)
            #expect(try Receipt(beside: "s.db", in: folder) == nil, "\(error)")
            #expect(try ReceiptFile(beside: "s.db", in: folder) == nil, "\(error)")
        }
    }

    @Test("The record of a snapshot counts as missing only without a file, or if it is no regular one")
    func snapshot() throws {
        let name = SnapshotRecord.fileName(for: "s.db")
        #expect(try SnapshotRecord(beside: "s.db", in: folder) == nil)
        _ = try scratch.directory.createDirectory(SnapshotRecord.fileName(for: "t.db"), mode: 0o755)
        #expect(try SnapshotRecord(beside: "t.db", in: folder) == nil)
        try scratch.directory.replace(name, with: Array("{}".utf8), mode: 0o644)
        #expect(try SnapshotRecord(beside: "s.db", in: folder) == nil)
        for error in Self.passing + [.permissionDenied] {
            system.fail(opening: name, with: error)
            #expect(throws: FileError.self, "\(error)") { try SnapshotRecord(beside: "s.db", in: folder) }
        }
    }

    @Test("A staging folder whose origin cannot be read stops the search")
    func stagingOrigin() throws {
        let staging = StagingOrigin.folderPrefix + String(repeating: "0", count: 32)
        let origin = Receipt.Origin(transaction: String(repeating: "0", count: 32), old: "/old/s.db", state: nil)
        try StagingOrigin.write(origin, to: scratch.directory.createDirectory(staging, mode: 0o700))
        #expect(try StagingOrigin.all(in: folder) == [origin])
        for error in Self.passing {
            system.fail(opening: staging, with: error)
            #expect(throws: FileError.self, "\(error)") { try StagingOrigin.all(in: folder) }
        }
        system.fail(opening: staging, with: .permissionDenied)
        #expect(try StagingOrigin.all(in: folder).isEmpty)
    }

    @Test("A journal is disregarded if it is at fault, and not after an error that may pass")
    func journal() throws {
        let journal = StateFolder(of: StoreLocation(folder: folder.path, name: "s.db"), stateFolder: nil)
        #expect(try journal.ifUsable { try $0.state() } == RunState.none)
        for error in Self.passing {
            #expect(throws: FileError.self, "\(error)") {
                try journal.ifUsable { _ in throw FileError(operation: "read", path: folder.path, errno: error) }
            }
        }
        for error in Self.lasting {
            let failed = FileError(operation: "read", path: folder.path, errno: error)
            #expect(try journal.ifUsable { _ in throw failed } == nil, "\(error)")
        }
        let damaged = MigrationError(.foundButUnreadable, "the journal is damaged", path: folder.path)
        #expect(try journal.ifUsable { _ in throw damaged } == nil)
    }
}
