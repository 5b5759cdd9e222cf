import Testing

@Suite("Merges across versions of a model")
struct VersionMergeTests {
    private static let rows = "SELECT Z_PK, ZTITLE, ZGOAL FROM ZHABIT ORDER BY Z_PK"

    /// A captured store whose shared copy was migrated since: `name` is now `title`, and `goal` is new.
    private struct Pair {
        let versions: ModelVersions
        let new: String
        let second: String
        var old: String { versions.store }
        var share: [String] { ["share", old, new, "--level", "content"] }

        init(journalMode: String = "wal", _ entities: String? = nil) async throws {
            versions = try await ModelVersions(journalMode: journalMode, in: "old")
            new = try versions.scratch.folder("new") + "/Habits.sqlite"
            let renamed =
                #"<attribute name="title" attributeType="String" elementID="name"/>"#
                + #"<attribute name="goal" attributeType="Integer 64" defaultValueString="3"/>"#
            second = try versions.document("Second", entities ?? ModelVersions.habit(name: renamed))
            #expect(try await Tool.run(share + ["--old", "capture"]).status == 0)
            #expect(try await Tool.run(["migrate", new, "--model", second]).status == 0)
        }

        /// A program of the former version changes, inserts and deletes objects.
        func writeLate() async throws {
            try await SQLiteProgram.run(
                old,
                """
                UPDATE ZHABIT SET ZNAME = 'Late', Z_OPT = Z_OPT + 1 WHERE Z_PK = 2;
                DELETE FROM ZHABIT WHERE Z_PK = 1;
                INSERT INTO ZHABIT(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES(3, 1, 1, 'New');
                UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_NAME = 'Habit';
                """
            )
        }
    }

    @Test(
        "Late writes of the former version are merged as the migration would have carried them",
        arguments: ["wal", "rollback"],
        [["share"], ["merge"]]
    )
    func late(journalMode: String, verb: [String]) async throws {
        let pair = try await Pair(journalMode: journalMode)
        try await pair.writeLate()
        try await SQLiteProgram.run(pair.new, "UPDATE ZHABIT SET ZGOAL = 7, Z_OPT = Z_OPT + 1 WHERE Z_PK = 2")
        let words = verb == ["share"] ? pair.share : ["merge", pair.new, pair.old]
        let before = try await SQLiteProgram.run(pair.new, Self.rows)
        let shown = try await Tool.run(words + ["-n"])
        #expect(shown.status == 0, "\(shown.output)\(shown.errors)")
        #expect(try await SQLiteProgram.run(pair.new, Self.rows) == before)

        let merged = try await Tool.run(words)

        #expect(merged.status == 0 && merged.output.hasPrefix("Merged"), "\(merged.output)\(merged.errors)")
        // Both sides changed different properties of one object.
        #expect(try await SQLiteProgram.run(pair.new, Self.rows) == "2|Late|7\n3|New|3\n")
        #expect(try await Tool.run(["verify", pair.new]).status == 0)
        let names = "SELECT Z_PK, ZNAME FROM ZHABIT ORDER BY Z_PK"
        #expect(try await SQLiteProgram.run(pair.old, names) == "2|Late\n3|New\n")
        let again = try await Tool.run(pair.share)
        #expect(again.status == 0 && again.output.hasPrefix("Already shared"), "\(again.output)\(again.errors)")

        // The next merge has the state of the last one as its base.
        try await SQLiteProgram.run(pair.old, "UPDATE ZHABIT SET ZNAME = 'Later', Z_OPT = Z_OPT + 1 WHERE Z_PK = 3")
        #expect(try await Tool.run(words).status == 0)
        #expect(try await SQLiteProgram.run(pair.new, Self.rows) == "2|Late|7\n3|Later|3\n")
        let undone = try await Tool.run(["unmerge", pair.new])
        #expect(undone.status == 0, "\(undone.errors)")
        #expect(try await SQLiteProgram.run(pair.new, Self.rows) == "2|Late|7\n3|New|3\n")
    }

    @Test("A share that moves and migrates merges late writes of the former version")
    func movedAndMigrated() async throws {
        let versions = try await ModelVersions(in: "old")
        let new = try versions.scratch.folder("new") + "/Habits.sqlite"
        let share = [
            "share", versions.store, new, "--level", "content", "--old", "capture", "--migrate", "--model",
            try versions.second(),
        ]
        #expect(try await Tool.run(share).status == 0)
        try await SQLiteProgram.run(
            versions.store,
            "UPDATE ZHABIT SET ZNAME = 'Late', Z_OPT = Z_OPT + 1 WHERE Z_PK = 2"
        )
        let merged = try await Tool.run(share)
        #expect(merged.status == 0 && merged.output.hasPrefix("Merged"), "\(merged.output)\(merged.errors)")
        #expect(try await SQLiteProgram.run(new, "SELECT ZNAME, ZGOAL FROM ZHABIT ORDER BY Z_PK") == "Run|3\nLate|3\n")
        let unshared = try await Tool.run(["unshare", versions.store, new])
        #expect(unshared.status == 0, "\(unshared.errors)")
        #expect(try await SQLiteProgram.run(versions.store, "SELECT ZGOAL FROM ZHABIT") == "3\n3\n")
        #expect(try await Tool.run(["verify", versions.store]).status == 0)
    }

    @Test("Late values that the new version lacks are reported, and stay in the old store")
    func removed() async throws {
        let pair = try await Pair(ModelVersions.habit().replacing("picture", with: "image"))
        try await SQLiteProgram.run(
            pair.old,
            "UPDATE ZHABIT SET ZNAME = 'Late', ZPICTURE = x'0177', Z_OPT = Z_OPT + 1 WHERE Z_PK = 2"
        )
        let run = try await Tool.run(pair.share + ["--json"])
        #expect(run.status == 0, "\(run.errors)")
        let finding = try Grammar().check(run).first { $0["code"]?.string == "notInNewVersion" }
        #expect(finding?["message"]?.string?.contains("Habit.picture") == true)
        #expect(try await SQLiteProgram.run(pair.new, "SELECT ZNAME FROM ZHABIT WHERE Z_PK = 2") == "Late\n")
        #expect(try await SQLiteProgram.run(pair.old, "SELECT hex(ZPICTURE) FROM ZHABIT WHERE Z_PK = 2") == "0177\n")
    }

    @Test("Late writes in an old store that its program migrated are not brought to an older version")
    func newerOld() async throws {
        let versions = try await ModelVersions(in: "old")
        let new = try versions.scratch.folder("new") + "/Habits.sqlite"
        let share = ["share", versions.store, new, "--level", "content", "--old", "capture"]
        #expect(try await Tool.run(share).status == 0)
        // As the program would: its store, with the same identity, has the second version.
        let copy = try versions.scratch.folder("copy") + "/Habits.sqlite"
        try await SQLiteProgram.run(versions.store, "PRAGMA wal_checkpoint(TRUNCATE); VACUUM INTO '\(copy)'")
        try versions.scratch.copy(versions.scratch.path("old/.Habits_SUPPORT"), as: "copy/.Habits_SUPPORT")
        #expect(try await Tool.run(["migrate", copy, "--model", try versions.second()]).status == 0)
        try await SQLiteProgram.run(versions.store, ".restore '\(copy)'")
        let run = try await Tool.run(share)
        #expect(run.status == 13 && run.errors.contains("another model version"), "\(run.output)\(run.errors)")
        #expect(run.errors.contains("store-migrate merge \(new) \(versions.store)"), "\(run.errors)")
    }
}
