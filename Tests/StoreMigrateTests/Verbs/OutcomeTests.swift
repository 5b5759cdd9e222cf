import FoundationEssentials
import StoreMigration
import Testing

@Suite("Outcomes and exit statuses")
struct OutcomeTests {
    /// A situation created by shell commands, the call, and its outcome.
    struct Case: CustomTestStringConvertible, Sendable {
        let outcome: MigrationOutcome
        var detail = ""
        /// Shell commands that run first; `tool` runs the tool, and the folders `old` and `new` exist.
        var setup = ""
        let call: [String]
        /// The status, if a flag changes it.
        var status: Int32?

        var testDescription: String { detail.isEmpty ? outcome.rawValue : "\(outcome.rawValue), \(detail)" }
    }

    static let make = "sqlite3 old/H.db 'CREATE TABLE t(a); INSERT INTO t VALUES(1);'"
    static let other = "sqlite3 new/H.db 'CREATE TABLE t(a); INSERT INTO t VALUES(2);'"
    static let share = ["share", "old/H.db", "new/H.db"]
    static let shared = "\(make); tool share old/H.db new/H.db"
    static let captured = "\(shared) --old capture"

    /// A share killed while it creates its staging folder, the third folder after those of the journal.
    private static let killed = """
        \(make); strace -f -qq -o /dev/null -e trace=mkdirat -e inject=mkdirat:signal=SIGKILL:when=3 \
        "$TOOL" share old/H.db new/H.db || true
        """

    /// Drops the fence's triggers and writes to the old store.
    static let writePast = """
        for trigger in $(sqlite3 old/H.db "SELECT name FROM sqlite_schema WHERE type = 'trigger'"); do \
        sqlite3 old/H.db "DROP TRIGGER \\"$trigger\\""; done; sqlite3 old/H.db 'INSERT INTO t VALUES(3)'
        """

    static let cases = [
        Case(outcome: .shared, setup: make, call: share),
        Case(outcome: .shared, detail: "strictly", setup: make, call: share + ["--strict"]),
        Case(
            outcome: .shared,
            detail: "keeping the old",
            setup: "\(make); \(other)",
            call: share + ["--on-both", "keep-old"]
        ),
        Case(outcome: .alreadyShared, setup: shared, call: share),
        Case(
            outcome: .alreadyShared,
            detail: "keeping the new",
            setup: "\(make); \(other)",
            call: share + ["--on-both", "keep-new"]
        ),
        Case(
            outcome: .merged,
            detail: "late writes",
            setup: "\(captured); sqlite3 old/H.db \"INSERT INTO t VALUES('late')\"",
            call: share + ["--old", "capture"]
        ),
        Case(outcome: .unshared, setup: shared, call: ["unshare", "old/H.db", "new/H.db"]),
        Case(outcome: .retired, setup: shared, call: ["retire", "old/H.db"]),
        Case(outcome: .done, detail: "inspect", setup: make, call: ["inspect", "old/H.db"]),
        Case(outcome: .done, detail: "verify", setup: make, call: ["verify", "old/H.db"]),
        Case(outcome: .done, detail: "status", setup: shared, call: ["status", "old/H.db", "new/H.db"]),
        Case(outcome: .usage, call: ["share", "old/H.db"]),
        Case(
            outcome: .findings,
            setup: "\(make); sqlite3 new/H.db 'CREATE TABLE t(a); INSERT INTO t VALUES(2);'",
            call: ["verify", "old/H.db", "--against", "new/H.db"]
        ),
        Case(outcome: .bothHoldObjects, setup: "\(make); \(other)", call: share),
        Case(
            outcome: .bothHoldObjects,
            detail: "planned",
            setup: "\(make); \(other)",
            call: ["plan", "old/H.db", "new/H.db"]
        ),
        Case(outcome: .lateWrites, setup: "\(shared); \(writePast)", call: share),
        Case(
            outcome: .needsDecision,
            detail: "shared to a different path before",
            setup: shared,
            call: ["share", "old/H.db", "new/other.db"]
        ),
        Case(outcome: .interrupted, detail: "planned", setup: killed, call: ["plan", "old/H.db", "new/H.db"]),
        Case(outcome: .rolledBack, setup: killed, call: ["abort", "old/H.db"]),
        Case(outcome: .rolledBack, detail: "resumed", setup: killed, call: ["resume", "old/H.db"]),
        Case(outcome: .shared, detail: "after an interrupted run", setup: killed, call: share),
        Case(outcome: .nothingFound, call: share),
        Case(outcome: .nothingFound, detail: "ignored", call: share + ["--if-missing", "ignore"], status: 0),
        Case(
            outcome: .nothingFound,
            detail: "planned and ignored",
            call: ["plan", "old/H.db", "new", "--if-missing", "ignore"],
            status: 0
        ),
        Case(outcome: .nothingFound, detail: "no container", call: ["container", "get", "absent", "--groups", "new"]),
        Case(outcome: .foundButUnreadable, setup: "seq 1000 > old/H.db", call: share),
        Case(outcome: .orphanSidecar, setup: "echo x > old/H.db-wal", call: share),
        Case(
            outcome: .incompatible,
            setup: "tool fixture build '\(Tool.package)/Fixtures/HabitCalendar/HabitCalendar.yaml' old/H.db; \(other)",
            call: share
        ),
    ]

    @Test("Every outcome appears as the exit status and in the JSON summary", arguments: cases)
    func outcome(_ row: Case) async throws {
        let scratch = try Scratch()
        try scratch.folder("old")
        try scratch.folder("new")
        let script = "TOOL='\(try Tool.path)'; tool() { '\(try Tool.path)' \"$@\" >&2; }; set -e; \(row.setup)"
        let setup = try await Tool.run(command: ["bash", "-c", script], folder: scratch.path)
        try #require(setup.status == 0, "\(setup.errors)")
        let run = try await Tool.run(row.call + ["--json"], folder: scratch.path)
        let lines = try Grammar().check(run)
        let summary = try #require(lines.last)
        #expect(summary["outcome"]?.string == row.outcome.rawValue, "\(run.errors)")
        #expect(run.status == row.status ?? row.outcome.exitStatus)
        if run.status == MigrationOutcome.needsDecision.exitStatus {
            #expect(summary["next"]?.string?.hasPrefix("store-migrate ") == true)
        }
        // A failure is one error object and one line; a finding is not an error.
        let errors = lines.filter { $0["type"]?.string == "error" }
        let isError = run.status != 0 && run.status != MigrationOutcome.findings.exitStatus
        #expect(errors.count == (isError ? 1 : 0))
        #expect(run.errorLines.count == (isError ? 1 : 0), "\(run.errors)")
        if isError { #expect(errors.first?["code"]?.string == row.outcome.rawValue) }
    }

    @Test("Every outcome prints results to standard output and at most one error line", arguments: cases)
    func streams(_ row: Case) async throws {
        let scratch = try Scratch()
        try scratch.folder("old")
        try scratch.folder("new")
        let script = "TOOL='\(try Tool.path)'; tool() { '\(try Tool.path)' \"$@\" >&2; }; set -e; \(row.setup)"
        _ = try await Tool.run(command: ["bash", "-c", script], folder: scratch.path)
        let run = try await Tool.run(row.call, folder: scratch.path)
        #expect(run.status == row.status ?? row.outcome.exitStatus)
        if run.status == 0 { #expect(!run.output.isEmpty) }
        #expect(run.errorLines.count <= 1, "\(run.errors)")
    }

    @Test("share of a store that another process has locked ends with status 11 after --lock-timeout")
    func busy() async throws {
        let scratch = try Scratch()
        try scratch.folder("new")
        try await scratch.store("H.db")
        let holder = """
            exec 3> >(sqlite3 H.db); printf '.timeout 60000\\nBEGIN EXCLUSIVE;\\n' >&3
            until ! sqlite3 H.db 'BEGIN IMMEDIATE' 2>/dev/null; do :; done
            '\(try Tool.path)' share H.db new --lock-timeout 100ms --json; status=$?
            '\(try Tool.path)' share H.db new --if-busy defer >&2; second=$?
            echo 'COMMIT;' >&3; exec 3>&-; wait; [ $second = $status ] && exit $status
            """
        let run = try await Tool.run(command: ["bash", "-c", holder], folder: scratch.path)
        #expect(run.status == MigrationOutcome.busy.exitStatus, "\(run.output)\(run.errors)")
        #expect(try JSONTree(run.lines.last ?? "")["outcome"]?.string == "busy")
        #expect(try scratch.names(scratch.path("new")).isEmpty)
    }
}
