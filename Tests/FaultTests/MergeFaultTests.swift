import FaultSupport
import Testing

@Suite("A merge with a fault at every file call", .serialized)
struct MergeFaultTests {
    @Test("Both places' changes end in one store, once", arguments: MergeJudge.Kind.allCases, ["wal", "delete"])
    func merge(_ kind: MergeJudge.Kind, journalMode: String) throws {
        let judge = try MergeJudge(kind: kind, template: HabitTemplate.makeCoreData(journalMode: journalMode))
        try FaultSweep(judge).expectSound(limit: 15, calls: [.create, .write, .synchronize, .lock, .look])
    }
}
