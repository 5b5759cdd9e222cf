import FaultSupport
import Testing

@Suite("Taking change notices with a fault at every file call", .serialized)
struct RelayFaultTests {
    @Test("Each notice comes, and a full disk is told as one")
    func drain() throws {
        let judge = try RelayDrainJudge(template: HabitTemplate.makeCoreData(journalMode: "wal"))
        try FaultSweep(judge).expectSound(limit: 16, calls: [.create, .write, .synchronize, .lock, .look])
    }
}
