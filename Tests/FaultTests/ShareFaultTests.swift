import FaultSupport
import TestSupport
import Testing

@Suite("A share with a fault at every file call", .sampled, .serialized)
struct ShareFaultTests {
    @Test(
        "It ends in the same two stores, and nothing is lost or left behind",
        arguments: Tier.oneOrAll(["wal", "delete"]),
        Tier.oneOrAll([false, true])
    )
    func share(_ journalMode: String, isCoreData: Bool) throws {
        let template =
            try isCoreData
            ? HabitTemplate.makeCoreData(journalMode: journalMode) : HabitTemplate.make(journalMode: journalMode)
        try expectSound(ShareJudge(template: template), limit: 40)
    }

    @Test("The same where the old store stays writable", arguments: Tier.oneOrAll(["wal", "delete"]))
    func capture(_ journalMode: String) throws {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        let judge = ShareJudge(template: template, policy: .capture)
        try expectSound(judge, limit: 20)
    }

    @Test("The same where a backup is made first", arguments: Tier.oneOrAll(["wal", "delete"]))
    func backup(_ journalMode: String) throws {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        try expectSound(ShareJudge(template: template, backsUp: true), limit: 16)
    }

    @Test(
        "The same where a store at the new place is replaced",
        arguments: Tier.oneOrAll(["wal", "delete"]),
        Tier.oneOrAll([false, true])
    )
    func replace(_ journalMode: String, isCoreData: Bool) throws {
        let template =
            try isCoreData
            ? HabitTemplate.makeCoreData(journalMode: journalMode) : HabitTemplate.make(journalMode: journalMode)
        let displaced =
            try isCoreData
            ? HabitTemplate.makeCoreData(journalMode: journalMode, isEmpty: true)
            : HabitTemplate.makeOther(journalMode: journalMode)
        let judge = ShareJudge(template: template, displaced: displaced)
        try expectSound(judge, limit: 20)
    }

    @Test("The same where strategies make another journal, a history, a mode and a group of it")
    func described() throws {
        let template = try HabitTemplate.makeCoreData(journalMode: "wal", tracksHistory: false)
        let judge = ShareJudge(template: template, described: DescribedShare())
        try expectSound(judge, limit: 20)
    }

    private func expectSound(_ judge: ShareJudge, limit: Int) throws {
        try FaultSweep(judge)
            .expectSound(limit: limit, calls: [.create, .write, .synchronize, .rename, .makeFolder, .lock, .look])
    }

    @Test("What came of a replacement that the disk refused to commit is looked at, and not guessed", .verify)
    func refusedCommit() throws {
        let judge = try ShareJudge(
            template: HabitTemplate.makeCoreData(journalMode: "wal"),
            displaced: HabitTemplate.makeCoreData(journalMode: "wal", isEmpty: true)
        )
        let summary = try FaultSweep(judge).runEvery(.inputOutputError, at: .synchronize)
        #expect(summary.violations.isEmpty, "\(summary.violations.map(\.description).joined(separator: "\n"))")
        #expect(summary.harmed == summary.runs && summary.runs > 20)
    }
}
