import FaultSupport
import SafeFiles
import Testing

@Suite("The judge of a migration")
struct MigrateJudgeTests {
    private static let store = "group/Habits.sqlite"
    private static let aside = "group/.store-migrate-aside-*/Habits.sqlite"
    private static let wrong = "the store is neither the former nor the migrated one"

    static let places: [SpoiltPlace] = [
        .store(store, "an object is gone", wrong, "DELETE FROM ZHABIT WHERE ZNAME = 'Run'"),
        .store(store, "a value is another", wrong, "UPDATE ZHABIT SET ZNAME = 'Walk' WHERE Z_PK = 1"),
        .store(store, "an index is there more", wrong, "CREATE INDEX more ON ZHABIT (ZNAME)"),
        .removed(aside, "the former store is gone", "the former store is nowhere"),
        .left("group/.store-migrate-1", "something was left beside the store"),
        .left("tmp/unpacked", "a temporary file was left"),
    ]

    @Test("The judge has no objection to a correct migration", arguments: ["wal", "delete"], [false, true])
    func right(_ journalMode: String, removesPicture: Bool) throws {
        try SpoiltPlace.expectContent(Self.judge(journalMode, removesPicture))
    }

    @Test("The judge objects to every fault of a migration", arguments: places)
    func wrong(_ place: SpoiltPlace) throws {
        try place.expectObjection(of: Self.judge("wal", false))
    }

    @Test("The judge objects to a lost external file that the migrated store refers to")
    func lostFile() throws {
        let place = SpoiltPlace.removed("group/.Habits_SUPPORT/*", "a file is gone", "an external file is missing")
        try place.expectObjection(of: Self.judge("wal", false))
    }

    private static func judge(_ journalMode: String, _ removesPicture: Bool) throws -> MigrateJudge {
        try MigrateJudge(
            template: HabitTemplate.makeCoreData(journalMode: journalMode),
            removesPicture: removesPicture
        )
    }
}
