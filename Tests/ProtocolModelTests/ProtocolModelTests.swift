import ProtocolModel
import TestSupport
import Testing

@Suite("The model of the protocol", .sampled)
struct ProtocolModelTests {
    /// The other scopes take minutes in a debug build; the harness `model` has them.
    @Test(
        "Every state keeps the rules, and commands lead from every state to a settled one",
        arguments: Tier.sized(CheckedScope.brief, inVerify: CheckedScope.brief + CheckedScope.whole.prefix(1))
    )
    func states(_ scope: CheckedScope) {
        let result = scope.check()
        print(
            "\(scope): \(result.states) states, \(result.transitions) transitions, \(result.violations.count) violations"
        )
        #expect(result.violations.isEmpty, "\(result.violations.map(\.description).joined(separator: "\n"))")
        #expect(result.states > 1000 && result.settled > 10)
    }

    @Test("A known mistake in the order of the steps is found with a trace", arguments: KnownMistake.allCases)
    func mistakes(_ mistake: KnownMistake) throws {
        let sound = mistake.witness.check()
        #expect(sound.violations.isEmpty, "\(sound.violations.map(\.description).joined(separator: "\n"))")
        let result = mistake.witness.check(mistake, stopsAtFirst: true)
        let violation = try #require(result.violations.first)
        #expect(violation.trace.count > 4)
    }

    /// A flaw that is corrected in the tool fails here: then the model follows the tool, and the flaw leaves the list.
    @Test("The model as the tool is now shows each open flaw", arguments: OpenFlaw.allCases)
    func openFlaws(_ flaw: OpenFlaw) {
        let result = flaw.check()
        #expect(result.violations.contains { $0.rule.contains(flaw.witness.rule) })
    }
}
