import FaultSupport
import TestSupport
import Testing

@Suite("A member of the group who does what members may", .verify, .serialized)
struct NeighbourTests {
    @Test(
        "The old store and everything outside the container stay untouched, and the outcome is told truly",
        .enabled(if: NeighbourSweep.isPossible, "only root can be another user")
    )
    func share() throws {
        let judge = try ShareJudge(template: HabitTemplate.makeCoreData(journalMode: "wal"))
        let summary = try NeighbourSweep(judge, other: HabitTemplate.makeOther(journalMode: "delete")).run(limit: 40)
        #expect(summary.violations.isEmpty, "\(summary.violations.joined(separator: "\n"))")
        #expect(summary.acts >= 40)
    }
}
