import RehearsalTesting
import TestSupport
import Testing
import UpgradeRehearsal

@Suite("The scenarios of this project", .sampled)
struct ScenarioTests {
    /// All of them, or one of each folder.
    private static var chosen: [Scenario] {
        get throws {
            Tier.sample(try Scenario.all(in: "../../Fixtures/Scenarios")) { scenario in
                scenario.path.split(separator: "/").dropLast().joined(separator: "/")
            }
        }
    }

    @Test("Each holds", arguments: try chosen)
    func holds(_ scenario: Scenario) throws { try scenario.rehearseAndRecord() }

    @Test("Each of sixty stories at least is told")
    func stories() throws {
        let labels = try Scenario.all(in: "../../Fixtures/Scenarios").flatMap(\.story)
        #expect(Set(labels).count >= 60)
    }
}
