import RehearsalTesting
import TestSupport
import Testing
import UpgradeRehearsal

@Suite("The scenarios of this project", .sampled)
struct ScenarioTests {
    /// All scenarios, or one of each folder.
    private static var chosen: [Scenario] {
        get throws {
            Tier.sample(try Scenario.all(in: "../../Fixtures/Scenarios")) { scenario in
                scenario.path.split(separator: "/").dropLast().joined(separator: "/")
            }
        }
    }

    @Test("Each scenario holds", arguments: try chosen)
    func holds(_ scenario: Scenario) throws { try scenario.rehearseAndRecord() }

    @Test("The scenarios cover at least sixty stories")
    func stories() throws {
        let labels = try Scenario.all(in: "../../Fixtures/Scenarios").flatMap(\.story)
        #expect(Set(labels).count >= 60)
    }
}
