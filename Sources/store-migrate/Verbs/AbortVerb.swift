import ArgumentParser
import StoreMigration

/// `abort OLD`: rolls back an interrupted run.
struct AbortVerb: AfterRunVerb {
    static let configuration = CommandConfiguration(
        commandName: "abort",
        abstract:
            "Rolls back an interrupted run; once the new store is published it does nothing and ends with status 4."
    )
    static let words = ["abort"]
    static let outcomes: [MigrationOutcome] = [
        .rolledBack, .alreadyShared, .needsDecision, .nothingFound, .busy, .foundButUnreadable, .notWritable,
        .noSpace, .cancelled,
    ]

    @Argument(help: "The private store's main file.")
    var old: PathArgument

    @OptionGroup var run: RunOptions
    @OptionGroup var reporting: ReportingOptions

    var again: NextStep? { .abort(old: old.path) }

    func carryOut(_ reporter: Reporter) throws -> ShareOutcome {
        try Recovery(of: old.url, options: run.shareOptions, logger: reporter.logger)
            .abortAndWait(isCancelled: reporter.isCancelled)
    }
}
