import FaultSupport
import TestSupport
import Testing

@Suite("Backups and restores with a fault at every file call", .sampled, .serialized)
struct BackupFaultTests {
    private static let calls: Set<CallKind> = [.create, .write, .synchronize, .rename, .makeFolder, .look]

    @Test(
        "There is no archive, or a whole one, and the store is as it was",
        arguments: Tier.oneOrAll(["wal", "delete"])
    )
    func backup(_ journalMode: String) throws {
        let judge = try BackupJudge(template: HabitTemplate.makeCoreData(journalMode: journalMode))
        try FaultSweep(judge).expectSound(limit: 24, calls: Self.calls)
    }

    @Test(
        "The place is as it was, or as the archive has it",
        arguments: Tier.oneOrAll(["wal", "delete"]),
        Tier.oneOrAll([false, true])
    )
    func restore(_ journalMode: String, replaces: Bool) throws {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        let displaced = replaces ? try HabitTemplate.makeOther(journalMode: journalMode) : nil
        let judge = try RestoreJudge(template: template, displaced: displaced)
        try FaultSweep(judge).expectSound(limit: 20, calls: Self.calls)
    }

    @Test(
        "The same where nobody can read what is at the place, and it is kept aside whole",
        arguments: Tier.oneOrAll(["wal", "delete"])
    )
    func clear(_ journalMode: String) throws {
        let judge = try RestoreJudge(
            template: HabitTemplate.makeCoreData(journalMode: journalMode),
            displaced: HabitTemplate.makeOther(journalMode: journalMode),
            isDamaged: true
        )
        try FaultSweep(judge).expectSound(limit: 16, calls: Self.calls)
    }

    @Test("What was moved aside goes back where the disk does not take note of the move", .verify)
    func putBack() throws {
        let judge = try RestoreJudge(
            template: HabitTemplate.makeCoreData(journalMode: "wal"),
            displaced: HabitTemplate.makeOther(journalMode: "wal"),
            isDamaged: true
        )
        let summary = try FaultSweep(judge).runEvery(.noSpace, at: .synchronize)
        #expect(summary.violations.isEmpty, "\(summary.violations.map(\.description).joined(separator: "\n"))")
        #expect(summary.harmed == summary.runs && summary.runs > 20)
    }
}
