import Testing

@Suite("A merge with a fault at every file call", .serialized)
struct MergeFaultTests {
    @Test("Both places' changes end in one store, once", arguments: MergeJudge.Kind.allCases, ["wal", "delete"])
    func merge(_ kind: MergeJudge.Kind, journalMode: String) throws {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        let judge = MergeJudge(kind: kind, template: template)
        let sweep = FaultSweep(
            name: "\(kind.rawValue), \(template.testDescription)",
            command: judge.command,
            prepare: judge.prepare,
            afterFault: judge.afterFault,
            afterRerun: judge.afterRerun
        )
        let summary = try sweep.run(limit: 30, isAlone: kind == .unshare)
        #expect(summary.violations.isEmpty, "\(summary.violations.map(\.description).joined(separator: "\n"))")
        #expect(summary.harmed > summary.runs / 2)
        #expect(summary.kinds.isSuperset(of: [.create, .write, .synchronize, .lock, .look]))
    }
}
