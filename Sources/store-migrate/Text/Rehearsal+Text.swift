import UpgradeRehearsal

extension ScenarioReport {
    /// The report as lines; what processes said may hold anything.
    var text: String {
        description.split(separator: "\n", omittingEmptySubsequences: false).map { Escaped.text(String($0)) }
            .joined(separator: "\n")
    }
}
