import ArgumentParser
import StoreFormat
import StoreMigration

/// `unshare OLD NEW`: back to the old place.
struct UnshareVerb: AfterRunVerb {
    static let configuration = CommandConfiguration(
        commandName: "unshare",
        abstract: "Goes back to the old place: it gets what the new one holds, and takes writes again.",
        discussion: """
            Late writes to the old place are merged first. What it held before is kept aside, and the new store is kept under \
            another name once nobody has it open; until then it takes no writes.
            """
    )
    static let words = ["unshare"]
    static let outcomes: [MigrationOutcome] = [
        .unshared, .needsDecision, .cloudMirrorInBothPlaces, .lateWrites, .verificationFailed, .interrupted,
        .nothingFound, .busy, .foundButUnreadable, .notWritable, .incompatible, .noSpace,
    ]

    @Argument(help: "The private store's main file.")
    var old: PathArgument

    @Argument(help: "Where it was shared.")
    var new: PathArgument

    @Option(
        help: ArgumentHelp(
            "How far the proof of what comes back goes: files, sqlite, coredata, content or merging.",
            valueName: "level"
        )
    )
    var level: VerificationLevel = .merging

    @OptionGroup var run: RunOptions
    @OptionGroup var reporting: ReportingOptions

    func carryOut(_ reporter: Reporter) throws -> ShareOutcome {
        var options = run.shareOptions
        options.level = level
        return try StoreUnsharing(
            old.url,
            from: new.url,
            options: options,
            logger: reporter.logger,
            onProgress: reporter.onProgress
        )
        .unshare(isCancelled: reporter.isCancelled)
    }
}
