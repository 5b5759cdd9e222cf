import FaultSupport
import Testing

@Suite("A resumed share with a fault at every file call", .serialized)
struct ResumeFaultTests {
    @Test("It is finished, or taken back", arguments: ResumeJudge.Moment.allCases)
    func resume(_ moment: ResumeJudge.Moment) throws {
        let judge = try ResumeJudge(moment, template: HabitTemplate.makeCoreData(journalMode: "wal"))
        try FaultSweep(judge).expectSound(limit: 15, calls: [.open, .write, .synchronize, .lock, .look])
    }
}
