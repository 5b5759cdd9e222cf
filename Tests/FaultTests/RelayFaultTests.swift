import FaultSupport
import TestSupport
import Testing

@Suite("Posting and taking change notices with a fault at every file call", .sampled, .serialized)
struct RelayFaultTests {
    @Test("Each notice comes, and a full disk is told as one")
    func drain() throws {
        let judge = try RelayDrainJudge(template: HabitTemplate.makeCoreData(journalMode: "wal"))
        try FaultSweep(judge).expectSound(limit: 16, calls: [.create, .write, .synchronize, .lock, .look])
    }

    @Test("The first notice comes into a relay that is made for it, with the store's rights, and nothing stays behind")
    func firstPost() throws {
        let judge = try RelayPostJudge(template: HabitTemplate.makeCoreData(journalMode: "wal"))
        try FaultSweep(judge).expectSound(limit: 16, calls: [.create, .write, .rename, .remove, .lock])
    }
}
