import FaultSupport
import TestSupport
import Testing

@Suite("A hostile member of the group", .verify, .serialized)
struct NeighbourTests {
    @Test(
        "The old store and everything outside the container stay unchanged, and the report is true",
        .enabled(if: NeighbourSweep.isPossible, "only root can be another user")
    )
    func share() throws {
        let judge = try ShareJudge(template: HabitTemplate.makeCoreData(journalMode: "wal"))
        let summary = try NeighbourSweep(judge, other: HabitTemplate.makeOther(journalMode: "delete")).run(limit: 40)
        #expect(summary.violations.isEmpty, "\(summary.violations.joined(separator: "\n"))")
        #expect(summary.acts >= 40)
    }
}
