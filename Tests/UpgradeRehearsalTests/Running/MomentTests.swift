import StoreAccess
import Testing
import UpgradeRehearsal

@Suite("Trigger points of a run")
struct MomentTests {
    @Test(
        "A share that is killed at a trigger point is finished by the next share",
        arguments: [TriggerPoint.copying, .proving, .publishing, .placed, .published],
        ["fence", "capture"]
    )
    func killed(at moment: TriggerPoint, policy: String) throws {
        let report = try MadeUp.report(
            """
            [{share: [old, new, --old, \(policy)], killed: {at: \(moment.rawValue)}},
             {status: [old, new], ends: {status: [0, 6]}},
             {share: [old, new, --old, \(policy)], ends: {outcome: [shared, alreadyShared]}}]
            """,
            holds: "[{equal: [old, new]}, {absent: group/.store-migrate-*}, {sound: new}]"
        )
        #expect(report.result == .held, "\(report)")
    }

    @Test("Old and new store have the expected state at each trigger point of a share")
    func places() throws {
        let report = try MadeUp.report(
            """
            [{share: [old, new], meanwhile: [
              {at: copying, steps: [{check: [{absent: group/Store.sqlite}, {present: group/.store-migrate-*}]}]},
              {at: publishing, steps: [{write: {in: old, sql: "INSERT INTO t (x) VALUES ('in time')"}}]},
              {at: placed, steps: [{check: [{present: group/Store.sqlite}, {fenced: old, is: false}]},
                                   {write: {in: old, sql: DELETE FROM t, refused: locked}}]},
              {at: published, steps: [{check: [{fenced: old}]}, {write: {in: old, sql: DELETE FROM t, refused: moved}}]}]}]
            """,
            holds: "[{sql: SELECT count(*) FROM t, in: new, is: 4}]"
        )
        #expect(report.result == .held, "\(report)")
    }

    @Test("A merge and a retirement can be killed at theirs; a committed merge is not repeated")
    func others() throws {
        let late = "{write: {in: old, sql: \"INSERT INTO t (x) VALUES ('late')\"}}"
        let report = try MadeUp.report(
            """
            [{share: [old, new, --old, capture]}, \(late),
             {share: [old, new, --old, capture], killed: {at: merging}},
             {share: [old, new, --old, capture], killed: {at: merged}},
             {share: [old, new]}, {retire: [old], killed: {at: retiring}}, {retire: [old], ends: {outcome: retired}}]
            """,
            holds: "[{sql: SELECT count(*) FROM t, in: new, is: 4}, {absent: app/Store.sqlite}]"
        )
        #expect(report.result == .held, "\(report)")
    }

    @Test("A trigger point that the run does not reach is a failure")
    func missing() throws {
        let report = try MadeUp.report("[{share: [old, new], killed: {at: merging}}]")
        #expect(report.failures.map(\.expected) == ["the run reaches the trigger point 'merging'"])
        #expect(report.failures.map(\.found) == ["it ended before: outcome shared, status 0"])
    }

    @Test("A failing step at a trigger point ends the run, too")
    func failingMeanwhile() throws {
        let report = try MadeUp.report(
            "[{share: [old, new], meanwhile: [{at: proving, steps: [{check: [{absent: app}]}]}]}, {mark: never}]"
        )
        #expect(report.failures.map(\.title) == ["absent app"])
        #expect(report.steps.map(\.title) == ["check", "share old new"])
    }

    @Test("A run that gets SIGINT ends as interrupted")
    func interrupted() throws {
        let report = try MadeUp.report(
            "[{share: [old, new], interrupted: {at: proving}, ends: {outcome: cancelled, status: 130}}]",
            holds: "[{absent: group/*}, {unchanged: app/Store.sqlite}]"
        )
        #expect(report.result == .held, "\(report)")
    }

    private static let hasTracer = !(ToolLocation.strace ?? "").isEmpty

    @Test("Injected system call errors and a kill before a call reach the run", .enabled(if: hasTracer, "needs strace"))
    func calls() throws {
        let report = try MadeUp.report(
            """
            [{share: [old, new], fails: {call: fsync, with: EIO}, ends: {status: 1}},
             {share: [old, new], fails: [{call: pwrite64, nth: 2+, with: ENOSPC}, {call: write, nth: 40, with: EIO}],
              ends: {outcome: [noSpace, interrupted]}},
             {share: [old, new], killed: {call: renameat2}},
             {share: [old, new], ends: {outcome: [shared, alreadyShared]}}]
            """,
            holds: "[{equal: [old, new]}, {absent: group/.store-migrate-*}]"
        )
        #expect(report.result == .held, "\(report)")
        let wrong = try MadeUp.report("[{share: [old, new], fails: {call: fsync, nth: 5000, with: EIO}}]")
        #expect(wrong.failures.map(\.found) == ["it made none of them: outcome shared, status 0"])
    }

    @Test("A run as another user has that user's permissions")
    func nobody() throws {
        let report = try MadeUp.report(
            """
            [{files: {group/: {mode: "0555"}, app/: {owner: nobody}}},
             {share: [old, new], as: nobody, ends: {outcome: notWritable}},
             {files: {group/: {mode: "0755", owner: nobody}}}, {share: [old, new], as: nobody}]
            """,
            holds: "[{equal: [old, new]}]"
        )
        #expect(report.result == .held, "\(report)")
    }
}
