import RehearsalTesting
import Testing
import UpgradeRehearsal

@Test(arguments: try Scenario.all(in: "Scenarios"))
func upgrade(_ scenario: Scenario) throws { try scenario.rehearseAndRecord() }
