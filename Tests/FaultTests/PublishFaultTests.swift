import FaultSupport
import TestSupport
import Testing

@Suite("Publications with a fault at every file call", .sampled, .serialized)
struct PublishFaultTests {
    private static let calls: Set<CallKind> = [.create, .write, .synchronize, .rename, .look]

    @Test(
        "A publication leaves the former snapshot or the new one, and the next one completes it",
        arguments: Tier.oneOrAll(["wal", "delete"]),
        [true, false]
    )
    func publish(_ journalMode: String, replaces: Bool) throws {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        try FaultSweep(PublishJudge(template: template, replaces: replaces)).expectSound(limit: 24, calls: Self.calls)
    }
}

@Suite("The judge of a publication")
struct PublishJudgeTests {
    private static let snapshot = "group/Habits.sqlite"
    private static let wrong = "the snapshot is neither the former nor the new one"

    static let places: [SpoiltPlace] = [
        .store(snapshot, "an object is gone", wrong, "DELETE FROM ZHABIT WHERE Z_PK = 1"),
        .store(
            "old/Habits.sqlite",
            "the store has another value",
            "the store was changed",
            "UPDATE ZHABIT SET Z_OPT = 99"
        ),
        .removed("group/.Habits_SUPPORT/*", "a file is gone", "an external file is missing"),
        .left("group/.store-migrate-publish-1", "something was left beside the snapshot"),
        .left("group/.Habits.sqlite.former-1", "a former snapshot was left"),
        .left("tmp/unpacked", "a temporary file was left"),
    ]

    @Test("The judge has no objection to a correct publication", arguments: ["wal", "delete"], [false, true])
    func right(_ journalMode: String, replaces: Bool) throws {
        try SpoiltPlace.expectContent(Self.judge(journalMode, replaces))
    }

    @Test("The judge objects to every fault of a publication", arguments: places)
    func wrong(_ place: SpoiltPlace) throws {
        try place.expectObjection(of: Self.judge("wal", true))
    }

    private static func judge(_ journalMode: String, _ replaces: Bool) throws -> PublishJudge {
        try PublishJudge(template: HabitTemplate.makeCoreData(journalMode: journalMode), replaces: replaces)
    }
}
