import UpgradeRehearsal

extension ScenarioReport {
    /// The report as escaped lines: the output of processes is untrusted.
    var text: String {
        description.split(separator: "\n", omittingEmptySubsequences: false).map { Escaped.text(String($0)) }
            .joined(separator: "\n")
    }
}
