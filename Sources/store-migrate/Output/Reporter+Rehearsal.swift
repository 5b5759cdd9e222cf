import StoreMigration
import UpgradeRehearsal

extension Reporter {
    /// Ends a rehearsal of so many scenarios: how many held, in text a line and in JSON members of the summary.
    func close(_ reports: [ScenarioReport], of count: Int) -> Ending {
        let held = reports.count { $0.result == .held }
        result("\(Figures.count(Int64(count), "scenario")), of which \(held) held", record: nil)
        let outcome: MigrationOutcome = held == count ? .done : reports.count < count ? .cancelled : .findings
        return Ending(
            outcome,
            members: [("scenarios", .integer(Int64(count))), ("held", .integer(Int64(held)))]
        )
    }
}
