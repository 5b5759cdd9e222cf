import FaultSupport
import TestSupport
import Testing

@Suite("A merge with a fault at every file call", .sampled, .serialized)
struct MergeFaultTests {
    @Test(
        "The changes of both stores end in one store, once",
        arguments: Tier.oneOrAll(MergeJudge.Kind.allCases),
        Tier.oneOrAll(["wal", "delete"])
    )
    func merge(_ kind: MergeJudge.Kind, journalMode: String) throws {
        let judge = try MergeJudge(kind: kind, template: HabitTemplate.makeCoreData(journalMode: journalMode))
        try FaultSweep(judge).expectSound(limit: 15, calls: [.create, .write, .synchronize, .lock, .look])
    }
}
