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
    }

    @Test("After an unshare that brings other content back, the merge can be repeated")
    func unshared() throws {
        let other = try ScratchFolder()
        let new = try other.makeStore(Self.store(of: "other"))
        #expect(try merge() == .merged)
        var options = ShareOptions()
        options.onBoth = .keepNew
        try StoreMigrator(from: into.url, to: new.url, options: options).shareStoreIfNecessaryAndWait()
        _ = try StoreUnsharing(into.url, from: new.url).unshareAndWait()
        #expect(try rows() == ["other"])

        try expectNoMergeToUndo()
        #expect(try merge() == .merged)

        #expect(try rows() == ["from", "other"])
    }

    @Test("After another store is shared over it, the merge can be repeated")
    func replaced() throws {
        let other = try ScratchFolder()
        let third = try other.makeStore(Self.store(of: "third"))
        #expect(try merge() == .merged)
        var options = ShareOptions()
        options.onBoth = .keepOld
        try StoreMigrator(from: third.url, to: into.url, options: options).shareStoreIfNecessaryAndWait()
        #expect(try rows() == ["third"])

        try expectNoMergeToUndo()
        #expect(try merge() == .merged)

        #expect(try rows() == ["from", "third"])
    }

    @Test("A merge of a pair is not undone after the old store was copied over the new one again")
    func copiedAgain() throws {
        let archive = folder.location("archive.tar.zst").url
        try BackupMaker(of: into.url).make(at: archive)
        var options = ShareOptions()
        options.onBoth = .merge
        try StoreMigrator(from: from.url, to: into.url, options: options).shareStoreIfNecessaryAndWait()
        var restoring = RestoreOptions()
        restoring.overwrite = .always
        _ = try StoreRestorer(to: into.url, options: restoring).restoreAndWait(from: archive)
        options.onBoth = .keepOld
        try StoreMigrator(from: from.url, to: into.url, options: options).shareStoreIfNecessaryAndWait()
        #expect(try rows() == ["from"])

        try expectNoMergeToUndo()
    }

    // MARK: Merges with a base, which would insert the same rows again

    private func makeCopies() throws {
        let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO t (name) VALUES ('base')"
        for (name, rows) in [("base", []), ("one", ["one", "two"]), ("other", ["other"])] {
            try folder.makeStore(
                ([sql] + rows.map { "INSERT INTO t (name) VALUES ('\($0)')" }).joined(separator: ";"),
                as: name
            )
        }
    }

    private func mergeNewCopies() throws -> MigrationOutcome {
        try makeCopies()
        return try mergeCopies()
    }

    private func mergeCopies(base: String = "base") throws -> MigrationOutcome {
        var options = MergeOptions()
        options.level = .sqlite
        options.base = folder.location(base).url
        return try StoreMerging(folder.location("one").url, into: folder.location("other").url, options: options)
            .mergeAndWait().outcome
    }

    private func names() throws -> [String] {
        try StoreReader()
            .withView(of: folder.location("other")) {
                try $0.connection.value("SELECT group_concat(name) FROM t")?.text ?? ""
            }
            .split(separator: ",").map(String.init).sorted()
    }

    private func expectDecision() throws {
        let error = #expect(throws: MigrationError.self) { try mergeCopies() }
        #expect(error?.outcome == .needsDecision)
        #expect(error?.message.contains("was replaced after an earlier merge") == true)
    }

    @Test("A copy of the store in its place does not get the rows of a merge with a base twice")
    func copied() throws {
        #expect(try mergeNewCopies() == .merged)
        try folder.copyFiles(of: "other", to: folder, as: "copy")
        try folder.directory.removeFile("other")
        try folder.copyFiles(of: "copy", to: folder, as: "other")

        try expectDecision()

        #expect(try names() == ["base", "one", "other", "two"])
    }

    @Test(
        "A restored store gets the rows of a merge with a base once, whether its backup has them or not",
        arguments: [true, false]
    )
    func restoredCopy(isLater: Bool) throws {
        let archive = folder.location("archive.tar.zst").url
        if isLater { #expect(try mergeNewCopies() == .merged) } else { try makeCopies() }
        try BackupMaker(of: folder.location("other").url).make(at: archive)
        if !isLater { #expect(try mergeCopies() == .merged) }
        let connection = try folder.open("other")
        try connection.execute("UPDATE t SET name = 'later' WHERE name = 'other'")
        try connection.close()
        var options = RestoreOptions()
        options.overwrite = .always
        _ = try StoreRestorer(to: folder.location("other").url, options: options).restoreAndWait(from: archive)

        try expectDecision()

        // What both stores have in common, under another name, is another base.
        try folder.copyFiles(of: isLater ? "one" : "base", to: folder, as: "common")
        #expect(try mergeCopies(base: "common") == (isLater ? .done : .merged))
        #expect(try names() == ["base", "one", "other", "two"])
    }
}
