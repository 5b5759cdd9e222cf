import FoundationEssentials
import Testing

@Suite("Read-only verbs change no file")
struct ReadingTests {
    /// Commands that create a store with different sets of files.
    static let shapes = [
        "sqlite3 old/H.db 'CREATE TABLE t(a); INSERT INTO t VALUES(1);'",
        // All rows in the log, and no shared-memory file.
        """
        sqlite3 x.db 'PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t(a); \
        INSERT INTO t VALUES(1);' '.shell cp x.db old/H.db; cp x.db-wal old/H.db-wal' >/dev/null
        """,
        // A WAL store that was closed cleanly.
        "sqlite3 old/H.db 'PRAGMA journal_mode = wal; CREATE TABLE t(a); INSERT INTO t VALUES(1);' >/dev/null",
    ]

    @Test("Read-only verbs change no file of a store with or without log", arguments: shapes)
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

    @Test("Read-only verbs change no file of a shared store")
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

    /// The read-only verbs, each as text and as JSON.
    static func calls(old: String, new: String) -> [[String]] {
        let calls = [
            ["inspect", old], ["inspect", "old"], ["plan", old, new], ["share", "-n", old, new], ["status", old, new],
            ["verify", old, "--level", "coredata"],
        ]
        return calls + calls.map { $0 + ["--json"] }
    }
}
