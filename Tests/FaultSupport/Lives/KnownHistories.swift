/// Sequences of commands that once lost, doubled or stranded rows, or hung.
///
/// They run before every series of walks, under the same model: none may break a rule again.
package struct KnownHistory: Sendable {
    package let name: String
    package let setting: WalkWorld.Setting
    package let steps: [WalkStep]

    private init(
        _ name: String,
        _ shape: StoreShape,
        journalMode: String = "wal",
        hasOddNames: Bool = false,
        _ steps: [WalkStep]
    ) {
        self.name = name
        setting = WalkWorld.Setting(shape: shape, journalMode: journalMode, hasOddNames: hasOddNames)
        self.steps = [.app(place: 0, .create)] + steps
    }

    private static func insert(at place: Int = 0, _ token: Int, into table: Int = 0) -> WalkStep {
        .app(place: place, .insert(table: table, token: token, seed: 7))
    }
    private static func update(at place: Int, pick: Int = 0, to token: Int, in table: Int = 0) -> WalkStep {
        .app(place: place, .update(table: table, pick: pick, token: token, seed: 7))
    }
    private static func sql(at place: Int = 0, _ text: String) -> WalkStep { .app(place: place, .sql(text)) }
    /// A command; a, b and c are the stores' paths.
    private static func tool(_ line: String, harm: WalkStep.Harm = .none) -> WalkStep {
        let names = ["a": "{0}", "b": "{1}", "c": "{2}"]
        return .tool(.init(line.split(separator: " ").map { names[String($0)] ?? String($0) }, harm: harm))
    }

    package static let all = [
        KnownHistory(
            "a late row in a table beside the model",
            .coreDataOwnTables,
            [
                insert(1), tool("share a b --old capture"), insert(2, into: 2), tool("share a b --json"),
            ]
        ),
        KnownHistory(
            "a late value in a column beside the model",
            .coreDataOwnTables,
            [
                insert(1), tool("share a b --old capture"),
                sql("UPDATE ZHABIT SET XOWN = 5, ZNAME = 'v000002', Z_OPT = Z_OPT + 1"),
                tool("share a b --old capture"), tool("diff a b"),
            ]
        ),
        KnownHistory(
            "a late row in an FTS5 table beside the model",
            .coreDataOwnTables,
            [
                insert(1), tool("share a b --old capture"), insert(2, into: 4), tool("unshare a b"),
            ]
        ),
        KnownHistory(
            "a late table",
            .coreData,
            [
                insert(1), tool("share a b --old capture"),
                sql(
                    "CREATE TABLE late (id INTEGER PRIMARY KEY, token TEXT); INSERT INTO late (token) VALUES ('v000002')"
                ), tool("share a b"),
            ]
        ),
        KnownHistory(
            "a late row whose key is no UTF-8",
            .oddText,
            [
                insert(1), tool("share a b --old capture"),
                sql("INSERT INTO item VALUES (CAST(x'fe' AS TEXT), 'v000002', 5, NULL)"), tool("share a b"),
            ]
        ),
        KnownHistory(
            "a late value of a row whose key is no UTF-8",
            .compoundKey,
            [
                sql("INSERT INTO item VALUES (CAST(x'61fe' AS TEXT), 1, 'v000001', 5, NULL)"),
                tool("share a b --old capture"), update(at: 0, to: 2), tool("share a b"),
            ]
        ),
        KnownHistory(
            "a row that the tool itself merged into the old store and rolled back",
            .integerKey,
            [
                insert(1), tool("share a b --old capture"), insert(at: 1, 2), tool("merge a b"), tool("share a b"),
                tool("unmerge a"), tool("share a b"),
            ]
        ),
        KnownHistory(
            "a row that the tool carried to the old store, changed at the new one",
            .integerKey,
            [
                insert(1), tool("share a b --old capture"), insert(at: 1, 2), tool("merge a b"),
                update(at: 1, pick: 1, to: 3), tool("share a b"),
            ]
        ),
        KnownHistory(
            "a share in the other direction, then back",
            .coreData,
            [
                insert(1), tool("share a b --old capture"), insert(2), tool("share a b --old fence"), insert(at: 1, 3),
                tool("share b a --old capture --on-both keep-old"), update(at: 0, pick: 2, to: 4), tool("unshare a b"),
            ]
        ),
        KnownHistory(
            "an integer beside a real number of the same whole part",
            .numeric,
            [
                sql("INSERT INTO item VALUES (1.5, 'v000001'), (3, 'v000002')"), tool("share a b --old capture"),
                sql("UPDATE item SET token = 'v000003', price = 1 WHERE token = 'v000001'"), tool("share a b"),
            ]
        ),
        KnownHistory(
            "a late row at the first store of a chain",
            .integerKey,
            [
                insert(1), tool("share a b --old capture"), tool("share b c"), insert(2), tool("share a b"),
                tool("retire a"),
            ]
        ),
        KnownHistory(
            "a late row of a full-text table with the number of a deleted one",
            .fullText,
            [
                insert(1, into: 1), tool("share a b --old capture"), .app(place: 0, .delete(table: 1, pick: 0)),
                insert(2, into: 1), update(at: 1, to: 3, in: 1), tool("unshare a b"),
            ]
        ),
        KnownHistory(
            "an unshare from the middle of a chain",
            .integerKey,
            [
                insert(1), tool("share a b"), tool("share b c"), insert(at: 2, 2), tool("unshare a b"),
            ]
        ),
        KnownHistory(
            "a store with the name of the other store's log",
            .integerKey,
            hasOddNames: true,
            [
                insert(1), tool("share a b"),
            ]
        ),
        KnownHistory(
            "two copies merged without a base",
            .integerKey,
            [
                // Values of which none is null: the update keeps one, so that the versions are those of one row.
                .app(place: 0, .insert(table: 0, token: 1, seed: 8)), WalkStep.copy(from: 0, to: 1),
                update(at: 1, to: 2), tool("merge a b"),
            ]
        ),
        KnownHistory(
            "an older version that a policy prefers without a base",
            .oddText,
            [
                insert(1), WalkStep.copy(from: 0, to: 1), update(at: 1, to: 2), tool("merge b a --policy overwrite"),
            ]
        ),
        KnownHistory(
            "two backups within a second",
            .integerKey,
            [
                insert(1), tool("backup a -o {backups}"), insert(2), tool("backup a -o {backups}"), insert(3),
                tool("backup a -o {backups}"), tool("backups prune {backups} --keep-last 1"),
            ]
        ),
        KnownHistory(
            "a conflict that an unshare settles",
            .integerKey,
            [
                insert(1), tool("share a b --old capture"), update(at: 0, to: 2), update(at: 1, to: 3),
                tool("unshare a b --json"),
            ]
        ),
        KnownHistory(
            "rows that a decision leaves at the old place alone",
            .integerKey,
            [
                insert(1), WalkStep.app(place: 1, .create), insert(at: 1, 2), tool("share a b --on-both keep-new"),
                tool("status a b --json"),
            ]
        ),
        KnownHistory(
            "a store that was replaced by decision",
            .integerKey,
            [
                insert(1), WalkStep.app(place: 1, .create), insert(at: 1, 2), tool("share a b --on-both keep-old"),
            ]
        ),
        KnownHistory(
            "a store that was replaced by a share which a reader delays",
            .integerKey,
            journalMode: "delete",
            [
                insert(1), WalkStep.app(place: 1, .create), insert(at: 1, 2),
                WalkStep.hold(place: 0, .readTransaction), tool("share a b --on-both keep-old"),
                WalkStep.release(place: 0), tool("resume a"),
            ]
        ),
        KnownHistory(
            "a share into a store that is fenced",
            .integerKey,
            [
                insert(1), tool("share a b"), tool("share b a --old capture --on-both keep-new"),
            ]
        ),
        KnownHistory(
            "an unmerge after the store is retired, and shared back to its place",
            .compoundKey,
            [
                insert(1), tool("share a c --old capture"), update(at: 0, to: 2), tool("merge c a"),
                tool("share c b"), tool("retire c"), tool("share b c"), tool("unmerge c"),
            ]
        ),
        KnownHistory(
            "a merge into a store that is restored",
            .oddText,
            [
                WalkStep.app(place: 1, .create), tool("backup b -o {backups}"), insert(1), tool("merge b a"),
                tool("restore {archive} b --overwrite always"), tool("merge b a"),
            ]
        ),
        KnownHistory(
            "a share in the other direction after two unshares",
            .integerKey,
            [
                insert(1), tool("share a b --old capture"), tool("unshare a b"), tool("unshare b a"), tool("share b a"),
            ]
        ),
        KnownHistory(
            "a share of a store named as a log, whose folder cannot be opened once",
            .compoundKey,
            hasOddNames: true,
            [insert(1), tool("share a b", harm: .failed(call: 10, .inputOutputError))]
        ),
        KnownHistory(
            "a resolver between two rows with the same number",
            .uniqueAndTrigger,
            [
                insert(1), tool("share a b --old capture"), sql(at: 1, "DELETE FROM item"),
                sql(at: 1, "INSERT INTO item (token, name, x) VALUES ('v000002', 'other', 99)"), update(at: 0, to: 3),
                tool("share a b --old capture --resolver {takesOld} --plugin-sandbox best-effort --json"),
            ]
        ),
        KnownHistory(
            "a share whose reads are interrupted",
            .coreDataOwnTables,
            [
                insert(1), insert(2, into: 1), insert(3, into: 2),
                tool("share a b --old capture", harm: .failed(call: 19, .interruptedTransfers)),
            ]
        ),
        KnownHistory(
            "a share of a snapshot whose record cannot be read once",
            .numeric,
            [insert(1), tool("publish a {snapshot}")]
                + (10..<24).map { tool("share {snapshot} c", harm: .failed(call: $0, .inputOutputError)) }
        ),
    ]
}
