import Testing

@Suite("Backups and restores with a fault at every file call", .serialized)
struct BackupFaultTests {
    @Test("There is no archive, or a whole one, and the store is as it was", arguments: ["wal", "delete"])
    func backup(_ journalMode: String) throws {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        let judge = BackupJudge(template: template)
        let sweep = FaultSweep(
            name: "backup, \(template.testDescription)",
            command: judge.command,
            prepare: judge.prepare,
            afterFault: judge.afterFault,
            afterRerun: judge.afterRerun
        )
        try expectSound(sweep.run(limit: 60))
    }

    @Test("The place is as it was, or as the archive has it", arguments: ["wal", "delete"], [false, true])
    func restore(_ journalMode: String, replaces: Bool) throws {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        let displaced = replaces ? try HabitTemplate.makeOther(journalMode: journalMode) : nil
        let judge = try RestoreJudge(template: template, displaced: displaced)
        let sweep = FaultSweep(
            name: "restore, \(template.testDescription)\(replaces ? ", replacing" : "")",
            command: judge.command,
            prepare: judge.prepare,
            afterFault: judge.afterFault,
            afterRerun: judge.afterRerun
        )
        try expectSound(sweep.run(limit: 50))
    }

    private func expectSound(_ summary: FaultSweep.Summary) {
        #expect(summary.violations.isEmpty, "\(summary.violations.map(\.description).joined(separator: "\n"))")
        #expect(summary.harmed > summary.runs / 2)
        #expect(summary.kinds.isSuperset(of: [.create, .write, .synchronize, .rename, .makeFolder, .look]))
    }
}
