import ChangeMerging
import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreBackup
import TestSupport
import Testing

@testable import StoreMigration

/// A merge is in force for the store that received its rows, not for a later one at its path.
@Suite("A store that is replaced after a merge into it")
struct ReplacedReceiverTests {
    private let folder: ScratchFolder
    private var from: StoreLocation { folder.location("from") }
    private var into: StoreLocation { folder.location("into") }

    init() throws {
        folder = try ScratchFolder()
        try folder.makeStore(Self.store(of: "from"), as: "from")
        try folder.makeStore(Self.store(of: "into"), as: "into")
    }

    private static func store(of name: String) -> String {
        "CREATE TABLE t (name TEXT PRIMARY KEY, x); INSERT INTO t VALUES ('\(name)', 1)"
    }

    private func merge() throws -> MigrationOutcome {
        var options = MergeOptions()
        options.level = .sqlite
        return try StoreMerging(from.url, into: into.url, options: options).mergeAndWait().outcome
    }

    private func rows() throws -> [String] {
        try StoreReader()
            .withView(of: into) { try $0.connection.value("SELECT group_concat(name) FROM t")?.text ?? "" }
            .split(separator: ",").map(String.init).sorted()
    }

    private func expectNoMergeToUndo() throws {
        let before = try rows()
        let error = #expect(throws: MigrationError.self) { try MergeUndoing(of: into.url).unmergeAndWait() }
        #expect(error?.outcome == .needsDecision)
        #expect(error?.message == "no journal records a merge into this store")
        #expect(try rows() == before)
    }

    @Test("After a restore over the store, the merge can be repeated and not undone")
    func restored() throws {
        let archive = folder.location("archive.tar.zst").url
        try BackupMaker(of: into.url).make(at: archive)
        #expect(try merge() == .merged)
        #expect(try merge() == .done)
        var options = RestoreOptions()
        options.overwrite = .always
        _ = try StoreRestorer(to: into.url, options: options).restoreAndWait(from: archive)
        #expect(try rows() == ["into"])

        try expectNoMergeToUndo()
        #expect(try merge() == .merged)

        #expect(try rows() == ["from", "into"])
        try MergeUndoing(of: into.url).unmergeAndWait()
        #expect(try rows() == ["into"])
    }

    @Test("After another store is created at its path, the merge can be repeated and not undone")
    func recreated() throws {
        #expect(try merge() == .merged)
        try folder.directory.removeFile(into.name)
        try folder.makeStore(Self.store(of: "other"), as: into.name)

        try expectNoMergeToUndo()
        #expect(try merge() == .merged)

        #expect(try rows() == ["from", "other"])
    }

    @Test("After its retirement, the store that is shared back to its path keeps the merged rows")
    func retired() throws {
        let other = try ScratchFolder()
        let new = other.location("into")
        #expect(try merge() == .merged)
        try StoreMigrator(from: into.url, to: new.url).shareStoreIfNecessaryAndWait()
        _ = try StoreRetirement(of: into.url).retireAndWait()
        try StoreMigrator(from: new.url, to: into.url).shareStoreIfNecessaryAndWait()

        try expectNoMergeToUndo()

        #expect(try rows() == ["from", "into"])
    }
}
