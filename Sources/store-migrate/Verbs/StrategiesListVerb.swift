import ArgumentParser
import StoreMigration
import StoreStrategies

/// `strategies list`: the built-in strategies, and the plugins in the named folders.
struct StrategiesListVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the strategies that --strategy accepts and what each does."
    )
    static let words = ["strategies", "list"]
    static let outcomes: [MigrationOutcome] = [.done]

    @OptionGroup var plugins: PluginArguments
    @OptionGroup var reporting: ReportingOptions

    func perform(_ reporter: Reporter) throws -> Ending {
        let (strategies, findings) = try plugins.strategies()
        reporter.report(findings)
        if reporter.isJSON {
            for strategy in strategies { reporter.result("", record: strategy.record) }
        } else {
            let rows = strategies.map { [$0.name, $0.documentation.summary] }
            reporter.result(TextTable.text(rows), record: nil)
        }
        return Ending(.done, findings: findings.count)
    }
}
