public import Testing
public import UpgradeRehearsal

extension Scenario {
    /// Runs the scenario in a test, and records an issue for each failed claim, at the test's line.
    ///
    /// The report is attached to a failed test, as text and under the scenario's name. A scenario that cannot be run is an
    /// issue, too. Throws `RehearsalFailure` when the tool is not found.
    ///
    /// ```swift
    /// @Test(arguments: try Scenario.all(in: "Scenarios"))
    /// func upgrade(_ scenario: Scenario) throws { try scenario.rehearseAndRecord() }
    /// ```
    @discardableResult
    public func rehearseAndRecord(sourceLocation: SourceLocation = #_sourceLocation) throws -> ScenarioReport {
        let report = try rehearse()
        guard report.result != .held else { return report }
        Attachment.record(report.description, named: "\(name).txt", sourceLocation: sourceLocation)
        if let reason = report.reason {
            Issue.record("\(name) could not be carried out: \(reason)", sourceLocation: sourceLocation)
        }
        for failure in report.failures {
            let place = "\(path.isEmpty ? name : path):\(failure.line):\(failure.column)"
            Issue.record(
                "\(place): \(failure.title): expected \(failure.expected), found \(failure.found)",
                sourceLocation: sourceLocation
            )
        }
        return report
    }
}
