import FaultSupport
import TestSupport
import Testing

@Suite("Faults that every program has to retry", .verify, .serialized)
struct MendingTests {
    @Test("Interrupted calls and short transfers have no effect on the result", arguments: ["wal", "delete"])
    func mending(_ journalMode: String) throws {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        let judges: [any Judge] = [ShareJudge(template: template), BackupJudge(template: template)]
        for judge in judges {
            let objections = try FaultSweep(judge).objectionsToMending()
            #expect(objections.isEmpty, "\(judge.name): \(objections)")
        }
    }

    @Test("A full disk at one write is reported at that write, not by the proof")
    func fullDisk() throws {
        let judge = try BackupJudge(template: HabitTemplate.makeCoreData(journalMode: "wal"))
        let summary = try FaultSweep(judge).runEvery(.noSpace, at: .write)
        #expect(summary.violations.isEmpty, "\(summary.violations.map(\.description).joined(separator: "\n"))")
        #expect(summary.harmed == summary.runs && summary.runs > 0)
    }
}
