import StoreAccess
import StoreFixtures
import StoreStrategies
import SystemPackage
import TestSupport
import Testing

@testable import StoreMigration

/// Other programs may have the new store open: a share replaces its content, and never its journal mode or its mode.
@Suite("Strategies and a new store whose content is replaced")
struct OccupantFitTests {
    /// What the new store has, what strategies require, and the refusal; nil if the share succeeds.
    struct Occupant: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let journalMode: String
        let mode: UInt32
        let strategy: String
        var refusal: String?
        var remedy = ""

        static let all = [
            Self(
                testDescription: "a log, where a strategy requires a rollback journal",
                journalMode: "wal",
                mode: 0o644,
                strategy: "RollbackJournal",
                refusal: "is in write-ahead log mode",
                remedy: "PRAGMA journal_mode=DELETE"
            ),
            Self(
                testDescription: "a rollback journal, as a strategy requires",
                journalMode: "delete",
                mode: 0o644,
                strategy: "RollbackJournal"
            ),
            Self(
                testDescription: "a log, as a strategy requires",
                journalMode: "wal",
                mode: 0o644,
                strategy: "WriteAheadLog"
            ),
            Self(
                testDescription: "the mode that a strategy requires",
                journalMode: "delete",
                mode: 0o660,
                strategy: "SharedAccess:mode=0660"
            ),
            Self(
                testDescription: "another mode than a strategy requires",
                journalMode: "delete",
                mode: 0o644,
                strategy: "SharedAccess:mode=0660",
                refusal: "has the mode 0644",
                remedy: "chmod 0660"
            ),
        ]
    }

    @Test("The new store must have the journal mode and the mode that strategies require", arguments: Occupant.all)
    func fit(_ occupant: Occupant) throws {
        let world = try DescribedWorld(mode: "delete")
        let places = world.places
        try places.build("clean", at: places.newStore)
        let program = try places.container.open(places.name)
        try program.execute("PRAGMA journal_mode=\(occupant.journalMode); DELETE FROM ZNOTE WHERE Z_PK = 1")
        try program.close()
        try FilePath(places.newStore.path).setMode(occupant.mode)
        let before = try places.digest(of: places.newStore)

        let result = Result { try world.share([occupant.strategy]) { $0.onBoth = .keepOld } }

        guard let refusal = occupant.refusal else {
            #expect(try result.get().outcome == .shared)
            return
        }
        let error = #expect(throws: MigrationError.self) { try result.get() }
        #expect(error?.outcome == .needsDecision)
        #expect(error?.message.contains(refusal) == true, "\(error?.message ?? "")")
        #expect(error?.advice.contains(occupant.remedy) == true, "\(error?.advice ?? "")")
        #expect(error?.path == places.newStore.path)
        #expect(try places.digest(of: places.newStore) == before)
        #expect(try !places.isFenced(places.oldStore))
    }
}
