import FaultSupport
import SafeFiles
import Testing

@Suite("The judge of a resumed share")
struct ResumeJudgeTests {
    private static let old = "old/Habits.sqlite"
    private static let new = "group/Habits.sqlite"
    private static let deleted = "DELETE FROM ZHABIT WHERE ZNAME = 'Run'"

    /// Faults of a share that was finished.
    static let finished: [SpoiltPlace] = [
        .store(new, "the new store has lost an object", "the new store differs", deleted),
        .store(
            old,
            "the old store takes writes",
            "the old store takes writes to ZHABIT",
            """
            PRAGMA writable_schema = 1;
            DELETE FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'ZHABIT';
            """
        ),
        .removed("old/.Habits_SUPPORT/*", "an external file of old is gone", "an external file of the old store"),
        .replaced("group/.Habits_SUPPORT/*", "an external file of new is another", "an external file of the new store"),
        .replaced("group/.Habits.sqlite.store-migrate.json", "half a receipt is there", "half a receipt"),
        .left("group/.store-migrate-1", "a staging was left"),
        .left("tmp/copy", "a temporary file was left"),
    ]

    /// Faults of a share that was rolled back.
    static let takenBack: [SpoiltPlace] = [
        .store(old, "the old store has lost an object", "the old store differs", deleted),
        .store(
            old,
            "the old store is fenced",
            "the old store differs",
            "CREATE TRIGGER fence BEFORE DELETE ON ZHABIT BEGIN SELECT RAISE(ABORT, 'store moved'); END"
        ),
        .removed("old/.Habits_SUPPORT/*", "an external file is gone", "an external file is missing"),
        SpoiltPlace("the new store is there", "a share that was not published appeared") { scratch in
            let bytes = try scratch.root.openDirectory("old").contents(of: "Habits.sqlite", limit: 1 << 24)
            try scratch.root.openDirectory("group").replace("Habits.sqlite", with: bytes, mode: 0o600)
        },
        .left("group/.store-migrate-1", "a staging was left"),
        .left("tmp/copy", "a temporary file was left"),
    ]

    private static func judge(_ moment: ResumeJudge.Moment) throws -> ResumeJudge {
        try ResumeJudge(moment, template: HabitTemplate.makeCoreData(journalMode: "wal"))
    }

    @Test("The judge has no objection to a correct resume", arguments: ResumeJudge.Moment.allCases)
    func right(_ moment: ResumeJudge.Moment) throws { try SpoiltPlace.expectContent(Self.judge(moment)) }

    // In one test each: the commit point is searched once.

    @Test("The judge objects to every fault of a finished share")
    func wrongFinished() throws {
        let judge = try Self.judge(.afterPublishing)
        for place in Self.finished { try place.expectObjection(of: judge) }
    }

    @Test("The judge objects to every fault of a share that was rolled back")
    func wrongTakenBack() throws {
        let judge = try Self.judge(.beforePublishing)
        for place in Self.takenBack { try place.expectObjection(of: judge) }
    }
}
