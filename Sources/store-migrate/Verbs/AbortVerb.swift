import ArgumentParser
import StoreMigration

/// `abort OLD`: takes an interrupted run back.
struct AbortVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "abort",
        abstract:
            "Takes an interrupted run back; once the new store was published it does nothing and ends with status 4."
    )
    static let words = ["abort"]
    static let outcomes: [MigrationOutcome] = [
        .rolledBack, .alreadyShared, .needsDecision, .nothingFound, .busy, .foundButUnreadable, .notWritable,
    ]
    static let summaryOnUsage = ShareMembers.unknown

    @Argument(help: "The private store's main file.")
    var old: PathArgument

    @OptionGroup var run: RunOptions
    @OptionGroup var reporting: ReportingOptions

    var stateFolder: PathArgument? { run.state }
    var summaryOnFailure: [(String, JSONValue)] { ShareMembers.places(old: old.path, new: nil) }

    func perform(_ reporter: Reporter) throws -> Ending {
        let start = ContinuousClock.now
        try OldStoreOwner.become(old.location)
        let outcome = try Recovery(of: old.url, options: run.shareOptions, logger: reporter.logger).abort()
        return reporter.show(outcome, .fail, old: old.path, new: nil, took: start.duration(to: .now))
    }
}
