import FaultSupport
import TestSupport
import Testing

@Suite("Descriptions with a fault at every call on their file", .sampled, .serialized)
struct DescriptionsFaultTests {
    @Test("Descriptions are written before the share, or the error says that the store is shared without them")
    func descriptions() throws {
        let judge = try DescriptionsJudge(template: HabitTemplate.make(journalMode: "wal"))
        try FaultSweep(judge).expectSound(limit: 16, calls: [.create, .write, .synchronize, .rename])
    }
}
