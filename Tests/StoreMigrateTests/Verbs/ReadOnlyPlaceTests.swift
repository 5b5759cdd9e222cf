import Foundation
import Testing

@Suite("Old store in a read-only folder")
struct ReadOnlyPlaceTests {
    private let scratch: Scratch
    private let nobody: Nobody

    init() throws {
        scratch = try Scratch()
        nobody = try Nobody(scratch)
    }

    private func setMode(_ mode: Int, _ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    /// A store that another user can read, in a folder that this user cannot write to.
    private func makeStore(mode: String) async throws -> String {
        try scratch.folder("old")
        let old = try await scratch.store(
            "old/Habits.sqlite",
            "PRAGMA journal_mode=\(mode);" + Scratch.habits
        )
        try setMode(0o444, old)
        try setMode(0o555, scratch.path("old"))
        return old
    }

    @Test(
        "share of a read-only old store ends with status 12, advises to capture it, and leaves no files",
        arguments: ["wal", "delete"]
    )
    func fence(mode: String) async throws {
        let old = try await makeStore(mode: mode)
        let new = try nobody.folder("new")
        let before = try scratch.fingerprint()

        let run = try await nobody.run(["share", old, new])

        #expect(run.status == 12, "\(run.errors)")
        #expect(run.errorLines.count == 1, "\(run.errors)")
        #expect(run.errors.contains("capture the old store, with another state folder"), "\(run.errors)")
        #expect(try scratch.fingerprint() == before)
    }

    @Test("share --old capture --state copies a read-only store and leaves its folder", arguments: ["wal", "delete"])
    func capture(mode: String) async throws {
        let old = try await makeStore(mode: mode)
        let (new, state) = (try nobody.folder("new"), try nobody.folder("state"))
        let before = try scratch.fingerprint(scratch.path("old"))

        let run = try await nobody.run(["share", old, new, "--old", "capture", "--state", state])

        #expect(run.status == 0, "\(run.errors)")
        #expect(try scratch.fingerprint(scratch.path("old")) == before)
        #expect(try await SQLiteProgram.content(new + "/Habits.sqlite") == SQLiteProgram.content(old))
        let again = try await nobody.run(["share", old, new, "--old", "capture", "--state", state])
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.output.hasPrefix("Already shared: "), "\(again.output)")
    }
}
