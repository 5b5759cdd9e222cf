import StoreMigration
import UpgradeRehearsal

extension Reporter {
    /// Ends a rehearsal with the number of scenarios that held: a line of text, or members of the JSON summary.
    func close(_ reports: [ScenarioReport], of count: Int) -> Ending {
        let held = reports.count { $0.result == .held }
        result("\(Figures.count(Int64(count), "scenario")), of which \(held) held", record: nil)
        let invalid = reports.first { $0.result == .invalid }
        if let reason = invalid?.reason {
            let others = reports.contains { $0.result != .invalid } ? "; the others were run" : ""
            report(Failure(outcome: .usage, message: reason, advice: "Fix the scenario\(others)."))
        }
        let outcome: MigrationOutcome =
            reports.count < count ? .cancelled : invalid != nil ? .usage : held == count ? .done : .findings
        return Ending(
            outcome,
            members: [("scenarios", .integer(Int64(count))), ("held", .integer(Int64(held)))]
        )
    }
}
