import ArgumentParser
import StoreFormat
import StoreMigration

/// `share OLD NEW`: the whole flow.
struct ShareVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "share",
        abstract: "Copies a store to its shared place, proves the copy, and refuses writers of the old one.",
        discussion: "Safe to run at any time; when all is done it does nothing."
    )
    static let words = ["share"]
    static let outcomes: [MigrationOutcome] = MigrationOutcome.allCases.filter { ![.retired, .done].contains($0) }
    static let summaryOnUsage = ShareMembers.unknown

    @OptionGroup var places: PlacesArguments
    @OptionGroup var policy: PolicyOptions
    @OptionGroup var strategies: StrategyArguments
    @OptionGroup var configuration: ConfigurationArguments
    @OptionGroup var run: RunOptions
    @OptionGroup var reporting: ReportingOptions

    @Flag(name: [.customShort("n"), .long], help: "Say what would be done, and write nothing.")
    var dryRun = false

    @Option(
        help: ArgumentHelp("Where to write how each role opens the shared store, as JSON.", valueName: "file")
    )
    var descriptions: PathArgument?

    @Flag(help: "End with status 3 when anything was noticed.")
    var strict = false

    var stateFolder: PathArgument? { run.state }
    var summaryOnFailure: [(String, JSONValue)] { ShareMembers.places(old: places.old.path, new: places.newPath) }

    func perform(_ reporter: Reporter) throws -> Ending {
        let start = ContinuousClock.now
        try OldStoreOwner.become(places.old.url)
        let new = try places.newURL()
        let migrator = StoreMigrator(
            from: places.old.url,
            to: new,
            options: policy.shareOptions(run),
            strategies: try strategies.pipeline(),
            logger: reporter.logger,
            onProgress: reporter.onProgress
        )
        guard !dryRun else { return try reporter.show(migrator.plan(), policy.ifMissing) }
        let file = try descriptions.map { try DescriptionsFile($0.url, besides: [places.old.url, new]) }
        let outcome = try migrator.shareStoreIfNecessary(isCancelled: reporter.isCancelled)
        var ending = reporter.show(outcome, policy.ifMissing, places, took: start.duration(to: .now))
        if ending.exitStatus == 0, let file, !outcome.descriptions.isEmpty { try file.write(outcome.descriptions) }
        if strict, ending.exitStatus == 0, outcome.findings.contains(where: { $0.severity > .info }) {
            ending.exitStatus = MigrationOutcome.findings.exitStatus
        }
        return ending
    }
}
