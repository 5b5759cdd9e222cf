import Testing

@Suite("A retirement with a fault at every file call", .serialized)
struct RetireFaultTests {
    @Test("The old store is whole under one name, and running it again ends it", arguments: ["wal", "delete"])
    func retire(_ journalMode: String) throws {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        let judge = RetireJudge(template: template)
        let sweep = FaultSweep(
            name: "retire, \(template.testDescription)",
            command: judge.command,
            prepare: judge.prepare,
            afterFault: judge.afterFault,
            afterRerun: judge.afterRerun
        )
        let summary = try sweep.run(limit: 40, isAlone: true)
        #expect(summary.violations.isEmpty, "\(summary.violations.map(\.description).joined(separator: "\n"))")
        #expect(summary.harmed > summary.runs / 2)
        #expect(summary.kinds.isSuperset(of: [.write, .synchronize, .rename, .look]))
    }
}
