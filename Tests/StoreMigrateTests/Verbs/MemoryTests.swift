import Testing

@Suite("Memory")
struct MemoryTests {
    /// Runs the tool where no more than so much address space is to be had.
    private static func run(_ arguments: [String], megabytes: Int, in folder: String) async throws -> Tool.Run {
        try await Tool.run(
            command: ["sh", "-c", "ulimit -v \(megabytes << 10); exec \"$@\"", "sh", try Tool.path] + arguments,
            folder: folder
        )
    }

    @Test("Share, unmerge, diff and backup of a changed value of 60 MB fit into 450 MB of address space")
    func largeValue() async throws {
        let scratch = try Scratch()
        try scratch.folder("old")
        try scratch.folder("new")
        let old = try await scratch.store(
            "old/s.db",
            "CREATE TABLE t(k INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 2)"
        )
        _ = try await Tool.run(["share", old, scratch.path("new"), "--old", "capture"])
        try await SQLiteProgram.run(old, "UPDATE t SET v = zeroblob(60000000)")
        let calls = [
            (["diff", "old/s.db", "new/s.db"], Int32(3)), (["share", "old/s.db", "new", "--old", "capture"], 0),
            (["backup", "new/s.db", "-o", "b.tar.zst"], 0), (["unmerge", "new/s.db"], 0),
        ]
        for (words, status) in calls {
            let run = try await Self.run(words, megabytes: 450, in: scratch.path)
            #expect(run.status == status, "\(words[0]): \(run.errors)")
        }
    }
}
