import FaultSupport
import TestSupport
import Testing

@Suite("A power cut at any point of a command", .verify, .serialized)
struct CrashSweepTests {
    @Test("A copy with fsync and rename survives a power cut, a copy in place does not")
    func copies() throws {
        let sound = try CrashSweep(CopyJudge(script: CopyJudge.durable)).run(limit: 60)
        #expect(sound.violations.isEmpty, "\(sound.violations.map(\.description).joined(separator: "\n"))")
        #expect(sound.states > 10)
        let unsound = try CrashSweep(CopyJudge(script: CopyJudge.unsound)).run(limit: 60)
        #expect(unsound.violations.contains { $0.objections.contains("half a file") })
    }

    @Test("A copy that is renamed before its fsync is a violation")
    func unsynchronized() throws {
        var sweep = CrashSweep(CopyJudge(script: CopyJudge.durable))
        sweep.brokenSynchronization = 0
        let summary = try sweep.run(limit: 60)
        #expect(summary.violations.contains { $0.objections.contains("half a file") })
    }

    @Test("After a power cut a share ends in the same two stores and leaves no file", arguments: ["wal", "delete"])
    func share(_ journalMode: String) throws {
        try expectSound(ShareJudge(template: HabitTemplate.makeCoreData(journalMode: journalMode)))
    }

    @Test("After a power cut a retirement ends in one archive and leaves no other file")
    func retire() throws {
        try expectSound(RetireJudge(template: HabitTemplate.makeCoreData(journalMode: "wal")))
    }

    private func expectSound(_ judge: any Judge) throws {
        let summary = try CrashSweep(judge).run(limit: 40, pairs: 8)
        #expect(summary.violations.isEmpty, "\(summary.violations.map(\.description).joined(separator: "\n"))")
        #expect(summary.states >= 40)
        #expect(summary.pairs >= 8)
    }
}
