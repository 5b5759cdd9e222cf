import FaultSupport
import Foundation
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

@Suite("Partial publications with a fault at every file call", .sampled, .serialized)
struct PartialPublishFaultTests {
    @Test("A partial publication leaves the former snapshot or the new one, and no file of what is left out")
    func publish() throws {
        let template = try HabitTemplate.makeCoreData(journalMode: "wal")
        let judge = try PublishJudge(template: template, replaces: true, isPartial: true)
        try FaultSweep(judge).expectSound(limit: 24, calls: [.create, .write, .synchronize, .rename, .look])
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

    @Test("The judge of a partial publication objects to an external file of what is left out")
    func partial() throws {
        let template = try HabitTemplate.makeCoreData(journalMode: "wal")
        let judge = try PublishJudge(template: template, isPartial: true)
        let (path, bytes) = try #require(template.files.first { $0.key.contains("/") })
        let file = SpoiltPlace("a file of what is left out", "an external file was published") { scratch in
            let url = URL(filePath: scratch.path + "/group/" + path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(bytes).write(to: url)
        }
        try file.expectObjection(of: judge)
    }

    private static func judge(_ journalMode: String, _ replaces: Bool) throws -> PublishJudge {
        try PublishJudge(template: HabitTemplate.makeCoreData(journalMode: journalMode), replaces: replaces)
    }
}
