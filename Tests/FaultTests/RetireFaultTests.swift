import FaultSupport
import TestSupport
import Testing

@Suite("A retirement with a fault at every file call", .sampled, .serialized)
struct RetireFaultTests {
    @Test(
        "The old store is complete under one name or archived, and a second run finishes the retirement",
        arguments: Tier.oneOrAll(["wal", "delete"]),
        Tier.oneOrAll([false, true])
    )
    func retire(_ journalMode: String, namesFolder: Bool) throws {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        let judge = RetireJudge(template: template, namesFolder: namesFolder)
        // The same steps with another folder for the archive.
        try FaultSweep(judge)
            .expectSound(limit: namesFolder ? 12 : 16, calls: [.create, .write, .synchronize, .rename, .look])
    }

    @Test("After a kill the journal of a sealed store says that it is sealed", .verify, arguments: ["wal", "delete"])
    func seal(_ journalMode: String) throws {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        // A journal entry counts from the next fsync at the latest.
        let sweep = FaultSweep(RetireJudge(template: template))
        let summary = try sweep.runEvery(.killBefore, at: .synchronize)
        #expect(summary.violations.isEmpty, "\(summary.violations.map(\.description).joined(separator: "\n"))")
        #expect(summary.harmed > 0)
    }
}
