import Testing

@Suite("A share with a fault at every file call", .serialized)
struct ShareFaultTests {
    @Test(
        "It ends in the same two stores, and nothing is lost or left behind",
        arguments: ["wal", "delete"],
        [false, true]
    )
    func share(_ journalMode: String, isCoreData: Bool) throws {
        let template =
            try isCoreData
            ? HabitTemplate.makeCoreData(journalMode: journalMode) : HabitTemplate.make(journalMode: journalMode)
        let judge = ShareJudge(template: template)
        let sweep = FaultSweep(
            name: "share, \(template.testDescription)",
            command: judge.command,
            prepare: judge.prepare,
            afterFault: judge.afterFault,
            afterRerun: judge.afterRerun
        )
        let summary = try sweep.run(limit: 100)
        #expect(summary.violations.isEmpty, "\(summary.violations.map(\.description).joined(separator: "\n"))")
        #expect(summary.harmed > summary.runs / 2)
        #expect(summary.kinds.isSuperset(of: [.create, .write, .synchronize, .rename, .makeFolder, .lock, .look]))
    }
}
