import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreBackup

@Suite("A store that is archived in place")
struct RestingStoreTests {
    private let scratch: ScratchFolder
    private let location: StoreLocation
    private let external: Directory

    /// A store with the external files A and B.
    init() throws {
        scratch = try ScratchFolder()
        location = try scratch.makeStore("CREATE TABLE t (x)")
        external = try scratch.createExternalFolder(of: location)
        for name in ["A", "B"] { try write(name, in: external) }
    }

    private func write(_ name: String, in folder: Directory) throws {
        let file = try folder.createFile(name, mode: 0o644)
        try Array(name.utf8).withUnsafeBytes { try file.write($0, at: 0) }
        try file.close()
    }

    private func resting() throws -> RestingStore? { try RestingStore(at: location, allowsNetworkFileSystem: true) }

    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let apply: @Sendable (RestingStoreTests) throws -> Void

        init(_ name: String, _ apply: @escaping @Sendable (RestingStoreTests) throws -> Void) {
            testDescription = name
            self.apply = apply
        }
    }

    static let changes = [
        Change("an external file that grew") {
            let file = try $0.external.openFile("A", for: .writing)
            try file.truncate(to: 2)
            try file.close()
        },
        // The number of the removed file is not reused, because the new file exists before.
        Change("an external file that was replaced by another of the same size") {
            try $0.write("C", in: $0.scratch.directory)
            try $0.external.removeFile("A")
            try $0.scratch.directory.move("C", to: "A", in: $0.external)
        },
        Change("a new external file") { try $0.write("C", in: $0.external) },
        Change("a removed external file") { try $0.external.removeFile("B") },
        Change("external files that exchanged their names") { try $0.external.exchange("A", with: "B") },
        Change("a row") {
            let connection = try $0.scratch.open()
            try connection.execute("INSERT INTO t VALUES (1)")
            try connection.close()
        },
    ]

    @Test("A change of the store or of its external files is noticed", arguments: changes)
    func changed(_ change: Change) throws {
        let store = try #require(try resting())
        #expect(try store.isUnchanged())
        try change.apply(self)
        #expect(try !store.isUnchanged())
    }

    static let unfit = [
        Change("an external file that is a folder") { _ = try $0.external.createDirectory("C", mode: 0o755) },
        Change("a log with content") { try $0.scratch.write("store.sqlite-wal", [UInt8](repeating: 1, count: 100)) },
        Change("an empty file") {
            let file = try $0.scratch.directory.openFile("store.sqlite", for: .writing)
            try file.truncate(to: 0)
            try file.close()
        },
        Change("a text") { try $0.scratch.overwrite("store.sqlite", at: 0, Array("this is a text".utf8)) },
    ]

    @Test("A store with other content than a database at rest is copied first", arguments: unfit)
    func copied(_ change: Change) throws {
        try change.apply(self)
        #expect(try resting() == nil)
    }
}
