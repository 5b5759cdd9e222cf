import FoundationEssentials
import StoreMigration
import Testing

/// The next command after an obstacle that passes repeats the call, and can be typed in any folder.
@Suite("Obstacles that pass")
struct PassingObstacleTests {
    enum Obstacle: String, CaseIterable, Sendable {
        case lock
        case fileSizeLimit
        case signal

        var outcome: MigrationOutcome {
            switch self {
            case .lock: .busy
            case .fileSizeLimit: .noSpace
            case .signal: .cancelled
            }
        }

        /// A script that runs the call in its way, and ends with its status.
        func script(_ call: String) -> String {
            switch self {
            case .lock:
                """
                exec 3> >(sqlite3 old/H.db); printf '.timeout 60000\\nBEGIN EXCLUSIVE;\\n' >&3
                until ! sqlite3 old/H.db 'BEGIN IMMEDIATE' 2>/dev/null; do :; done
                "$TOOL" \(call) --lock-timeout 100ms --json; status=$?
                echo 'COMMIT;' >&3; exec 3>&-; wait; exit $status
                """
            case .fileSizeLimit: "ulimit -f 0; exec \"$TOOL\" \(call) --json"
            case .signal:
                // The signal arrives with the first new folder.
                """
                exec strace -f -qq -o /dev/null -e trace=mkdirat -e inject=mkdirat:signal=SIGINT:when=1 \
                "$TOOL" \(call) --json
                """
            }
        }
    }

    struct Call: CustomTestStringConvertible, Sendable {
        let obstacle: Obstacle
        let setup: String
        let words: String
        /// What the call, and the next command, end with when nothing is in the way.
        let outcome: MigrationOutcome
        /// The end of the next command.
        var repeated = ""

        var testDescription: String { "\(words) after \(obstacle.rawValue)" }
    }

    private static let options = "--old capture --policy late --backup backups"

    static let calls = [
        Call(
            obstacle: .lock,
            setup: OutcomeTests.make + "; mkdir backups",
            words: "share old/H.db new \(options)",
            outcome: .shared,
            repeated: "/new --old capture --policy late --backup SCRATCH/backups --lock-timeout 100ms"
        ),
        Call(
            obstacle: .fileSizeLimit,
            setup: OutcomeTests.make + "; mkdir backups state",
            words: "share old/H.db new \(options) --state state",
            outcome: .shared,
            repeated: "/new --old capture --policy late --backup SCRATCH/backups --state SCRATCH/state"
        ),
        Call(
            obstacle: .signal,
            setup: OutcomeTests.make,
            words: "share old/H.db new --level files",
            outcome: .shared,
            repeated: "/new --level files"
        ),
        Call(
            obstacle: .lock,
            setup: OutcomeTests.shared + "; mkdir backups",
            words: "retire old/H.db --backup=backups",
            outcome: .retired,
            repeated: "/old/H.db --backup=SCRATCH/backups --lock-timeout 100ms"
        ),
        Call(
            obstacle: .lock,
            setup: OutcomeTests.captured,
            words: "unshare old/H.db new --policy late",
            outcome: .unshared,
            repeated: "/new --policy late --lock-timeout 100ms"
        ),
        Call(
            obstacle: .fileSizeLimit,
            setup: "\(OutcomeTests.make); \(OutcomeTests.other); cp -a old/H.db base.db",
            words: "merge new/H.db old/H.db --base base.db --scan --policy late",
            outcome: .done,
            repeated: "/old/H.db --base SCRATCH/base.db --scan --policy late"
        ),
    ]

    @Test("The next command repeats the call with its options, and succeeds in another folder", arguments: calls)
    func repeated(_ call: Call) async throws {
        let scratch = try await NextCommandTests.scratch(after: call.setup)
        let run = try await Tool.run(
            command: ["bash", "-c", call.obstacle.script(call.words)],
            environment: ["TOOL": try Tool.path],
            folder: scratch.path
        )
        let summary = try #require(try Grammar().check(run).last)
        #expect(summary["outcome"]?.string == call.obstacle.outcome.rawValue, "\(run.errors)")
        let next = try #require(summary["next"]?.string)
        #expect(next.hasSuffix(call.repeated.replacing("SCRATCH", with: scratch.path)), "\(next)")
        #expect(run.errors.contains("Next: \(next)"), "\(run.errors)")
        let again = try await Tool.run(
            command: ["bash", "-c", "store-migrate() { '\(try Tool.path)' \"$@\"; }; \(next) --json"],
            folder: "/"
        )
        let end = try #require(try Grammar().check(again).last)
        #expect(end["outcome"]?.string == call.outcome.rawValue, "\(again.errors)")
        let row = OutcomeTests.Case(outcome: call.outcome, call: [])
        try await NextCommandTests.follow(end["next"]?.string, of: row, in: scratch)
    }
}
