import FaultSupport
import SafeFiles
import Testing

@Suite("The judge of a merge")
struct MergeJudgeTests {
    private static let old = "old/Habits.sqlite"
    private static let new = "group/Habits.sqlite"
    private static let parked = "old/.store-migrate/Habits.sqlite/merge-*.parked.jsonl"

    private static let withdrawn = "group/Habits.sqlite.withdrawn-*"

    private static let deleted = "DELETE FROM ZHABIT WHERE ZNAME = 'New'"

    private static func fence(_ table: String) -> String {
        "CREATE TRIGGER _store_migrate_fence_0_0_delete BEFORE DELETE ON \(table) "
            + "BEGIN SELECT RAISE(ABORT, 'store moved'); END"
    }

    private static func unfence(_ table: String) -> String {
        """
        PRAGMA writable_schema = 1;
        DELETE FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = '\(table)';
        """
    }

    /// A merge of late writes into the new store, and what may be wrong with any.
    static let merged: [SpoiltPlace] = [
        .store(new, "an object of both is gone", "the merged store holds", deleted),
        .store(
            new,
            "the loser won",
            "the merged store holds",
            "UPDATE ZHABIT SET ZNAME = 'Scan' WHERE ZNAME = 'Study'"
        ),
        .store(
            new,
            "a picture was not merged",
            "the merged store holds",
            "UPDATE ZHABIT SET ZPICTURE = NULL WHERE ZNAME = 'Study'"
        ),
        .store(
            new,
            "an object came twice",
            "the merged store holds",
            "INSERT INTO ZHABIT SELECT 9, Z_ENT, Z_OPT, ZNAME, ZPICTURE FROM ZHABIT WHERE ZNAME = 'Late'"
        ),
        .store(
            new,
            "the greatest key was not noted",
            "the greatest key",
            "UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX - 1 WHERE Z_NAME = 'Habit'"
        ),
        .store(
            new,
            "the history does not tell it",
            "history tells of",
            "UPDATE ATRANSACTIONSTRING SET ZNAME = 'somebody' WHERE ZNAME = 'store-migrate'"
        ),
        .store(
            old,
            "the old store has lost an object",
            "the old store holds",
            "DELETE FROM ZHABIT WHERE ZNAME = 'Late'"
        ),
        .store(new, "the new store is fenced", "the new store refuses", fence("ZHABIT")),
        .removed("group/.Habits_SUPPORT/*", "an external file of new is gone", "the merged store holds"),
        .replaced("old/.Habits_SUPPORT/*", "an external file of old is another", "the old store holds"),
        .removed(parked, "what lost is parked nowhere", "what lost is not parked"),
        .replaced(parked, "half of what lost is parked", "what lost is not parked") { Array($0.dropLast(40)) },
        .replaced(parked, "what lost is parked twice", "what lost is not parked") { $0 + $0 },
        .removed("old/.store-migrate/Habits.sqlite/base-*", "a base is gone", "1 bases are kept"),
        .left("old/.store-migrate-1", "something was left beside the old store"),
        .left("group/Habits.sqlite-journal", "a journal was left"),
        .left("tmp/copy", "a temporary file was left"),
    ]

    /// What may be wrong where the new store went back to the old place.
    static let returned: [SpoiltPlace] = [
        .store(old, "an object is gone", "the old store holds", deleted),
        .store(old, "the old store has a fence", "refuse", fence("ZHABIT")),
        .removed("old/.Habits_SUPPORT/*", "an external file is gone", "the old store holds"),
        .removed(withdrawn, "the new store is nowhere", "the new store is nowhere"),
        .copied(withdrawn, "Habits.sqlite", "the new store is still there", "the new store is still there"),
        SpoiltPlace("the withdrawn store takes writes", "the withdrawn store takes writes to ZHABIT") { scratch in
            let (folder, name) = try SpoiltPlace.found(withdrawn, scratch)
            // It is barred by its header as well, and whoever had it open before that is refused by the fence alone.
            let file = try folder.openFile(name, for: .writing)
            try ([1, 1] as [UInt8]).withUnsafeBytes { try file.write($0, at: 18) }
            try PlainStore(folder.path + "/" + name).execute(unfence("ZHABIT"))
        },
        .removed("old/.store-migrate-aside-*/Habits.sqlite", "what gave way is gone", "aside lies"),
        .left("group/store", "something was left beside the new store"),
    ]

    @Test(
        "It has nothing to object to a merge as it should be",
        arguments: MergeJudge.Kind.allCases,
        ["wal", "delete"]
    )
    func right(_ kind: MergeJudge.Kind, journalMode: String) throws {
        try SpoiltPlace.expectContent(Self.judge(kind, journalMode))
    }

    @Test("It objects to every way in which a merge may be wrong", arguments: merged)
    func wrong(_ place: SpoiltPlace) throws { try place.expectObjection(of: Self.judge(.lateWrites)) }

    @Test("It objects to every way in which the way back may be wrong", arguments: returned)
    func wrongReturn(_ place: SpoiltPlace) throws { try place.expectObjection(of: Self.judge(.unshareFenced)) }

    @Test(
        "It objects to a fence that is missing, and to one that is there for nothing",
        arguments: [
            (.lateWritesAndFence, .store(old, "unfenced", "the old store takes writes to ZHABIT", unfence("ZHABIT"))),
            (.lateWritesAndFence, .store(old, "metadata", "who only opens the old store", fence("Z_METADATA"))),
            (.lateWrites, .store(old, "fenced", "the old store was to stay writable", fence("ZHABIT"))),
            (.unshare, .store(old, "fenced", "the old store was to stay writable", fence("ZHABIT"))),
            (.unshareFenced, .store(old, "fenced", "the old store has its content back", fence("ZHABIT"))),
            (.merge, .store(old, "fenced", "the old store was to stay writable", fence("ZHABIT"))),
            (.merge, .store(new, "fenced", "the new store refuses writes", fence("ZHABIT"))),
        ] as [(MergeJudge.Kind, SpoiltPlace)]
    )
    func fences(_ kind: MergeJudge.Kind, _ place: SpoiltPlace) throws {
        try place.expectObjection(of: Self.judge(kind))
    }

    @Test(
        "It objects to two places that may both be written to, and to two of which none may",
        arguments: [
            .store(old, "the fence went before the content came", "the old store takes writes", unfence("ZHABIT")),
            .store(new, "the new store is fenced before the old one is not", "both stores refuse", fence("ZHABIT")),
        ] as [SpoiltPlace]
    )
    func fencesOnTheWayBack(_ place: SpoiltPlace) throws { try place.expectObjectionBefore(Self.judge(.unshareFenced)) }

    private static func judge(_ kind: MergeJudge.Kind, _ journalMode: String = "wal") throws -> MergeJudge {
        try MergeJudge(kind: kind, template: HabitTemplate.makeCoreData(journalMode: journalMode))
    }
}
