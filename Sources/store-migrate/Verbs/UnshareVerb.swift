import ArgumentParser
import StoreAccess
import StoreMigration

/// `unshare OLD NEW`: moves the content back to the old store.
struct UnshareVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "unshare",
        abstract: "Goes back to the old store: it gets the content of the new one, and accepts writes again.",
        discussion: """
            Late writes to the old store are merged first. Its former content is kept aside. The new store is renamed once no \
            process has it open; until then it refuses writes.
            """
    )
    static let words = ["unshare"]
    static let outcomes: [MigrationOutcome] = [
        .unshared, .needsDecision, .cloudMirrorInBothPlaces, .lateWrites, .verificationFailed, .interrupted,
        .nothingFound, .busy, .foundButUnreadable, .notWritable, .incompatible, .noSpace,
    ]
    static let summaryOnUsage = ShareMembers.unknown

    @OptionGroup var places: PlacesArguments

    @Option(
        help: ArgumentHelp(
            "How far the content that comes back is proved; a level includes those before it.",
            valueName: "level"
        )
    )
    var level: VerificationLevel = .merging

    @OptionGroup var merging: MergeArguments
    @OptionGroup var confinement: SandboxArguments
    @OptionGroup var run: RunOptions
    @OptionGroup var reporting: ReportingOptions
    @OptionGroup var report: ReportOptions

    @Flag(name: [.customShort("n"), .long], help: "Print what would be done, and write nothing.")
    var dryRun = false

    var stateFolder: PathArgument? { run.state }

    func requireCompleteOptions() throws { try places.requireNew() }
    var again: NextStep? { places.newPath.map { .unshare(old: places.old.path, new: $0) } }
    var summaryOnFailure: [(String, JSONValue)] { ShareMembers.places(old: places.old.path, new: places.newPath) }

    func perform(_ reporter: Reporter) throws -> Ending {
        let start = ContinuousClock.now
        try ToolSurroundings.current.becomeOwner(of: places.old.url, stateFolder: run.state?.url)
        let old = places.old.location
        let stores = [old] + places.possibleLocations
        return try report.accompany(Self.words, of: old.name, stores, failure: "was not unshared", reporter) {
            try unshare(since: start, $0, reporter)
        }
    }

    private func unshare(
        since start: ContinuousClock.Instant,
        _ page: RunReport,
        _ reporter: Reporter
    ) throws -> Ending {
        var options = run.shareOptions
        options.level = level
        options.merging = merging.namedSettings
        options.resolver = try confinement.resolver(merging)
        let unsharing = StoreUnsharing(
            places.old.url,
            from: try places.newURL(),
            options: options,
            logger: reporter.logger,
            onProgress: page.onProgress
        )
        page.begin("planning")
        guard !dryRun else {
            let plan = try unsharing.planAndWait(isCancelled: reporter.isCancelled)
            page.finish(counting: [("old", plan.old), ("new", plan.new)], run.access)
            page.tell(plan)
            return try reporter.show(plan, .fail, isStrict: false)
        }
        let outcome = try unsharing.unshareAndWait(isCancelled: reporter.isCancelled)
        let took = start.duration(to: .now)
        page.finish(counting: [("old", places.old.location), ("new", outcome.newLocation)], run.access)
        page.tell(outcome, old: places.old.location, new: places.newPath, took: took)
        return reporter.show(outcome, .fail, places, took: took)
    }
}
