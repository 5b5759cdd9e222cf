import FoundationEssentials
import SafeFiles
import Testing

@Suite("Signals, closed output and root")
struct InterruptionTests {
    @Test(
        "A signal before publication ends with status 130 and leaves no files",
        arguments: ["INT", "TERM"]
    )
    func signal(_ name: String) async throws {
        let scratch = try Scratch()
        let old = try await scratch.store("H.db")
        let new = try scratch.folder("new")
        // The signal arrives while the first folder is created; before that, nothing is written.
        let run = try await Tool.run(
            command: [
                "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=mkdirat",
                "-e", "inject=mkdirat:signal=SIG\(name):when=1", try Tool.path, "share", old, new, "--json",
            ]
        )
        #expect(run.status == 130, "\(run.output)\(run.errors)")
        let lines = try Grammar().check(run)
        #expect(lines.last?["outcome"]?.string == "cancelled")
        #expect(run.errorLines.count == 1, "\(run.errors)")
        #expect(try scratch.names(scratch.path) == ["H.db", "new"])
        #expect(try scratch.names(new).isEmpty)
        #expect(try await Tool.runProcess(["share", old, new]).status == 0)
    }

    @Test("A closed output pipe does not stop a share")
    func closedPipe() async throws {
        let scratch = try Scratch()
        try await scratch.store("H.db")
        try scratch.folder("new")
        let run = try await Tool.run(
            command: ["bash", "-c", "set -o pipefail; '\(try Tool.path)' share H.db new --json | true"],
            folder: scratch.path
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(try scratch.names(scratch.path("new")).contains("H.db"))
    }

    @Test("A full output device fails a read-only verb with status 1, but not a completed share")
    func fullDevice() async throws {
        let scratch = try Scratch()
        try await scratch.store("H.db")
        try scratch.folder("new")
        for (call, status) in [("inspect H.db", 1), ("share H.db new", 0)] as [(String, Int32)] {
            let run = try await Tool.run(
                command: ["bash", "-c", "'\(try Tool.path)' \(call) > /dev/full"],
                folder: scratch.path
            )
            #expect(run.status == status)
            #expect(run.errors.contains("could not be written"))
        }
    }

    @Test("A share by root creates files of the old store's owner", .enabled(if: ProcessIdentity.effectiveUser == 0))
    func owner() async throws {
        let scratch = try Scratch()
        let nobody = try Nobody(scratch)
        let old = try nobody.folder("old")
        let new = try nobody.folder("new")
        try await nobody.shell("sqlite3 \(old)/H.db 'CREATE TABLE t(a); INSERT INTO t VALUES(1);'")
        let run = try await Tool.runProcess(["share", old + "/H.db", new])
        #expect(run.status == 0, "\(run.errors)")
        for name in try FileManager.default.subpathsOfDirectory(atPath: scratch.path) {
            let attributes = try FileManager.default.attributesOfItem(atPath: scratch.path(name))
            #expect(attributes[.ownerAccountID] as? Int == 65534, "\(name)")
        }
    }
}
