import FaultSupport
import Testing

@Suite("A retirement with a fault at every file call", .serialized)
struct RetireFaultTests {
    @Test("The old store is whole under one name, and running it again ends it", arguments: ["wal", "delete"])
    func retire(_ journalMode: String) throws {
        let judge = try RetireJudge(template: HabitTemplate.makeCoreData(journalMode: journalMode))
        try FaultSweep(judge).expectSound(limit: 40, calls: [.write, .synchronize, .rename, .look])
    }
}
