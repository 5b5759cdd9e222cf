import StoreAccess
import StoreMigration
import Testing
import UpgradeRehearsal

@Suite("Reading scenarios")
struct ScenarioReaderTests {
    private static func scenario(
        stores: String = "old: {at: app/old.sqlite}, new: {at: group/new.sqlite}",
        steps: String = "[{inspect: [old]}]",
        holds: String = "[{kind: old, is: absent}]",
        more: String = ""
    ) throws -> Scenario {
        try Scenario(
            yaml: "about: it\nstores: {\(stores)}\nsteps: \(steps)\nholds: \(holds)\n\(more)",
            name: "made-up"
        )
    }

    @Test("A minimal scenario is read with defaults")
    func least() throws {
        let scenario = try Self.scenario()
        #expect(scenario.about == "it")
        #expect(scenario.description == "made-up")
        #expect(scenario.deadline == .seconds(60))
    }

    @Test("Labels, the deadline and files are read")
    func whole() throws {
        let scenario = try Self.scenario(
            more: """
                story: [F1, E2]
                deadline: 500ms
                files:
                  group/: {mode: "0750", owner: nobody}
                  a/empty: {}
                  a/text: {text: hello, mode: "0600"}
                  a/bytes: {bytes: 12, fill: x}
                  a/rights: {mode: "0400"}
                  b/: {move: a/}
                """
        )
        #expect(scenario.story == ["F1", "E2"])
        #expect(scenario.deadline == .milliseconds(500))
        #expect(scenario.files.map(\.path) == ["group", "a/empty", "a/text", "a/bytes", "a/rights", "b"])
        #expect(scenario.files.map(\.mode) == [0o750, nil, 0o600, nil, 0o400, nil])
        #expect(scenario.files.map(\.isGivenAway) == [true, false, false, false, false, false])
        #expect(scenario.files.map { $0.content == nil } == [false, false, false, false, true, false])
    }

    @Test("All keys beside a verb are read")
    func verb() throws {
        let scenario = try Self.scenario(
            steps: """
                [{share: [old, "{place}/x", --on-both, merge], as: nobody, environment: {A: "{old}"}, deadline: 2m,
                  meanwhile: [{at: copying, steps: [{mark: then}]}], interrupted: {at: proving},
                  fails: [{call: fsync, nth: 2+, with: EIO}, {call: pwrite64, nth: all, with: ENOSPC}],
                  ends: {status: [1, 14], outcome: failed, finds: a, findsNot: all, says: [b, c], summary: {next: ~}}}]
                """
        )
        guard case .verb(let call) = scenario.steps.first?.action else {
            Issue.record("the step is no verb")
            return
        }
        #expect(call.words == ["share", "old", "{place}/x", "--on-both", "merge"])
        #expect(call.runsAsNobody)
        #expect(call.environment.map(\.name) == ["A"])
        #expect(call.deadline == .seconds(120))
        #expect(call.moments == [.copying, .proving])
        #expect(call.needsTracing)
        #expect(call.faults.map(\.when) == ["2+", nil])
        #expect(call.ending.statuses == [1, 14])
        #expect(call.ending.outcomes == [.failed])
        #expect(call.ending.texts == ["b", "c"])
        #expect(call.ending.members.map(\.value) == ["null"])
    }

    @Test(
        "Each mistake of a key is reported with what is expected",
        arguments: [
            ("[{share: [old, '{nwe}']}]", "no store is called 'nwe'"),
            ("[{share: old}]", "a list is expected here"),
            ("[{share: [old], as: root}]", "the other user is called 'nobody'"),
            ("[{share: [old], deadline: 20}]", "a time such as"),
            ("[{share: [old], killed: {}}]", "a run is killed 'at' a trigger point"),
            ("[{share: [old], killed: {call: 'a;b'}}]", "the name of a system call"),
            ("[{share: [old], fails: {call: fsync, nth: 0, with: EIO}}]", "a number such as 2"),
            ("[{share: [old], ends: {}}]", "how the run must end is missing"),
            ("[{share: [old], ends: {outcome: shred}}]", "'shred' is not known here"),
            ("[{share: [old], ends: {outcome: mergd}}]", "'mergd' is not known here; did you mean 'merged'?"),
            ("[{start: {process: old, opens: old}}]", "'old' is the name of a store"),
            ("[{start: {process: a, opens: old, after: 2}}]", "'after' goes with 'repeats'"),
            ("[{start: {process: a, opens: old, holds: reader, repeats: SELECT 1}}]", "a process holds something"),
            ("[{save: {in: old}}]", "a save has something"),
            ("[{together: [{inspect: [old]}]}]", "at the same time run two"),
            ("[{together: [{mark: a}, {mark: b}]}]", "at the same time run verbs"),
            ("[{make: {store: old}}]", "a store is made from"),
            ("[{files: {a/: {text: x}}}]", "'a/' is a folder"),
            ("[{files: {a: {text: x, copy: y}}}]", "one path becomes one thing"),
            ("[{files: {a: {fill: x}}}]", "'fill' goes with 'bytes'"),
            ("[{files: {a: {mode: '8'}}}]", "permissions such as"),
            ("[{files: {a: {owner: root}}}]", "files can be given to 'nobody' only"),
            ("[{check: [{equal: [old]}]}]", "two stores are compared"),
            ("[{check: [{sound: old, level: content}]}]", "a store alone is proved up to"),
            ("[{check: [{count: A, in: old, is: many}]}]", "a whole number is expected"),
            ("[{check: [{count: A, in: old, is: '{app}'}]}]", "no process 'app' was started"),
            ("[{check: [{unchanged: app, since: then}]}]", "no mark 'then' was set"),
            ("[{check: [{fine: old}]}]", "'fine' is no expectation; expectations are "),
            ("[{check: [{sond: old}]}]", "'sond' is no expectation; did you mean 'sound'?"),
            ("[{shar: [old]}]", "'shar' is no step; did you mean 'share'?"),
            ("[{dance: old}]", "'dance' is no step; steps are "),
            ("[{check: [{present: a, absent: b}]}]", "one expectation says one thing"),
            ("[]", "a scenario has at least one step"),
        ]
    )
    func mistakes(steps: String, message: String) throws {
        let error = #expect(throws: ScenarioError.self) { try Self.scenario(steps: steps) }
        #expect(error?.message.hasPrefix(message) == true, "\(error?.description ?? "")")
        #expect((error?.line ?? 0) == 3 && (error?.column ?? 0) > 0)
    }

    @Test("A folder's scenarios are ordered by path, without recipes and other files")
    func folder() throws {
        let error = #expect(throws: ScenarioError.self) { try Scenario.all(in: "../WrongScenarios") }
        #expect(error?.path.hasSuffix("/key-twice.yaml") == true)
        let empty = #expect(throws: ScenarioError.self) { try Scenario.all(in: "../Reading") }
        #expect(empty?.message.contains("contains no scenario") == true)
    }
}
