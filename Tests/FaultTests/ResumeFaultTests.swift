import FaultSupport
import TestSupport
import Testing

@Suite("A resumed share with a fault at every file call", .sampled, .serialized)
struct ResumeFaultTests {
    @Test("The share is finished or rolled back", arguments: Tier.oneOrAll(ResumeJudge.Moment.allCases))
    func resume(_ moment: ResumeJudge.Moment) throws {
        let judge = try ResumeJudge(moment, template: HabitTemplate.makeCoreData(journalMode: "wal"))
        try FaultSweep(judge).expectSound(limit: 15, calls: [.open, .write, .synchronize, .lock, .look])
    }
}
