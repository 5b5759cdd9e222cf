import Testing
import UpgradeRehearsal

@Suite("Expected endings of runs")
struct EndingTests {
    @Test("A run with the expected ending holds")
    func right() throws {
        let report = try MadeUp.report(
            """
            [{share: [old, new], ends: {status: [0, 3], outcome: [shared, merged], findsNot: emptyStoreKeptAside,
              summary: {command: share, exit: 0}}},
             {inspect: ["{place}/none/x", --no-color], ends: {status: 10, says: [there is no store, none]}},
             {inspect: [group], ends: {outcome: done}}]
            """
        )
        #expect(report.result == .held, "\(report)")
    }

    @Test(
        "A run with another ending fails, with the actual outcome and status",
        arguments: [
            ("{status: 4}", "outcome alreadyShared, status 0"),
            ("{outcome: shared}", "outcome alreadyShared, status 0"),
            ("{finds: lateWrites}", "none"), ("{says: nonsense}", "alreadyShared"), ("{summary: {exit: 1}}", "0"),
        ]
    )
    func wrong(ends: String, found: String) throws {
        let report = try MadeUp.report("[{share: [old, new]}, {share: [old, new], ends: \(ends)}]")
        #expect(report.failures.count == 1)
        #expect(report.failures.first?.found.contains(found) == true, "\(report)")
        #expect(report.steps.map(\.hasHeld) == [true, false])
    }

    @Test("An unwanted finding fails the run, and so does an unexpected status")
    func unwanted() throws {
        let report = try MadeUp.report(
            "[{files: {group/Store.sqlite: {}}}, {share: [old, new], ends: {findsNot: all, status: 0}}]"
        )
        #expect(report.failures.map(\.expected) == ["no such finding"])
        let absent = try MadeUp.report("[{inspect: [new]}]")
        #expect(absent.failures.first?.found == "outcome nothingFound, status 10")
        #expect(absent.failures.first?.said.contains("there is no store") == true)
    }

    @Test("A run that exceeds its deadline is killed and fails")
    func late() throws {
        let report = try MadeUp.report("[{relay: [watch, old], deadline: 300ms}]", recipe: MadeUp.managed)
        #expect(report.failures.map(\.found) == ["it was still running, and was killed"])
    }

    @Test("Concurrent runs hold or fail individually")
    func together() throws {
        let both = "{share: [old, new], ends: {outcome: [shared, alreadyShared]}}"
        let report = try MadeUp.report("[{together: [\(both), \(both), \(both)]}]", holds: "[{equal: [old, new]}]")
        #expect(report.result == .held, "\(report)")
        let wrong = try MadeUp.report("[{together: [{doctor: []}, {inspect: [new]}]}]")
        #expect(wrong.failures.map(\.title) == ["inspect new"])
    }
}
