import ArgumentParser
import StoreMigration

/// `retire OLD`: takes the old store out of use.
struct RetireVerb: AfterRunVerb {
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

    @Argument(help: "The private store's main file.")
    var old: PathArgument

    @OptionGroup var run: RunOptions
    @OptionGroup var reporting: ReportingOptions

    func carryOut(_ reporter: Reporter) throws -> ShareOutcome {
        try StoreRetirement(of: old.url, options: run.shareOptions, logger: reporter.logger).retire()
    }
}
