import RehearsalTesting
import Testing
import UpgradeRehearsal

@Suite("The scenarios of this project")
struct ScenarioTests {
    @Test("Each holds", arguments: try Scenario.all(in: "../../Fixtures/Scenarios"))
    func holds(_ scenario: Scenario) throws { try scenario.rehearseAndRecord() }

    @Test("Each of sixty stories at least is told")
    func stories() throws {
        let labels = try Scenario.all(in: "../../Fixtures/Scenarios").flatMap(\.story)
        #expect(Set(labels).count >= 60)
    }
}
