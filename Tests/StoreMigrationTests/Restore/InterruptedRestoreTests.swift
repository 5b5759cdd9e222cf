import Foundation
import SafeFiles
import StoreAccess
import StoreBackup
import TestSupport
import Testing

@testable import StoreMigration

@Suite("An interrupted restore")
struct InterruptedRestoreTests {
    @Test(
        "resume rolls an interrupted restore back before publication, and finishes it after",
        arguments: [false, true]
    )
    func resume(isInPlace: Bool) throws {
        let (world, archive) = try interrupted(isInPlace: isInPlace)
        let recovery = Recovery(of: world.restored.url)

        #expect(try recovery.resumeAndWait().outcome == (isInPlace ? .restored : .rolledBack))

        #expect(try world.place.directory.entries() == (isInPlace ? [world.name] : []))
        #expect(try recovery.resumeAndWait().outcome == .done)
        #expect(try world.restore(archive).outcome == .restored)
        #expect(try world.digest(of: world.restored) == world.digest(of: world.store))
    }

    @Test("A restore recovers an interrupted restore first", arguments: [false, true])
    func again(isInPlace: Bool) throws {
        let (world, archive) = try interrupted(isInPlace: isInPlace)
        let outcome = try world.restore(archive)
        #expect((outcome.transaction == nil) == isInPlace)
        #expect(try world.place.directory.entries() == [world.name])
        #expect(try world.digest(of: world.restored) == world.digest(of: world.store))
    }

    @Test("abort rolls an interrupted restore back only before publication", arguments: [false, true])
    func abort(isInPlace: Bool) throws {
        let (world, _) = try interrupted(isInPlace: isInPlace)
        let recovery = Recovery(of: world.restored.url)
        if isInPlace {
            let error = #expect(throws: MigrationError.self) { try recovery.abortAndWait() }
            #expect(error?.outcome == .needsDecision)
        } else {
            #expect(try recovery.abortAndWait().outcome == .rolledBack)
            #expect(try world.place.directory.entries().isEmpty)
        }
    }

    @Test("Recovery of a restore fails when the published file differs from the backup")
    func damaged() throws {
        let (world, _) = try interrupted(isInPlace: true, digest: String(repeating: "0", count: 64))
        let error = #expect(throws: MigrationError.self) { try Recovery(of: world.restored.url).resumeAndWait() }
        #expect(error?.outcome == .verificationFailed)
        #expect(try world.digest(of: world.restored) == world.digest(of: world.store))
    }

    /// The destination after a killed restore: with its staging folder, with or without the restored store.
    private func interrupted(isInPlace: Bool, digest: String? = nil) throws -> (RestoreWorld, archive: URL) {
        let world = try RestoreWorld()
        try world.stores.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1), ('two')")
        let archive = try world.backUp()
        if isInPlace { try world.restore(archive) }
        let folder = world.place.directory
        let digest = try digest ?? world.digest(of: world.store)
        try StateFolder(of: world.restored, stateFolder: nil)
            .withJournal(deadline: Deadline(after: .seconds(60))) { journal in
                let transaction = RunContext.drawTransaction()
                try journal.append(
                    .begin(
                        JournalRecord.RunIdentity(
                            transaction: transaction,
                            old: world.restored,
                            oldIdentity: folder.status().identity,
                            new: world.restored,
                            policy: .capture,
                            restores: digest
                        )
                    )
                )
                try journal.append(.nest(StagingFolder(creating: transaction, in: folder).identity))
                guard isInPlace, let status = try folder.status(of: world.name) else { return }
                try journal.append(
                    .publishing(
                        JournalRecord.Publication(
                            main: status.identity,
                            externalFiles: [:],
                            oldToken: folder.token(of: world.name),
                            digest: digest,
                            size: status.size,
                            modified: status.modified
                        )
                    )
                )
            }
        return (world, archive)
    }
}
