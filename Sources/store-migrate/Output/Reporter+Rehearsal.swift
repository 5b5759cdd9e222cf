import StoreMigration
import UpgradeRehearsal

extension Reporter {
    /// Ends a rehearsal with the number of scenarios that held: a line of text, or members of the JSON summary.
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
