import ArgumentParser
import StoreMigration

/// `plan OLD NEW`: what `share` would do.
struct PlanVerb: ConfiguredVerb {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Decides what share would do, writes nothing, and ends with the status share would end with."
    )
    static let words = ["plan"]
    static let outcomes = ShareVerb.outcomes.filter { ![.verificationFailed, .rolledBack].contains($0) }
    static let summaryOnUsage = ShareMembers.unknown

    @OptionGroup var places: PlacesArguments
    @OptionGroup var previous: PreviousArguments
    @OptionGroup var policy: PolicyOptions
    @OptionGroup var strategies: StrategyArguments
    @OptionGroup var configuration: ConfigurationArguments
    @OptionGroup var run: RunOptions
    @OptionGroup var reporting: ReportingOptions

    @Option(help: ArgumentHelp("Where share would write its descriptions; only checked.", valueName: "file"))
    var descriptions: PathArgument?

    @Option(help: ArgumentHelp("A program that share would ask; a plan asks nothing.", valueName: "file"))
    var confirm: PathArgument?

    var stateFolder: PathArgument? { run.state }
    var again: NextStep? { places.newPath.map { .share(old: places.old.path, new: $0) } }
    var summaryOnFailure: [(String, JSONValue)] { ShareMembers.places(old: places.old.path, new: places.newPath) }

    func perform(_ reporter: Reporter) throws -> Ending {
        // A run acts as the store's owner, so the plan must check that user's permissions.
        try ToolSurroundings.current.becomeOwner(of: previous.owned(places.old), stateFolder: run.state?.url)
        var options = policy.shareOptions(run, previous)
        try descriptions?.requireFile()
        options.descriptionsFile = descriptions?.url
        options.resolver = try strategies.plugins.confinement.resolver(policy.merging)
        let migrator = StoreMigrator(
            fromAnyOf: previous.places(places.old),
            to: try places.newURL(),
            options: options,
            strategies: try strategies.pipeline(),
            logger: reporter.logger,
            onProgress: reporter.onProgress
        )
        return try reporter.show(
            migrator.planAndWait(isCancelled: reporter.isCancelled),
            policy.ifMissing,
            isStrict: false
        )
    }
}
