import ArgumentParser
import StoreMigration

/// `resume OLD`: finishes an interrupted run.
struct ResumeVerb: AfterRunVerb {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Finishes an interrupted run: forward once the new store was published, back before."
    )
    static let words = ["resume"]
    static let outcomes: [MigrationOutcome] = [
        .shared, .alreadyShared, .retired, .restored, .migrated, .rolledBack, .needsDecision, .verificationFailed,
        .nothingFound, .busy, .foundButUnreadable, .notWritable, .noSpace, .cancelled,
    ]

    @Argument(help: "The private store's main file.")
    var old: PathArgument

    @OptionGroup var run: RunOptions
    @OptionGroup var reporting: ReportingOptions

    var again: NextStep? { .resume(old: old.path) }

    func carryOut(_ reporter: Reporter) throws -> ShareOutcome {
        try Recovery(of: old.url, options: run.shareOptions, logger: reporter.logger)
            .resumeAndWait(isCancelled: reporter.isCancelled)
    }
}

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
