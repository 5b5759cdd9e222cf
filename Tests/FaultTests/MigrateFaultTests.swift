import FaultSupport
import TestSupport
import Testing

@Suite("Migrations with a fault at every file call", .sampled, .serialized)
struct MigrateFaultTests {
    private static let calls: Set<CallKind> = [.create, .write, .synchronize, .makeFolder, .look]

    @Test(
        "A migration leaves the former store, or the migrated one and a copy of the former",
        arguments: Tier.oneOrAll(["wal", "delete"]),
        Tier.oneOrAll([false, true])
    )
    func migrate(_ journalMode: String, removesPicture: Bool) throws {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        let judge = try MigrateJudge(template: template, removesPicture: removesPicture)
        try FaultSweep(judge).expectSound(limit: 24, calls: Self.calls)
    }
}
