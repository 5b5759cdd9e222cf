import ArgumentParser
import ChangeMerging
import StoreFormat
import StoreMigration

/// `merge INTO FROM`: one store's changes into another.
struct MergeVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Merges one store into another, object by object and property by property.",
        discussion: """
            The store FROM is only read. With --base, the store both came from, changes since then are merged; without, \
            objects are the same when the model's unique attributes or --identity say so. Rows that lose a decision are \
            kept in a file beside the journal.
            """
    )
    static let words = ["merge"]
    static let outcomes: [MigrationOutcome] = [
        .merged, .done, .findings, .needsDecision, .cloudMirrorInBothPlaces, .verificationFailed, .nothingFound, .busy,
        .foundButUnreadable, .notWritable, .orphanSidecar, .incompatible, .noSpace,
    ]

    @Argument(help: "The main file of the store that takes the changes.")
    var into: PathArgument

    @Argument(help: "The main file of the store whose changes are merged.")
    var from: PathArgument?

    @Option(help: ArgumentHelp("Instead, puts the rows back that a merge left in a file.", valueName: "file"))
    var fromParked: PathArgument?

    @Option(help: ArgumentHelp("The store that both came from.", valueName: "store"))
    var base: PathArgument?

    @Option(help: ArgumentHelp("How far the merged store is proved: files, sqlite or coredata.", valueName: "level"))
    var level: VerificationLevel = .coredata

    @Flag(
        help:
            "Compare the stores row by row, also where history tells what changed: plain SQLite writers tell it nothing."
    )
    var scan = false

    @OptionGroup var merging: MergeArguments
    @OptionGroup var run: RunOptions
    @OptionGroup var reporting: ReportingOptions

    @Flag(name: [.customShort("n"), .long], help: "Say what would be merged, and write nothing.")
    var dryRun = false

    @Flag(help: "End with status 3 when there are conflicts, or anything was noticed.")
    var strict = false

    static let summaryOnUsage: [(String, JSONValue)] = [("next", .null)]

    var stateFolder: PathArgument? { run.state }

    func validate() throws {
        guard (from == nil) != (fromParked == nil) else {
            throw ValidationError("name what is merged once: FROM, or --from-parked FILE")
        }
        if fromParked != nil, dryRun || base != nil {
            throw ValidationError("--from-parked goes with neither -n nor --base")
        }
    }

    func perform(_ reporter: Reporter) throws -> Ending {
        try OldStoreOwner.become(into.url)
        if let fromParked { return try restore(fromParked, reporter) }
        guard let from else { throw ValidationError("name the store to merge from") }
        let common = run.shareOptions
        var options = MergeOptions()
        options.settings = merging.settings
        if scan { options.settings.source = .scan }
        options.base = base?.url
        options.level = level
        options.lockTimeout = run.patience
        options.stateFolder = common.stateFolder
        options.allowsNetworkFileSystem = common.allowsNetworkFileSystem
        let merger = StoreMerging(
            from.url,
            into: into.url,
            options: options,
            logger: reporter.logger,
            onProgress: reporter.onProgress,
            isCancelled: reporter.isCancelled
        )
        let outcome = try dryRun ? merger.plan() : merger.merge()
        return reporter.show(outcome, into: into.path, from: from.path, isStrict: strict)
    }

    private func restore(_ file: PathArgument, _ reporter: Reporter) throws -> Ending {
        var options = MergeOptions()
        options.lockTimeout = run.patience
        let outcome = try ParkedRowRestoring(from: file.url, into: into.url, options: options).restore()
        reporter.report(outcome.findings)
        reporter.result(
            reporter.style.green("Put back")
                + ": \(outcome.updated) overwritten, \(outcome.inserted) there again in \(Escaped.text(into.path))",
            record: .object([
                ("type", .string("parkedRows")), ("into", .string(into.path)), ("file", .string(file.path)),
                ("updated", .integer(Int64(outcome.updated))), ("inserted", .integer(Int64(outcome.inserted))),
                ("left", .integer(Int64(outcome.findings.count))),
            ])
        )
        let ending = Ending(.done, findings: outcome.findings.count, members: Self.summaryOnUsage)
        return outcome.findings.isEmpty ? ending : ending.failing(.findings)
    }
}
