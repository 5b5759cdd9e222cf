import Testing
import UpgradeRehearsal

@Suite("Expectations")
struct ExpectationTests {
    /// A claim that holds for a shared store with three rows, one that does not, and the actual result of the latter.
    struct Pair: CustomTestStringConvertible, Sendable {
        let right: String
        let wrong: String
        let found: String

        var testDescription: String { wrong }
    }

    private static let pairs = [
        Pair(right: "equal: [old, new]", wrong: "different: [old, new]", found: "their contents are equal"),
        Pair(right: "different: [old, other]", wrong: "equal: [old, other]", found: "their contents differ"),
        Pair(right: "{sound: new}", wrong: "{sound: damaged, level: sqlite}", found: "]"),
        Pair(
            right: "{sound: damaged, level: sqlite, finds: indexDiffers}",
            wrong: "{sound: new, finds: indexDiffers}",
            found: "none"
        ),
        Pair(
            right: "{sql: SELECT count(*) FROM t, in: new, is: 3}",
            wrong: "{sql: SELECT count(*) FROM t, in: new, is: 4}",
            found: "3"
        ),
        Pair(
            right: "{sql: SELECT x FROM t ORDER BY id, in: new, is: [early 1, early 2, early 3]}",
            wrong: "{sql: SELECT x FROM t, in: new, is: []}",
            found: "early 1, early 2, early 3"
        ),
        Pair(right: "{sql: SELECT NULL, in: new, is: ~}", wrong: "{sql: SELECT NULL, in: new, is: 0}", found: "null"),
        Pair(right: "{kind: new, is: store}", wrong: "{kind: nowhere, is: store}", found: "absent"),
        Pair(right: "{kind: empty, is: emptyFile}", wrong: "{kind: empty, is: absent}", found: "emptyFile"),
        Pair(right: "{fenced: old}", wrong: "{fenced: new}", found: "no fence"),
        Pair(right: "{fenced: new, is: false}", wrong: "{fenced: old, is: false}", found: "a fence"),
        Pair(right: "{present: [group/*.sqlite, app/Store.sqlite]}", wrong: "{present: group/none*}", found: "nothing"),
        Pair(right: "{absent: group/.store-migrate-*}", wrong: "{absent: \"group/S*e\"}", found: "group/Store.sqlite"),
        Pair(right: "{unchanged: other.sqlite}", wrong: "{unchanged: app}", found: "app/"),
        Pair(
            right: "{unchanged: app, since: then}",
            wrong: "{unchanged: kept, since: then}",
            found: "kept/file is not"
        ),
        Pair(right: "{mode: kept/file, is: \"0600\"}", wrong: "{mode: kept/file, is: \"0640\"}", found: "600"),
        Pair(right: "{mode: kept, is: \"0750\"}", wrong: "{mode: kept/none, is: \"0640\"}", found: "nothing"),
        Pair(right: "{count: Item, in: managed, is: 3}", wrong: "{count: Item, in: managed, is: 2}", found: "3"),
        Pair(
            right: "{count: Item, in: managed, is: 1, where: \"title == 'Item 2'\"}",
            wrong: "{count: Nothing, in: managed, is: 0}",
            found: "Nothing"
        ),
    ]

    private static func scenario(_ holds: [String]) throws -> Scenario {
        let holds = holds.map { $0.hasPrefix("{") ? "  - \($0)" : "  - {\($0)}" }.joined(separator: "\n")
        return try Scenario(
            yaml: """
                about: made up
                stores:
                  old: {at: app/Store.sqlite, recipe: \(MadeUp.plain)}
                  new: {at: group/Store.sqlite}
                  other: {at: other.sqlite, recipe: {seed: z, sql: [CREATE TABLE t (x)]}}
                  managed: {at: managed.sqlite, recipe: \(MadeUp.managed)}
                  damaged: {at: damaged.sqlite, recipe: \(Self.damaged)}
                  empty: {at: empty.sqlite}
                  nowhere: {at: nowhere.sqlite}
                files: {group/: {}, empty.sqlite: {}, kept/: {mode: "0750"}, kept/file: {text: x, mode: "0600"}}
                steps:
                  - share: [old, new]
                  - mark: then
                  - files: {kept/file: {text: y}}
                holds:
                \(holds)
                """,
            name: "made-up"
        )
    }

    private static let damaged =
        "{seed: d, sql: [CREATE TABLE t (x), CREATE INDEX i ON t (x), "
        + "{statement: \"INSERT INTO t VALUES ('{n}')\", repeat: 3}], damage: [{missingIndexEntry: {index: i, row: 2}}]}"

    @Test("Each kind of claim holds where it is true")
    func right() throws {
        let report = try Self.scenario(Self.pairs.map(\.right)).rehearse()
        #expect(report.result == .held, "\(report)")
        #expect(report.steps.map(\.title) == ["share old new", "mark then", "files"])
    }

    @Test("Each kind of false claim fails with its line and the actual result")
    func wrong() throws {
        let report = try Self.scenario(Self.pairs.map(\.wrong)).rehearse()
        #expect(report.result == .failed)
        let lines = report.failures.map(\.line)
        #expect(Set(lines).count == Self.pairs.count, "\(report)")
        let first = try #require(lines.first)
        for (index, pair) in Self.pairs.enumerated() {
            let failure = report.failures.first { $0.line == first + index }
            #expect(failure?.found.contains(pair.found) == true, "\(pair.wrong): \(failure?.found ?? "held")")
        }
    }

    @Test("A check between steps runs in its place, and a failure there stops the scenario")
    func inBetween() throws {
        let report = try MadeUp.report("[{check: [{absent: app}]}, {share: [old, new]}]")
        #expect(report.failures.map(\.title) == ["absent app"])
        #expect(report.steps.map(\.hasHeld) == [false])
        #expect(report.description.contains("expected  nothing\n    found     app"))
    }
}
