import Testing

/// The memory of a command: 64 MiB, and twice the largest value that it writes, which is what SQLite needs for it.
@Suite("Memory")
struct MemoryTests {
    /// Runs the tool with at most so much memory of its own.
    private static func run(_ arguments: [String], mebibytes: Int, in folder: String) async throws -> Tool.Run {
        try await Tool.run(
            command: ["sh", "-c", "ulimit -d \(mebibytes << 10); exec \"$@\"", "sh", try Tool.path] + arguments,
            folder: folder
        )
    }

    @Test(
        "Diff, share, backup and rollback of a changed large value fit into 64 MiB and twice the value",
        arguments: [
            ("(k INTEGER PRIMARY KEY, v)", 100), ("(k INTEGER PRIMARY KEY, v) WITHOUT ROWID", 40), ("(k, v)", 40),
            ("(k INTEGER PRIMARY KEY, v, twice AS (k + k))", 40),
        ]
    )
    func largeValue(_ columns: String, _ megabytes: Int) async throws {
        let scratch = try Scratch()
        try scratch.folder("old")
        try scratch.folder("new")
        let old = try await scratch.store("old/s.db", "CREATE TABLE t\(columns); INSERT INTO t(k, v) VALUES (1, 2)")
        _ = try await Tool.run(["share", old, scratch.path("new"), "--old", "capture"])
        try await SQLiteProgram.run(old, "UPDATE t SET v = zeroblob(\(megabytes)000000)")
        let calls = [
            (["diff", "old/s.db", "new/s.db"], Int32(3)), (["share", "old/s.db", "new", "--old", "capture"], 0),
            (["backup", "new/s.db", "-o", "b.tar.zst"], 0), (["unmerge", "new/s.db"], 0),
        ]
        for (words, status) in calls {
            let run = try await Self.run(words, mebibytes: 64 + 2 * megabytes, in: scratch.path)
            #expect(run.status == status, "\(words[0]): \(run.errors)")
        }
    }

    @Test("Share, verify, backup, restore and retire of a store with 4,000 external files fit into 64 MiB")
    func externalFiles() async throws {
        let scratch = try Scratch()
        for folder in ["old", "new", "restored"] { try scratch.folder(folder) }
        let recipe = try scratch.file("recipe.yaml", Array(Self.recipe.utf8))
        let old = scratch.path("old/s.sqlite")
        #expect(try await Tool.run(["fixture", "build", recipe, old]).status == 0)
        try scratch.folder("old/.s_SUPPORT/_EXTERNAL_DATA")
        let name = "printf('%08X-0000-4000-8000-000000000000', n)"
        try await SQLiteProgram.run(
            old,
            """
            WITH c(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM c WHERE n < 4001)
            INSERT INTO ZPICTURE(Z_PK, Z_ENT, Z_OPT, ZDATA)
                SELECT n, 1, 1, CAST(x'02' || \(name) || x'00' AS BLOB) FROM c;
            UPDATE Z_PRIMARYKEY SET Z_MAX = 4001;
            """
        )
        for number in 2...4001 {
            let digits = String(number, radix: 16, uppercase: true)
            let name = String(repeating: "0", count: 8 - digits.count) + digits + "-0000-4000-8000-000000000000"
            try scratch.file("old/.s_SUPPORT/_EXTERNAL_DATA/" + name, Array(digits.utf8))
        }
        let calls = [
            ["share", "old/s.sqlite", "new"], ["verify", "new/s.sqlite", "--against", "old/s.sqlite"],
            ["backup", "new/s.sqlite", "-o", "b.tar.zst"], ["restore", "b.tar.zst", "restored/s.sqlite"],
            ["retire", "old/s.sqlite"],
        ]
        for words in calls {
            let run = try await Self.run(words, mebibytes: 64, in: scratch.path)
            #expect(run.status == 0, "\(words[0]): \(run.errors)")
        }
    }

    private static let recipe = """
        about: Pictures.
        seed: pictures
        model:
          entities:
            Picture:
              attributes:
                data: {type: binaryData, externalStorage: true}
        saves:
          - at: 2026-03-01T09:00:00Z
            insert:
              - {entity: Picture, values: {}}
        """
}
