import ArgumentParser
import StoreMigration

/// `retire OLD`: takes the old store out of use.
struct RetireVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "retire",
        abstract:
            "Takes the old store out of use once the new one is proved and nobody has the old one open; it is renamed and kept."
    )
    static let words = ["retire"]
    static let outcomes: [MigrationOutcome] = [
        .retired, .needsDecision, .lateWrites, .verificationFailed, .interrupted, .nothingFound, .busy,
        .foundButUnreadable, .notWritable,
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
        let outcome = try StoreRetirement(of: old.url, options: run.shareOptions, logger: reporter.logger).retire()
        return reporter.show(outcome, .fail, old: old.path, new: nil, took: start.duration(to: .now))
    }
}
