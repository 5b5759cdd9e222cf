import FaultSupport
import SafeFiles
import Testing

@Suite("The judge of a retirement")
struct RetireJudgeTests {
    private static let new = "group/Habits.sqlite"

    /// Faults of a retirement, for any folder of the archive.
    private static func places(_ archive: String) -> [SpoiltPlace] {
        [
            .removed(archive, "there is no archive", "the old store is nowhere"),
            .replaced(archive, "half an archive is there", "the archive is not whole") {
                Array($0.prefix($0.count / 2))
            },
            .copied(archive, "2.tar.zst", "there are two archives", "2 archives"),
            .store(new, "the shared store has lost an object", "the shared store differs", "DELETE FROM ZHABIT"),
            .store(
                new,
                "the shared store is fenced",
                "the shared store differs",
                "CREATE TRIGGER fence BEFORE DELETE ON ZHABIT BEGIN SELECT RAISE(ABORT, 'store moved'); END"
            ),
            .removed("group/.Habits_SUPPORT/*", "an external file of the shared store is gone", "an external file of"),
            SpoiltPlace("the old store is there still", "the old folder holds") { scratch in
                let bytes = try scratch.root.openDirectory("group").contents(of: "Habits.sqlite", limit: 1 << 24)
                try scratch.root.openDirectory("old").replace("Habits.sqlite", with: bytes, mode: 0o600)
            },
            SpoiltPlace("another store is there under the retired name", "the old store differs") { scratch in
                try PlainStore(scratch.path + "/old/Habits.sqlite.retired-1").execute("CREATE TABLE other (id)")
            },
            .left("group/Habits.sqlite.retired-1", "something was left beside the shared store"),
            .left("tmp/copy", "a temporary file was left"),
        ]
    }

    static let unnamed = places("old/.store-migrate/Habits.sqlite/*.tar.zst")
    static let named = places("archives/*.tar.zst")

    private static func judge(_ journalMode: String = "wal", namesFolder: Bool) throws -> RetireJudge {
        try RetireJudge(template: HabitTemplate.makeCoreData(journalMode: journalMode), namesFolder: namesFolder)
    }

    @Test("The judge has no objection to a correct retirement", arguments: ["wal", "delete"], [false, true])
    func right(_ journalMode: String, namesFolder: Bool) throws {
        try SpoiltPlace.expectContent(Self.judge(journalMode, namesFolder: namesFolder))
    }

    @Test("The judge objects to every fault of a retirement", arguments: unnamed)
    func wrong(_ place: SpoiltPlace) throws { try place.expectObjection(of: Self.judge(namesFolder: false)) }

    @Test("The judge objects to every fault of a retirement with an archive folder of the caller", arguments: named)
    func wrongInNamedFolder(_ place: SpoiltPlace) throws {
        try place.expectObjection(of: Self.judge(namesFolder: true))
    }

    @Test(
        "The judge objects to an old store that lost something before it was archived",
        arguments: [
            .removed("old/.Habits_SUPPORT/*", "an external file is gone", "an external file of the old store"),
            .removed("old/Habits.sqlite", "the old store is gone", "the old store is nowhere"),
            SpoiltPlace("the old store is sealed without a journal entry", "its journal does not say so") { scratch in
                try PlainStore(scratch.path + "/old/Habits.sqlite").execute("PRAGMA journal_mode = delete")
                let file = try scratch.root.openDirectory("old").openFile("Habits.sqlite", for: .writing)
                try withUnsafeBytes(of: UInt8(3)) { try file.write($0, at: 18) }
                try file.close()
            },
            SpoiltPlace("the old store left its name", "it was renamed before it was archived") { scratch in
                try PlainStore(scratch.path + "/old/Habits.sqlite").execute("PRAGMA journal_mode = delete")
                let old = try scratch.root.openDirectory("old")
                try old.move("Habits.sqlite", to: "Habits.sqlite.retired-1", in: old)
            },
        ] as [SpoiltPlace]
    )
    func early(_ place: SpoiltPlace) throws { try place.expectObjectionBefore(Self.judge(namesFolder: false)) }
}
