import FoundationEssentials
import Testing

@Suite("Verbs that only read change nothing")
struct ReadingTests {
    /// The shapes a store's files can have on disk.
    static let shapes = [
        "sqlite3 old/H.db 'CREATE TABLE t(a); INSERT INTO t VALUES(1);'",
        // A log that holds everything, and no shared memory.
        """
        sqlite3 x.db 'PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t(a); \
        INSERT INTO t VALUES(1);' '.shell cp x.db old/H.db; cp x.db-wal old/H.db-wal' >/dev/null
        """,
        // A write-ahead log store that was closed cleanly.
        "sqlite3 old/H.db 'PRAGMA journal_mode = wal; CREATE TABLE t(a); INSERT INTO t VALUES(1);' >/dev/null",
    ]

    @Test("Whatever lies beside the main file", arguments: shapes)
    func beside(_ setup: String) async throws {
        let scratch = try Scratch()
        try scratch.folder("old")
        try scratch.folder("new")
        let made = try await Tool.run(command: ["bash", "-c", setup], folder: scratch.path)
        try #require(made.status == 0, "\(made.errors)")
        let before = try scratch.fingerprint()
        for call in Self.calls(old: "old/H.db", new: "new/H.db") {
            let run = try await Tool.run(call, folder: scratch.path)
            #expect(run.status == 0, "\(call): \(run.output)\(run.errors)")
            #expect(try scratch.fingerprint() == before, "\(call)")
        }
    }

    @Test("Once the store is shared")
    func shared() async throws {
        let scratch = try Scratch()
        try scratch.folder("old")
        try scratch.folder("new")
        try await scratch.store("old/H.db")
        _ = try await Tool.run(["share", "old/H.db", "new"], folder: scratch.path)
        let before = try scratch.fingerprint()
        for call in Self.calls(old: "old/H.db", new: "new/H.db") + [["verify", "new/H.db", "--against", "old/H.db"]] {
            let run = try await Tool.run(call, folder: scratch.path)
            #expect(run.status == 0, "\(call): \(run.output)\(run.errors)")
            #expect(try scratch.fingerprint() == before, "\(call)")
        }
    }

    /// Every verb that only reads, in both forms.
    static func calls(old: String, new: String) -> [[String]] {
        let calls = [
            ["inspect", old], ["inspect", "old"], ["plan", old, new], ["share", "-n", old, new], ["status", old, new],
            ["verify", old, "--level", "coredata"],
        ]
        return calls + calls.map { $0 + ["--json"] }
    }
}
