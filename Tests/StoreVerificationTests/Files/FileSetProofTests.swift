import Foundation
import StoreAccess
import Testing

@testable import StoreVerification

@Suite("The files of a store")
struct FileSetProofTests {
    private static let schema = "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT);"
    private static let rows = "INSERT INTO item VALUES (1, 'a'), (2, 'b');"

    private func findings(in store: ScratchStore) throws -> [Finding] {
        let connection = try StoreConnection(store.location, access: .immutable)
        return try FileSetProof(store.location, connection: connection).findings()
    }

    private func store(_ extra: String = "") throws -> ScratchStore {
        try ScratchStore(extra + Self.schema, Self.rows)
    }

    private func external(_ store: ScratchStore) throws -> URL {
        let folder = store.folder.appending(path: store.location.supportFolderName)
            .appending(path: StoreLocation.externalDataFolderName)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    @Test("A store with an external file is complete", arguments: ["", "PRAGMA journal_mode=WAL;"])
    func sound(_ pragma: String) throws {
        let store = try store(pragma)
        try Data("x".utf8).write(to: external(store).appending(path: UUID().uuidString))
        #expect(try findings(in: store) == [])
    }

    @Test("A file longer than its header says is a warning")
    func tooLong() throws {
        let store = try store()
        try store.overwrite(store.bytes + [1, 2, 3])
        #expect(try findings(in: store).map(\.code) == [.fileTooLong])
    }

    @Test("A file shorter than its header says is an error that no copy may inherit")
    func tooShort() throws {
        let store = try store()
        let connection = try StoreConnection(store.location, access: .immutable)
        let handle = try FileHandle(forWritingTo: URL(filePath: store.location.path))
        try handle.truncate(atOffset: UInt64(store.pageSize))
        let findings = try FileSetProof(store.location, connection: connection).findings()
        #expect(findings.map(\.code) == [.fileTooShort])
        let report = VerificationReport(
            levels: [.init(level: .files, status: .failed, seconds: 0)],
            findings: findings
        )
        #expect(!report.inheriting(from: findings).passed)
    }

    @Test("A log beside a store in rollback-journal mode is reported")
    func strayLog() throws {
        let store = try store()
        try Data([1]).write(to: store.folder.appending(path: store.location.writeAheadLogName))
        #expect(try findings(in: store).map(\.code) == [.strayWriteAheadLog])
    }

    @Test("A rollback journal beside the store is reported")
    func journal() throws {
        let store = try store()
        try Data([1]).write(to: store.folder.appending(path: store.location.journalName))
        #expect(try findings(in: store).map(\.code) == [.journalPresent])
    }

    @Test("Permissions that exclude readers of the store are reported")
    func modes() throws {
        let store = try store()
        let log = store.folder.appending(path: store.location.writeAheadLogName)
        let file = try external(store).appending(path: "blob")
        for url in [log, file] {
            try Data().write(to: url)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: store.location.path)
        let findings = try findings(in: store)
        #expect(findings.map(\.code) == [.unreadableMode, .unreadableMode])
        #expect(findings.map(\.path) == [log.path, file.path])
        #expect(findings.allSatisfy { $0.severity == .warning })
    }

    @Test("A file of the store that is not a regular file is an error")
    func kinds() throws {
        let store = try store()
        let external = try external(store)
        let link = external.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: store.folder)
        try FileManager.default.createDirectory(
            at: external.appending(path: "folder"),
            withIntermediateDirectories: false
        )
        let log = store.folder.appending(path: store.location.sharedMemoryName)
        try FileManager.default.createDirectory(at: log, withIntermediateDirectories: false)
        let findings = try findings(in: store)
        #expect(findings.map(\.code) == [.notARegularFile, .notARegularFile, .notARegularFile])
    }

    @Test("A file instead of the folder of external files is an error")
    func noFolder() throws {
        let store = try store()
        try Data().write(to: store.folder.appending(path: store.location.supportFolderName))
        #expect(try findings(in: store).map(\.code) == [.notAFolder])
    }

    @Test("A second hard link of the main file is an error")
    func hardLink() throws {
        let store = try store()
        let connection = try StoreConnection(store.location, access: .immutable)
        try FileManager.default.linkItem(
            at: URL(filePath: store.location.path),
            to: store.folder.appending(path: "other")
        )
        let findings = try FileSetProof(store.location, connection: connection).findings()
        #expect(findings.map(\.code) == [.severalNames])
    }
}
