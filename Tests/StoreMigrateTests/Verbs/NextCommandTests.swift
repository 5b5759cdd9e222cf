import Foundation
import StoreMigration
import Testing

/// Follows the printed next commands as a shell would.
@Suite("Next commands")
struct NextCommandTests {
    static let status = ["status", "old/H.db", "new/H.db"]
    private static let late = "sqlite3 old/H.db \"INSERT INTO t VALUES('late')\""
    static let recipe = "'\(Tool.package)/Fixtures/HabitCalendar/HabitCalendar.yaml'"
    private static let keptNew =
        "\(OutcomeTests.make); \(OutcomeTests.other); tool share old/H.db new/H.db --on-both keep-new"
    /// Writes to an external file of a fenced Core Data store, in place.
    static let externalWrite = """
        tool fixture build \(recipe) old/H.db; tool share old/H.db new/H.db --level files; \
        echo late > "$(find old -path '*_EXTERNAL_DATA/*' -type f | head -n 1)"
        """

    /// Builds a store whose entity has these attributes; with an object, or without any.
    private static func version(_ attributes: String, at path: String, isEmpty: Bool = true) -> String {
        let save = isEmpty ? "" : "{at: 2026-01-01, insert: [{entity: E, values: {a: x}}]}"
        return "printf 'about: A model.\\nseed: %s\\nmodel: {entities: {E: {attributes: {%s}}}}\\nsaves: [%s]\\n' "
            + "\(path) '\(attributes)' '\(save)' > v.yaml; tool fixture build v.yaml \(path)"
    }

    /// An old store of a former model version, whose object the new version can have.
    private static func versions(isNewEmpty: Bool) -> String {
        version("a: {type: string}", at: "old/H.db", isEmpty: false) + "; "
            + version("a: {type: string}, b: {type: string}", at: "new/H.db", isEmpty: isNewEmpty)
    }

    /// Beside the cases of all outcomes, those in which advice once led nowhere.
    static let cases =
        OutcomeTests.cases + [
            .init(
                outcome: .done,
                detail: "both stores have objects",
                setup: "\(OutcomeTests.make); \(OutcomeTests.other)",
                call: status
            ),
            .init(
                outcome: .done,
                detail: "late writes with a base",
                setup: "\(OutcomeTests.captured); \(late)",
                call: status
            ),
            .init(
                outcome: .done,
                detail: "late writes without a base",
                setup: "\(OutcomeTests.shared); \(OutcomeTests.writePast)",
                call: status
            ),
            .init(outcome: .done, detail: "rows only in the old store", setup: keptNew, call: status),
            .init(
                outcome: .merged,
                detail: "rows only in the old store",
                setup: keptNew,
                call: ["merge", "new/H.db", "old/H.db"]
            ),
            .init(outcome: .done, detail: "an external file changed in place", setup: externalWrite, call: status),
            .init(
                outcome: .lateWrites,
                detail: "an external file changed in place",
                setup: externalWrite,
                call: ["unshare", "old/H.db", "new/H.db"]
            ),
            .init(
                outcome: .needsDecision,
                detail: "a merge of a pair",
                setup: externalWrite,
                call: ["merge", "new/H.db", "old/H.db", "-n"]
            ),
            .init(
                outcome: .needsDecision,
                detail: "a merge of objects that a decision left, without a base",
                setup: "tool fixture build \(recipe) old/H.db; cp -a old/. new/; "
                    + "sqlite3 new/H.db 'UPDATE ZHABIT SET Z_OPT = Z_OPT + 1'; "
                    + "tool share old/H.db new/H.db --on-both keep-new",
                call: ["merge", "new/H.db", "old/H.db"]
            ),
            .init(
                outcome: .done,
                detail: "another store at the new path",
                setup: "\(OutcomeTests.shared); rm new/H.db; \(OutcomeTests.other)",
                call: status
            ),
            .init(
                outcome: .done,
                detail: "the shared store is missing",
                setup: "\(OutcomeTests.shared); rm new/H.db",
                call: status
            ),
            .init(
                outcome: .nothingFound,
                detail: "after a retire, to another path",
                setup: "\(OutcomeTests.shared); tool retire old/H.db",
                call: ["share", "old/H.db", "new/other.db"]
            ),
            .init(
                outcome: .done,
                detail: "a misspelt old path",
                setup: OutcomeTests.shared,
                call: ["status", "old/I.db", "new/H.db"]
            ),
            .init(
                outcome: .nothingFound,
                detail: "two misspelt paths",
                setup: OutcomeTests.shared,
                call: ["status", "old/I.db", "new"]
            ),
            .init(
                outcome: .nothingFound,
                detail: "a new folder that is missing",
                setup: OutcomeTests.make,
                call: ["share", "old/H.db", "newer/"]
            ),
            .init(
                outcome: .failed,
                detail: "a backup folder that is missing",
                setup: OutcomeTests.make,
                call: OutcomeTests.share + ["--backup", "archives"]
            ),
            .init(
                outcome: .failed,
                detail: "a plan with a backup folder that is missing",
                setup: OutcomeTests.make,
                call: OutcomeTests.share + ["--backup", "archives", "--dry-run"]
            ),
            .init(
                outcome: .failed,
                detail: "a fixture's folder that is missing",
                call: [
                    "fixture", "build", "\(Tool.package)/Fixtures/HabitCalendar/HabitCalendar.yaml", "newer/H.sqlite",
                ]
            ),
            .init(
                outcome: .restored,
                setup: "\(OutcomeTests.make); tool backup old/H.db -o H.tar",
                call: ["restore", "H.tar", "new/H.db"]
            ),
            .init(outcome: .published, setup: OutcomeTests.make, call: ["publish", "old/H.db", "new/H.db"]),
            .init(
                outcome: .alreadyPublished,
                setup: "\(OutcomeTests.make); tool publish old/H.db new/H.db",
                call: ["publish", "old/H.db", "new/H.db"]
            ),
            .init(
                outcome: .migrated,
                setup: version("a: {type: string}", at: "old/H.db") + "; "
                    + version("a: {type: string}, b: {type: string}", at: "new/I.db"),
                call: ["migrate", "old/H.db", "--model", "new/I.db"]
            ),
            .init(
                outcome: .incompatible,
                detail: "an older version of the model",
                setup: versions(isNewEmpty: false),
                call: OutcomeTests.share
            ),
            .init(
                outcome: .incompatible,
                detail: "an older version of the model, and an empty new store",
                setup: versions(isNewEmpty: true),
                call: OutcomeTests.share
            ),
            .init(
                outcome: .verificationFailed,
                setup: "sqlite3 old/H.db 'CREATE TABLE t(a, b); CREATE INDEX i ON t(a); INSERT INTO t VALUES(1, 2)'; "
                    + "tool share old/H.db new/H.db; sqlite3 new/H.db \"PRAGMA writable_schema = 1; "
                    + "UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON t(b)' WHERE name = 'i'\"",
                call: ["retire", "old/H.db"]
            ),
            .init(
                outcome: .cloudMirrorInBothPlaces,
                setup: "tool fixture build \(recipe) old/H.db; sqlite3 old/H.db 'CREATE TABLE ANSCKRECORDMETADATA"
                    + "(Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER, ZENTITYPK INTEGER)'; "
                    + "tool share old/H.db new/H.db --old capture --level files; for store in old/H.db new/H.db; do "
                    + "sqlite3 $store 'INSERT INTO ANSCKRECORDMETADATA VALUES(1, 1, 1)'; done",
                call: OutcomeTests.share
            ),
            .init(
                outcome: .notWritable,
                setup: "tool fixture build \(recipe) old/H.db; tool share old/H.db new/H.db --level files",
                call: ["history", "prune", "old/H.db", "--keep", "7d"]
            ),
            .init(
                outcome: .shared,
                detail: "planned",
                setup: OutcomeTests.make,
                call: ["plan", "old/H.db", "new/H.db", "--old", "capture"]
            ),
        ] + elsewhere

    /// Recorded in a state folder that the call does not name.
    private static let elsewhere: [OutcomeTests.Case] = ["fence", "capture"]
        .flatMap { policy -> [OutcomeTests.Case] in
            let late = policy == "capture" ? "; sqlite3 old/H.db 'UPDATE ZHABIT SET Z_OPT = Z_OPT + 1'" : ""
            let setup = """
                mkdir state; tool fixture build \(recipe) old/H.db; \
                tool share old/H.db new/H.db --level files --state state --old \(policy)\(late)
                """
            let calls = [
                ["merge", "new/H.db", "old/H.db", "-n"], ["merge", "new/H.db", "old/H.db"], OutcomeTests.share,
                ["plan", "old/H.db", "new/H.db", "--policy", "late"], ["unshare", "old/H.db", "new/H.db"],
                ["retire", "old/H.db", "new/H.db"],
            ]
            return calls.map {
                .init(outcome: .needsDecision, detail: "\($0) of a pair in a state folder", setup: setup, call: $0)
            } + [.init(outcome: .done, detail: "a pair in a state folder", setup: setup, call: status)]
        }

    /// Folders `old` and `new`, in which a shell ran the commands of a setup.
    static func scratch(after commands: String) async throws -> Scratch {
        let scratch = try Scratch()
        try scratch.folder("old")
        try scratch.folder("new")
        let tool = try Tool.path
        let script = "TOOL='\(tool)'; tool() { '\(tool)' \"$@\" >&2; }; set -e; \(commands)"
        let setup = try await Tool.run(command: ["bash", "-c", script], folder: scratch.path)
        try #require(setup.status == 0, "\(setup.errors)")
        return scratch
    }

    /// The words that a person puts in the place of an attribute.
    private static let identities = [
        "DaysChallenge=ATTRIBUTE": "DaysChallenge=habit,fromDate", "HabitDay=ATTRIBUTE": "HabitDay=habit,date",
        " E=ATTRIBUTE": " E=a",
    ]

    /// Runs `command` and each next one, until none is left; returns them.
    @discardableResult
    static func follow(_ command: String?, of row: OutcomeTests.Case, in scratch: Scratch) async throws
        -> [String]
    {
        let tool = try Tool.path
        var followed: [String] = []
        var command = command
        while let next = command, followed.count < 4 {
            try #require(!followed.contains(next), "\(next) leads to itself after \(followed)")
            followed.append(next)
            let completed = identities.reduce(next) { $0.replacing($1.key, with: $1.value) }
            #expect(!completed.contains("ATTRIBUTE"), "\(completed)")
            let isTool = next.hasPrefix("store-migrate ")
            let run = try await Tool.run(
                command: [
                    "bash", "-c", "store-migrate() { '\(tool)' \"$@\"; }; \(completed)\(isTool ? " --json" : "")",
                ],
                folder: scratch.path
            )
            guard isTool else {
                #expect(run.status == 0, "\(run.errors)")
                let again = try await Tool.run(row.call, folder: scratch.path)
                #expect(again.status == 0, "\(again.errors)")
                break
            }
            #expect([0, 3, 4].contains(run.status), "\(next): \(run.errors)")
            command = try Grammar().check(run).last?["next"]?.string
            #expect(command != nil || run.status != 4, "\(next) asks for a decision, and names no command")
        }
        #expect(followed.count <= 3, "\(followed)")
        return followed
    }

    @Test(
        "Following the next commands ends after at most three, with nothing left or a choice for a person",
        arguments: cases
    )
    func follow(_ row: OutcomeTests.Case) async throws {
        let scratch = try await Self.scratch(after: row.setup)
        let first = try await Tool.run(row.call + ["--json"], folder: scratch.path)
        let summary = try #require(try Grammar().check(first).last)
        #expect(summary["outcome"]?.string == row.outcome.rawValue, "\(first.errors)")
        if first.status == 0 || first.status == 4 { #expect(!first.errors.contains("Check the path")) }
        let migrates = summary["next"]?.string?.contains("--migrate") == true
        #expect(migrates == first.errors.contains("Let the share migrate the old store's rows"), "\(first.errors)")
        try await Self.follow(summary["next"]?.string, of: row, in: scratch)
    }

    @Test(
        "Each command that status lets a person choose runs, and ends after at most three with nothing to decide",
        arguments: cases.filter { $0.call == status }
    )
    func choose(_ row: OutcomeTests.Case) async throws {
        func choices(in scratch: Scratch) async throws -> [String] {
            let run = try await Tool.run(Self.status + ["--json"], folder: scratch.path)
            let records = try Grammar().check(run)
            return try #require(records.first { $0["type"]?.string == "status" })["choices"]?.array?
                .compactMap(\.string)
                ?? []
        }
        let offered = try await choices(in: Self.scratch(after: row.setup)).count
        for index in 0..<offered {
            // Each choice in a world of its own: the paths in the commands are those of the folder.
            let scratch = try await Self.scratch(after: row.setup)
            let command = try await choices(in: scratch)[index]
            let followed = try await Self.follow(command, of: row, in: scratch)
            // A person reads a difference, and the rows of a kept store, before another decision.
            guard !followed.contains(where: { $0.contains(/\ (diff|inspect)\ |keep-new$/) }) else { continue }
            let left = try await choices(in: scratch)
            #expect(left.isEmpty, "\(command): \(left)")
        }
    }

    @Test("The next commands of every outcome are followed, after obstacles that pass too")
    func everyOutcome() {
        let followed = Set(Self.cases.map(\.outcome)).union(PassingObstacleTests.Obstacle.allCases.map(\.outcome))
        #expect(followed == Set(MigrationOutcome.allCases))
    }
}
