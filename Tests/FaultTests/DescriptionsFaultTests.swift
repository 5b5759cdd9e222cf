import FaultSupport
import TestSupport
import Testing

@Suite("Descriptions with a fault at every call on their file", .sampled, .serialized)
struct DescriptionsFaultTests {
    @Test("They are written before anything is shared, or it is told that the store is shared and they are missing")
    func descriptions() throws {
        let judge = try DescriptionsJudge(template: HabitTemplate.make(journalMode: "wal"))
        try FaultSweep(judge).expectSound(limit: 16, calls: [.create, .write, .synchronize, .rename])
    }
}
