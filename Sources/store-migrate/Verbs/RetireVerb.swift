import ArgumentParser
import StoreMigration

/// `retire OLD`: archives and removes the old store.
struct RetireVerb: AfterRunVerb {
    static let configuration = CommandConfiguration(
        commandName: "retire",
        abstract:
            "Archives the old store and removes it, once the new one is proved and no process has the old one open."
    )
    static let words = ["retire"]
    static let outcomes: [MigrationOutcome] = [
        .retired, .needsDecision, .lateWrites, .verificationFailed, .interrupted, .nothingFound, .busy,
        .foundButUnreadable, .notWritable, .noSpace,
    ]

    @Argument(help: "The private store's main file.")
    var old: PathArgument

    @Option(help: ArgumentHelp("Where the archive goes. (default: the journal's folder)", valueName: "dir"))
    var backup: PathArgument?

    @OptionGroup var run: RunOptions
    @OptionGroup var reporting: ReportingOptions

    func carryOut(_ reporter: Reporter) throws -> ShareOutcome {
        var options = run.shareOptions
        options.backupFolder = backup?.url
        return try StoreRetirement(of: old.url, options: options, logger: reporter.logger).retire()
    }
}
