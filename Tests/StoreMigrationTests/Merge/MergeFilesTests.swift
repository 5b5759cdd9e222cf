import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

/// After a power cut the journal may only name files that are there.
@Suite("The durability of the files that a merge keeps beside the journal")
struct MergeFilesTests {
    @Test("A part that the caller writes is flushed with its name; without a part, nothing is")
    func records() throws {
        let scratch = try ScratchFolder()
        let system = RecordingFileSystem()
        let records = MergeRecords(of: "epoch", in: try Directory.open(path: scratch.path, operations: system))
        func flushes() throws -> [String] {
            let before = system.calls.count
            try records.synchronize()
            return system.calls.dropFirst(before).filter { $0.hasPrefix("synchronize") }
        }
        #expect(try flushes() == [])
        let file = try records.file(for: .changeset)
        try [UInt8](repeating: 1, count: 100).withUnsafeBytes { try file.write($0, at: 0) }
        // The file, then its folder.
        #expect(try flushes().count == 2)
        #expect(try scratch.directory.entries() == ["merge-epoch.changeset"])
        // A part has a path once the caller added to it.
        #expect(records.path(of: .changeset) == nil)
        try records.append("lost", to: .parked)
        #expect(records.path(of: .parked) == scratch.directory.path + "/merge-epoch.parked.jsonl")
        #expect(try flushes().count == 3)
    }

    @Test("The name of the next merge's base is flushed before the base is read for its digest")
    func base() throws {
        let places = try Places()
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        let context = try RunContext(
            transaction: RunContext.drawTransaction(),
            old: places.oldStore,
            new: places.newStore,
            settings: RunSettings(),
            surroundings: Surroundings(lockTimeout: .seconds(60))
        )
        let scratch = try ScratchFolder()
        let system = RecordingFileSystem()
        let folder = try Directory.open(path: scratch.path, operations: system)
        var journal = try MigrationJournal(in: folder)

        let pinned = try PinnedStore(context, fencing: false, in: folder, &journal)

        let name = CapturedBase.name(of: context.transaction)
        #expect(pinned.base.name == name)
        let reading = try #require(system.calls.lastIndex { $0.hasPrefix("open \(name) ") })
        let former = system.calls[..<reading].last { $0 == "close" || $0.hasPrefix("synchronize") }
        #expect(former == "synchronize", "\(system.calls)")
    }
}
