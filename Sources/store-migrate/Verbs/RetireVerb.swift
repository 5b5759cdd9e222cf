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
        .foundButUnreadable, .notWritable, .noSpace, .cancelled,
    ]

    @Argument(help: "The private store's main file.")
    var old: PathArgument

    @Argument(help: "Where it was shared, to be checked: a path, or the folder of the new store.")
    var new: PathArgument?

    @OptionGroup var group: GroupOptions

    @Option(help: ArgumentHelp("Where the archive goes. (default: the journal's folder)", valueName: "dir"))
    var backup: PathArgument?

    @OptionGroup var run: RunOptions
    @OptionGroup var reporting: ReportingOptions

    var again: NextStep? { .retire(old: old.path) }

    func validate() throws {
        guard new == nil || group.group == nil else {
            throw ValidationError("name the new store once: NEW, or --group ID")
        }
        try group.requireComplete(hasOtherStore: true)
    }

    func carryOut(_ reporter: Reporter) throws -> ShareOutcome {
        var options = run.shareOptions
        options.backupFolder = backup?.url
        let place = try new?.url ?? (group.group == nil ? nil : group.url(ofDatabaseLike: old.location))
        return try StoreRetirement(of: old.url, sharedTo: place, options: options, logger: reporter.logger)
            .retireAndWait(isCancelled: reporter.isCancelled)
    }
}
