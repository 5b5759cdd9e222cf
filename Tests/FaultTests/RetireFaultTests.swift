import FaultSupport
import TestSupport
import Testing

@Suite("A retirement with a fault at every file call", .sampled, .serialized)
struct RetireFaultTests {
    @Test(
        "The old store is whole under one name or in an archive, and running it again ends it",
        arguments: Tier.oneOrAll(["wal", "delete"]),
        Tier.oneOrAll([false, true])
    )
    func retire(_ journalMode: String, namesFolder: Bool) throws {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        let judge = RetireJudge(template: template, namesFolder: namesFolder)
        // The same steps in another folder; what differs is only where the archive goes.
        try FaultSweep(judge)
            .expectSound(limit: namesFolder ? 12 : 16, calls: [.create, .write, .synchronize, .rename, .look])
    }

    @Test("Whenever it is killed, the journal tells of a store that is sealed", .verify, arguments: ["wal", "delete"])
    func seal(_ journalMode: String) throws {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        // What is written counts at the next synchronization at the latest.
        let sweep = FaultSweep(RetireJudge(template: template))
        let summary = try sweep.runEvery(.killBefore, at: .synchronize)
        #expect(summary.violations.isEmpty, "\(summary.violations.map(\.description).joined(separator: "\n"))")
        #expect(summary.harmed > 0)
    }
}
