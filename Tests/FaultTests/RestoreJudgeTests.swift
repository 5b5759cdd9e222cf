import FaultSupport
import SafeFiles
import Testing

@Suite("The judge of a restore")
struct RestoreJudgeTests {
    private static let store = "group/Habits.sqlite"
    private static let aside = "group/.store-migrate-aside-*/Habits.sqlite"

    static let places: [SpoiltPlace] = [
        .store(store, "an object is gone", "the restored store differs", "DELETE FROM ZHABIT WHERE ZNAME = 'Run'"),
        .store(store, "an index is there more", "the restored store differs", "CREATE INDEX more ON ZHABIT (ZNAME)"),
        .removed("group/.Habits_SUPPORT/*", "an external file is gone", "an external file is missing"),
        .replaced("group/.Habits_SUPPORT/*", "an external file is another", "an external file is missing"),
        .replaced(BackupJudge.archive, "the archive is another", "the archive differs"),
        .left("group/.store-migrate-1", "something was left beside the store"),
        .left("tmp/unpacked", "a temporary file was left"),
    ]

    static let replacing: [SpoiltPlace] = [
        .removed(aside, "the replaced store is gone", "the replaced store is nowhere"),
        SpoiltPlace("what was replaced is back", "nothing was restored") { scratch in
            let group = try scratch.root.openDirectory("group")
            for name in try group.entries() where name.hasPrefix("Habits.sqlite") { try group.removeFile(name) }
            try HabitTemplate.makeOther(journalMode: "wal").write(into: group)
        },
    ]

    @Test(
        "The judge has no objection to a correct restore",
        arguments: ["wal", "delete"],
        [(false, false), (true, false), (true, true)]
    )
    func right(_ journalMode: String, form: (replaces: Bool, isDamaged: Bool)) throws {
        try SpoiltPlace.expectContent(Self.judge(journalMode, replaces: form.replaces, isDamaged: form.isDamaged))
    }

    @Test("The judge objects to every fault of a restore", arguments: places, [false, true])
    func wrong(_ place: SpoiltPlace, replaces: Bool) throws {
        try place.expectObjection(of: Self.judge("wal", replaces: replaces))
    }

    @Test("The judge objects to every fault of a restore that replaced a store", arguments: replacing)
    func wrongReplacement(_ place: SpoiltPlace) throws {
        try place.expectObjection(of: Self.judge("wal", replaces: true))
    }

    @Test("The judge objects to a damaged store whose bytes were not kept")
    func lostDamage() throws {
        let place = SpoiltPlace.replaced(Self.aside, "the bytes are others", "the replaced store is nowhere")
        try place.expectObjection(of: Self.judge("wal", replaces: true, isDamaged: true))
    }

    @Test("The judge objects to a success without a restored store")
    func nothing() throws {
        let place = SpoiltPlace.removed(Self.store, "nothing is there", "nothing was restored")
        try place.expectObjection(of: Self.judge("wal"))
    }

    private static func judge(
        _ journalMode: String,
        replaces: Bool = false,
        isDamaged: Bool = false
    ) throws -> RestoreJudge {
        try RestoreJudge(
            template: HabitTemplate.makeCoreData(journalMode: journalMode),
            displaced: replaces ? HabitTemplate.makeOther(journalMode: journalMode) : nil,
            isDamaged: isDamaged
        )
    }
}
