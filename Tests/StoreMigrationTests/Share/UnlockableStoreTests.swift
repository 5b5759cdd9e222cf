import SafeFiles
import StoreAccess
import SystemPackage
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Capturing an old store that cannot be locked")
struct UnlockableStoreTests {
    private func makeStore(_ mode: String) throws -> Places {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=\(mode); CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)")
        return places
    }

    private func context(_ places: Places) throws -> RunContext {
        try RunContext(
            transaction: RunContext.drawTransaction(),
            old: places.oldStore,
            new: places.newStore,
            settings: RunSettings(treatment: .capture),
            surroundings: Surroundings(lockTimeout: .seconds(60))
        )
    }

    @Test("A store that SQLite opens only to read is captured while it has no writer")
    func readOnly() throws {
        let places = try makeStore("delete")
        let digest = try places.digest(of: places.oldStore)
        // A format version that SQLite reads, and does not write.
        try places.old.overwrite(places.name, at: 18, [3])
        #expect(try !context(places).canLockOldStore())

        let outcome = try places.share { $0.oldStore = .capture }

        #expect(outcome.outcome == .shared)
        #expect(try places.digest(of: places.newStore) == digest)
        #expect(try places.share { $0.oldStore = .capture }.outcome == .alreadyShared)
    }

    @Test("A store that this user may not open counts as one that cannot be locked")
    func unopened() throws {
        let places = try makeStore("delete")
        let context = try context(places)
        try FilePath(places.oldStore.path).setMode(0)
        try OtherUser.run { () throws in
            let error = #expect(throws: MigrationError.self) { try context.openOldStore() }
            #expect(error?.outcome == .notWritable)
            #expect(error?.path == places.oldStore.path)
            #expect(try !context.canLockOldStore())
        }
    }

    @Test("A store with a writer that holds its lock can be locked later")
    func held() throws {
        let places = try makeStore("delete")
        let writer = try places.old.open()
        try writer.beginWriting(deadline: Deadline(after: .seconds(60)))
        #expect(try context(places).canLockOldStore())
        writer.rollback()
        try writer.close()
    }
}
