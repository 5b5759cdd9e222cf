import FaultSupport
import TestSupport
import Testing

@Suite("A share with a fault at every file call", .sampled, .serialized)
struct ShareFaultTests {
    @Test(
        "A share ends in the same two stores and leaves no file",
        arguments: Tier.oneOrAll(["wal", "delete"]),
        Tier.oneOrAll([false, true])
    )
    func share(_ journalMode: String, isCoreData: Bool) throws {
        let template =
            try isCoreData
            ? HabitTemplate.makeCoreData(journalMode: journalMode) : HabitTemplate.make(journalMode: journalMode)
        try expectSound(ShareJudge(template: template), limit: 40)
    }

    @Test("A capture ends in the same two stores and leaves no file", arguments: Tier.oneOrAll(["wal", "delete"]))
    func capture(_ journalMode: String) throws {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        let judge = ShareJudge(template: template, policy: .capture)
        try expectSound(judge, limit: 20)
    }

    @Test(
        "A share with a backup ends in the same two stores and one archive",
        arguments: Tier.oneOrAll(["wal", "delete"])
    )
    func backup(_ journalMode: String) throws {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        try expectSound(ShareJudge(template: template, backsUp: true), limit: 16)
    }

    @Test(
        "A share that replaces a store keeps the displaced one",
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

    @Test("A share with strategies ends in the described store and leaves no file")
    func described() throws {
        let template = try HabitTemplate.makeCoreData(journalMode: "wal", tracksHistory: false)
        let judge = ShareJudge(template: template, described: DescribedShare())
        try expectSound(judge, limit: 20)
    }

    @Test(
        "A share that migrates its copy ends in the old store and the migrated one",
        arguments: Tier.oneOrAll(["wal", "delete"]),
        Tier.oneOrAll([ShareJudge.OldPolicy.fence, .capture])
    )
    func migrate(_ journalMode: String, _ policy: ShareJudge.OldPolicy) throws {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        for removesPicture in [false, true] {
            let migration = try MigrateJudge(template: template, removesPicture: removesPicture)
            try expectSound(ShareJudge(template: template, policy: policy, migration: migration), limit: 20)
        }
    }

    @Test("A share that replaces a store by a migrated copy keeps the displaced one")
    func migrateAndReplace() throws {
        let template = try HabitTemplate.makeCoreData(journalMode: "wal")
        let displaced = try HabitTemplate.makeCoreData(journalMode: "wal", isEmpty: true)
        let migration = try MigrateJudge(template: template)
        try expectSound(ShareJudge(template: template, displaced: displaced, migration: migration), limit: 20)
    }

    private func expectSound(_ judge: ShareJudge, limit: Int) throws {
        try FaultSweep(judge)
            .expectSound(limit: limit, calls: [.create, .write, .synchronize, .rename, .makeFolder, .lock, .look])
    }

    @Test("After a failed commit of a replacement the share inspects which store is there", .verify)
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
