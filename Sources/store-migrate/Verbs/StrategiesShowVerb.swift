import ArgumentParser
import StoreMigration
import StoreStrategies

/// `strategies show NAME`: the documentation of a strategy.
struct StrategiesShowVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Explains one strategy: what it sets, its options, an example, and when it does not apply."
    )
    static let words = ["strategies", "show"]
    static let outcomes: [MigrationOutcome] = [.done, .failed]

    @Argument(help: "The strategy's name.")
    var name: String

    @OptionGroup var plugins: PluginArguments
    @OptionGroup var reporting: ReportingOptions

    func perform(_ reporter: Reporter) throws -> Ending {
        let strategy = try plugins.strategy(named: name)
        let findings = plugins.findings(about: strategy)
        reporter.result(strategy.text, record: strategy.record)
        reporter.report(findings)
        return Ending(.done, findings: findings.count)
    }
}
