import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("A share that was killed while it replaced the new store's content")
struct InterruptedReplacementTests {
    /// Both places with a store and an external file of the same name, before the transaction that replaces the content.
    private func interrupted() throws -> (places: Places, digest: String) {
        let places = try Places()
        for (folder, value) in [(places.old, UInt8(1)), (places.container, 2)] {
            try folder.makeStore("PRAGMA journal_mode = delete; CREATE TABLE t (x); INSERT INTO t VALUES (\(value))")
            try places.writeExternalFile("blob", value, count: 1000, in: folder)
        }
        let former = try places.container.bytes(places.name)
        let digest = try places.digest(of: places.newStore)
        try places.share { $0.onBoth = .keepOld }
        let replacing = try #require(
            places.records().firstIndex { record in if case .replacing = record { true } else { false } }
        )
        try FenceWriter.lift(from: places.oldStore, lockTimeout: .seconds(60))
        try places.container.directory.removeFile(ReceiptFile.receiptName(for: places.name))
        try places.container.overwrite(places.name, at: 0, former)
        // Cut and not written again: the records of a complete run lack the names of external files.
        let folder = try places.journalFolder()
        let lines = try folder.contents(of: MigrationJournal.name, limit: 1 << 20).split(separator: UInt8(ascii: "\n"))
        let journal = try folder.openFile(MigrationJournal.name, for: .writing)
        try journal.truncate(to: Int64(lines[...replacing].reduce(0) { $0 + $1.count + 1 }))
        try journal.close()
        return (places, digest)
    }

    @Test("A rollback gives the new store its own external file back, which the run had displaced")
    func externalFile() throws {
        let (places, digest) = try interrupted()
        #expect(try places.externalFiles(in: places.container.directory) == ["blob": 1])

        #expect(try Recovery(of: places.oldStore.url).resumeAndWait().outcome == .rolledBack)

        #expect(try places.externalFiles(in: places.container.directory) == ["blob": 2])
        #expect(try places.digest(of: places.newStore) == digest)
        #expect(try places.externalFiles(in: places.old.directory) == ["blob": 1])
        #expect(try places.container.directory.entries().allSatisfy { !$0.hasPrefix(DisplacedFiles.prefix) })
    }

    @Test("A share that recovers the run and keeps the old store's content ends like one that was not killed")
    func again() throws {
        let (places, _) = try interrupted()

        #expect(try places.share { $0.onBoth = .keepOld }.outcome == .shared)

        #expect(try places.externalFiles(in: places.container.directory) == ["blob": 1])
        #expect(try places.digest(of: places.newStore) == places.digest(of: places.oldStore))
        #expect(try places.isFenced(places.oldStore))
    }
}
