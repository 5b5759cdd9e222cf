import ArgumentParser
import FoundationEssentials
import StoreMigration
import StoreStrategies

/// `strategies run NAME --request FILE`: runs one strategy on one request, without a store.
struct StrategiesRunVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs one strategy on the store that a file describes, and prints what it would set."
    )
    static let words = ["strategies", "run"]
    static let outcomes: [MigrationOutcome] = [.done, .failed]
    private static let greatestFile = 1 << 20

    @Argument(help: ArgumentHelp("The strategy, optionally with options.", valueName: "name[:key=value,…]"))
    var strategy: String

    @Option(help: ArgumentHelp("The request, as JSON; options on the command line replace its own.", valueName: "file"))
    var request: PathArgument

    @OptionGroup var plugins: PluginArguments
    @OptionGroup var reporting: ReportingOptions

    func perform(_ reporter: Reporter) throws -> Ending {
        var request = try readRequest()
        let selection = try StrategySelection(strategy)
        let strategy = try plugins.strategy(named: selection.name)
        let findings = plugins.findings(about: strategy)
        if !selection.options.values.isEmpty { request.options = selection.options }
        let answer = try StrategyPipeline.Step(strategy, options: request.options).answer(to: request)
        reporter.result(answer.text, record: try answer.record(strategy.name))
        reporter.report(findings)
        return Ending(.done, findings: findings.count)
    }

    private func readRequest() throws -> StrategyRequest {
        func refuse(_ message: String) -> Failure {
            Failure(
                outcome: .usage,
                message: message,
                path: request.path,
                advice: "See Plugins/README.md for a request, and 'store-migrate help strategies run' for the call."
            )
        }
        guard let data = try? Data(contentsOf: request.url), data.count <= Self.greatestFile else {
            throw refuse("the request cannot be read")
        }
        do {
            return try JSONDecoder().decode(StrategyRequest.self, from: data)
        } catch DecodingError.keyNotFound(let key, _) {
            throw refuse("the request has no member '\(key.stringValue)'")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            throw refuse("the request's member '\(path)' has the wrong type")
        } catch DecodingError.dataCorrupted(let context) {
            throw refuse("the request is invalid: \(context.debugDescription)")
        }
    }
}
