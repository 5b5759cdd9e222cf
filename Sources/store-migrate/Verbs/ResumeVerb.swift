import ArgumentParser
import StoreMigration

/// `resume OLD`: finishes an interrupted run.
struct ResumeVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Finishes an interrupted run: forward once the new store was published, back before."
    )
    static let words = ["resume"]
    static let outcomes: [MigrationOutcome] = [
        .shared, .alreadyShared, .rolledBack, .verificationFailed, .nothingFound, .busy, .foundButUnreadable,
        .notWritable, .noSpace,
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
        let outcome = try Recovery(of: old.url, options: run.shareOptions, logger: reporter.logger).resume()
        return reporter.show(outcome, .fail, old: old.path, new: nil, took: start.duration(to: .now))
    }
}
