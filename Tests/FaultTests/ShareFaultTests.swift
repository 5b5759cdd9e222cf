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
        try sweep("share, \(template.testDescription)", ShareJudge(template: template), limit: 100)
    }

    @Test("The same where the old store stays writable", arguments: ["wal", "delete"])
    func capture(_ journalMode: String) throws {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        let judge = ShareJudge(template: template, policy: .capture)
        try sweep("capture, \(template.testDescription)", judge, limit: 50)
    }

    @Test("The same where a store at the new place is replaced", arguments: ["wal", "delete"], [false, true])
    func replace(_ journalMode: String, isCoreData: Bool) throws {
        let template =
            try isCoreData
            ? HabitTemplate.makeCoreData(journalMode: journalMode) : HabitTemplate.make(journalMode: journalMode)
        let displaced =
            try isCoreData
            ? HabitTemplate.makeCoreData(journalMode: journalMode, isEmpty: true)
            : HabitTemplate.makeOther(journalMode: journalMode)
        let judge = ShareJudge(template: template, displaced: displaced)
        try sweep("replace, \(template.testDescription)", judge, limit: 50)
    }

    @Test("The same where strategies make another journal, a history, a mode and a group of it")
    func described() throws {
        let template = try HabitTemplate.makeCoreData(journalMode: "wal", tracksHistory: false)
        let judge = ShareJudge(template: template, described: DescribedShare())
        try sweep("described, \(template.testDescription)", judge, limit: 50)
    }

    private func sweep(_ name: String, _ judge: ShareJudge, limit: Int) throws {
        let sweep = FaultSweep(
            name: name,
            command: judge.command,
            prepare: judge.prepare,
            afterFault: judge.afterFault,
            afterRerun: judge.afterRerun
        )
        let summary = try sweep.run(limit: limit)
        #expect(summary.violations.isEmpty, "\(summary.violations.map(\.description).joined(separator: "\n"))")
        #expect(summary.harmed > summary.runs / 2)
        #expect(summary.kinds.isSuperset(of: [.create, .write, .synchronize, .rename, .makeFolder, .lock, .look]))
    }
}
