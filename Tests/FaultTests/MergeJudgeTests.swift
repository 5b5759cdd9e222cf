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

    /// Faults after a merge of late writes into the new store.
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
            "the history lacks the merge",
            "the history contains",
            "UPDATE ATRANSACTIONSTRING SET ZNAME = 'other' WHERE ZNAME = 'store-migrate'"
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
        .removed(parked, "the loser is parked nowhere", "the loser is not parked"),
        .replaced(parked, "half of the loser is parked", "the loser is not parked") { Array($0.dropLast(40)) },
        .replaced(parked, "the loser is parked twice", "the loser is not parked") { $0 + $0 },
        .removed("old/.store-migrate/Habits.sqlite/base-*", "a base is gone", "1 bases are kept"),
        .left("old/.store-migrate-1", "something was left beside the old store"),
        .left("group/Habits.sqlite-journal", "a journal was left"),
        .left("tmp/copy", "a temporary file was left"),
    ]

    /// Faults after an unshare.
    static let returned: [SpoiltPlace] = [
        .store(old, "an object is gone", "the old store holds", deleted),
        .store(old, "the old store has a fence", "refuse", fence("ZHABIT")),
        .removed("old/.Habits_SUPPORT/*", "an external file is gone", "the old store holds"),
        .removed(withdrawn, "the new store is nowhere", "the new store is nowhere"),
        .copied(withdrawn, "Habits.sqlite", "the new store is still there", "the new store is still there"),
        SpoiltPlace("the withdrawn store takes writes", "the withdrawn store takes writes to ZHABIT") { scratch in
            let (folder, name) = try SpoiltPlace.found(withdrawn, scratch)
            // Its header bars it as well; a program that had it open before is refused by the fence alone.
            let file = try folder.openFile(name, for: .writing)
            try ([1, 1] as [UInt8]).withUnsafeBytes { try file.write($0, at: 18) }
            try PlainStore(folder.path + "/" + name).execute(unfence("ZHABIT"))
        },
        .removed(
            "old/.store-migrate-aside-*/Habits.sqlite",
            "the displaced store is gone",
            "the displaced store holds"
        ),
        .left("group/store", "something was left beside the new store"),
    ]

    @Test(
        "The judge has no objection to a correct merge",
        arguments: MergeJudge.Kind.allCases,
        ["wal", "delete"]
    )
    func right(_ kind: MergeJudge.Kind, journalMode: String) throws {
        try SpoiltPlace.expectContent(Self.judge(kind, journalMode))
    }

    @Test("The judge objects to every fault of a merge", arguments: merged)
    func wrong(_ place: SpoiltPlace) throws { try place.expectObjection(of: Self.judge(.lateWrites)) }

    @Test("The judge objects to every fault of an unshare", arguments: returned)
    func wrongReturn(_ place: SpoiltPlace) throws { try place.expectObjection(of: Self.judge(.unshareFenced)) }

    @Test(
        "The judge objects to a missing fence and to an unexpected one",
        arguments: [
            (.lateWritesAndFence, .store(old, "unfenced", "the old store takes writes to ZHABIT", unfence("ZHABIT"))),
            (
                .lateWritesAndFence,
                .store(old, "metadata", "a program that only opens the old store", fence("Z_METADATA"))
            ),
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
        "The judge objects to two writable stores",
        arguments: [
            .store(old, "the fence went before the content came", "the old store takes writes", unfence("ZHABIT"))
        ] as [SpoiltPlace]
    )
    func fencesInReverseShare(_ place: SpoiltPlace) throws {
        try place.expectObjectionBefore(Self.judge(.unshareFenced))
    }

    private static func judge(_ kind: MergeJudge.Kind, _ journalMode: String = "wal") throws -> MergeJudge {
        try MergeJudge(kind: kind, template: HabitTemplate.makeCoreData(journalMode: journalMode))
    }
}
