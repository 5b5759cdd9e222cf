import FaultSupport
import TestSupport
import Testing

@Suite("Backups and restores with a fault at every file call", .sampled, .serialized)
struct BackupFaultTests {
    private static let calls: Set<CallKind> = [.create, .write, .synchronize, .rename, .makeFolder, .look]

    @Test(
        "A backup leaves no archive or a complete one, and the store unchanged",
        arguments: Tier.oneOrAll(["wal", "delete"])
    )
    func backup(_ journalMode: String) throws {
        let judge = try BackupJudge(template: HabitTemplate.makeCoreData(journalMode: journalMode))
        try FaultSweep(judge).expectSound(limit: 24, calls: Self.calls)
    }

    @Test(
        "A restore leaves its destination unchanged, or restores it",
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
        "A restore over an unreadable store leaves it, or restores and keeps the displaced bytes",
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

    @Test("Displaced files are moved back when the fsync of their move fails", .verify)
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
