import SafeFiles
import StoreAccess
import StoreVerification
import Synchronization
import TestSupport
import Testing

@testable import StoreMigration

@Suite("A copy in the staging folder")
struct StagedCopyTests {
    private func context(_ places: Places, _ settings: RunSettings = RunSettings()) throws -> RunContext {
        try RunContext(
            transaction: RunContext.drawTransaction(),
            old: places.oldStore,
            new: places.newStore,
            settings: settings,
            surroundings: Surroundings(lockTimeout: .seconds(60))
        )
    }

    /// Writers that leave no quiet interval prevent the proof before the lock.
    @Test("A completed copy that was not proved before is proved, even at a level without the content")
    func unproved() throws {
        let places = try Places()
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        let context = try context(places, RunSettings(level: .sqlite))
        let staging = try StagingFolder(creating: context.transaction, in: context.container)
        let copy = try StagedCopy(context, staging: staging, mode: 0o600)
        try copy.build()
        let lock = try context.openOldStore()
        try lock.beginWriting(deadline: context.lockDeadline())
        try copy.complete(under: lock)
        lock.rollback()
        try lock.close()
        #expect(copy.proof == nil && !copy.changedSinceProof)

        try copy.proveCompleted()

        #expect(copy.proof?.report.passed == true)
        try copy.closeSource()
    }

    @Test("External files to which no row refers are removed from the staged ones, and not published")
    func discarded() throws {
        let places = try Places()
        for name in ["KEPT", "ORPHAN"] { try places.writeExternalFile(name, 1, count: 10, in: places.old) }
        let source = try #require(try places.old.directory.externalData(of: places.oldStore))
        let staging = try places.container.directory.createDirectory("staging", mode: 0o700)
        let external = try StagedExternalFiles(source: source, staging: staging, group: source.status().group)
        #expect(try external.update(monitor: .silent))
        #expect(external.count == 2)

        try external.discard(["ORPHAN"])

        #expect(Array(external.identities.names) == ["KEPT"])
        #expect(try staging.openDirectory(StagingFolder.externalName).entries() == ["KEPT"])
        try external.publish(to: places.newStore, in: places.container.directory) { name, _ in
            Issue.record("\(name) was in the way")
        }
        #expect(try places.externalFiles(in: places.container.directory) == ["KEPT": 1])
    }

    @Test("The staging folder names its run and the old store until the run ends")
    func origin() throws {
        let places = try Places()
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        let container = try Directory.open(path: places.container.path)
        let found = Mutex([Receipt.Origin]())
        let outcome = try places.share(onProgress: { progress in
            guard progress.phase == .proving else { return }
            do {
                let origins = try StagingOrigin.all(in: container)
                found.withLock { $0 += origins }
            } catch {
                Issue.record(error)
            }
        })
        let transaction = try #require(outcome.transaction)
        let expected = Receipt.Origin(transaction: transaction, old: places.oldStore.path)
        #expect(Set(found.withLock { $0 }) == [expected])
        #expect(try StagingOrigin.all(in: container) == [])
    }
}
