import ArgumentParser
import BuiltInStrategies
import StoreMigration
import StoreStrategies

/// `strategies list`: the built-in strategies.
struct StrategiesListVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the built-in strategies and what each does."
    )
    static let words = ["strategies", "list"]
    static let outcomes: [MigrationOutcome] = [.done]

    @OptionGroup var reporting: ReportingOptions

    func perform(_ reporter: Reporter) throws -> Ending {
        let strategies = BuiltInStrategies.all
        if reporter.isJSON {
            for strategy in strategies { reporter.result("", record: strategy.record) }
        } else {
            let rows = strategies.map { [$0.name, $0.documentation.summary] }
            reporter.result(TextTable.text(rows), record: nil)
        }
        return Ending(.done)
    }
}
