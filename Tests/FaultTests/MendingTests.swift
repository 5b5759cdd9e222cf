import FaultSupport
import TestSupport
import Testing

@Suite("What every program has to mend by itself", .verify, .serialized)
struct MendingTests {
    @Test("Calls that are interrupted, or move half of what they are to, change nothing", arguments: ["wal", "delete"])
    func mending(_ journalMode: String) throws {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        let judges: [any Judge] = [ShareJudge(template: template), BackupJudge(template: template)]
        for judge in judges {
            let objections = try FaultSweep(judge).objectionsToMending()
            #expect(objections.isEmpty, "\(judge.name): \(objections)")
        }
    }

    @Test("A disk that is full for one write is noticed there, and not by the proof")
    func fullDisk() throws {
        let judge = try BackupJudge(template: HabitTemplate.makeCoreData(journalMode: "wal"))
        let summary = try FaultSweep(judge).runEvery(.noSpace, at: .write)
        #expect(summary.violations.isEmpty, "\(summary.violations.map(\.description).joined(separator: "\n"))")
        #expect(summary.harmed == summary.runs && summary.runs > 0)
    }
}
