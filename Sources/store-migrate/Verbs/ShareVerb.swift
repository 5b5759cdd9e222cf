import ArgumentParser
import StoreAccess
import StoreMigration
import StrategyProcess

/// `share OLD NEW`: shares a store.
struct ShareVerb: ConfiguredVerb {
    static let configuration = CommandConfiguration(
        commandName: "share",
        abstract: "Copies a store to its shared location, proves the copy, and makes the old store refuse writes.",
        discussion: """
            Safe to run at any time; it does nothing when the store is already shared. A fence is a set of triggers: programs that \
            still write to the old store get an error that names the new path. With --old capture the old store stays writable \
            instead, and running share again merges what was written to it.
            """
    )
    static let words = ["share"]
    static let outcomes: [MigrationOutcome] = MigrationOutcome.allCases.filter { ![.retired, .done].contains($0) }
    static let summaryOnUsage = ShareMembers.unknown

    @OptionGroup var places: PlacesArguments
    @OptionGroup var previous: PreviousArguments
    @OptionGroup var policy: PolicyOptions
    @OptionGroup var strategies: StrategyArguments
    @OptionGroup var configuration: ConfigurationArguments
    @OptionGroup var run: RunOptions
    @OptionGroup var reporting: ReportingOptions
    @OptionGroup var report: ReportOptions

    @Flag(name: [.customShort("n"), .long], help: "Print what would be done, and write nothing.")
    var dryRun = false

    @Option(
        help: ArgumentHelp("Where to write, as JSON, how each role opens the shared store.", valueName: "file")
    )
    var descriptions: PathArgument?

    @Option(
        help: ArgumentHelp(
            """
            A program that is asked before the share writes anything: it gets the plan as JSON, as plan prints it, on standard input, \
            and ends with 0 for yes or 1 for no. It is confined as plugins are.
            """,
            valueName: "file"
        )
    )
    var confirm: PathArgument?

    @Flag(help: "End with status 3 when there are findings.")
    var strict = false

    var stateFolder: PathArgument? { run.state }
    var again: NextStep? { places.newPath.map { .share(old: places.old.path, new: $0) } }
    var summaryOnFailure: [(String, JSONValue)] { ShareMembers.places(old: places.old.path, new: places.newPath) }

    func perform(_ reporter: Reporter) throws -> Ending {
        let start = ContinuousClock.now
        try ToolSurroundings.current.becomeOwner(of: previous.owned(places.old), stateFolder: run.state?.url)
        let old = places.old.location
        let stores = [old] + places.possibleLocations
        return try report.accompany(Self.words, of: old.name, stores, failure: "was not shared", reporter) {
            try share(since: start, $0, reporter)
        }
    }

    private func share(
        since start: ContinuousClock.Instant,
        _ page: RunReport,
        _ reporter: Reporter
    ) throws -> Ending {
        var options = policy.shareOptions(run, previous)
        try descriptions?.requireFile()
        options.descriptionsFile = descriptions?.url
        options.resolver = try strategies.plugins.confinement.resolver(policy.merging)
        if !dryRun, let confirm {
            let program = try strategies.plugins.confinement.decisions(by: confirm)
            options.confirm = { plan in try await program.accepts(reporter.lines(of: plan)) }
        }
        let migrator = StoreMigrator(
            fromAnyOf: previous.places(places.old),
            to: try places.newURL(),
            options: options,
            strategies: try strategies.pipeline(),
            probeWriter: ProbeWriterCommand.writer,
            logger: reporter.logger,
            onProgress: page.onProgress
        )
        page.begin("planning")
        guard !dryRun else {
            let plan = try migrator.planAndWait(isCancelled: reporter.isCancelled)
            page.finish(counting: [("old", plan.old), ("new", plan.new)], run.access)
            page.tell(plan)
            return try reporter.show(plan, policy.ifMissing, isStrict: strict)
        }
        let outcome = try migrator.shareStoreIfNecessaryAndWait(isCancelled: reporter.isCancelled)
        let took = start.duration(to: .now)
        page.finish(counting: [("old", places.old.location), ("new", outcome.newLocation)], run.access)
        page.tell(outcome, old: places.old.location, new: places.newPath, took: took)
        return reporter.show(outcome, policy.ifMissing, places, took: took)
            .applyingStrictness(outcome.findings, isStrict: strict)
    }
}
