import FaultSupport
import TestSupport
import Testing

@Suite("Posting and taking change notices with a fault at every file call", .sampled, .serialized)
struct RelayFaultTests {
    @Test("Each notice is delivered, and a full disk is reported as such")
    func drain() throws {
        let judge = try RelayDrainJudge(template: HabitTemplate.makeCoreData(journalMode: "wal"))
        try FaultSweep(judge).expectSound(limit: 16, calls: [.create, .write, .synchronize, .lock, .look])
    }

    @Test("The first notice creates a relay with the store's permissions, and no other file is left")
    func firstPost() throws {
        let judge = try RelayPostJudge(template: HabitTemplate.makeCoreData(journalMode: "wal"))
        try FaultSweep(judge).expectSound(limit: 16, calls: [.create, .write, .rename, .remove, .lock])
    }
}
