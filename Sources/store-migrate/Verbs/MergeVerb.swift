import ArgumentParser
import ChangeMerging
import StoreAccess
import StoreMigration

/// `merge INTO FROM`: merges one store's changes into another.
struct MergeVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Merges one store into another, object by object and property by property.",
        discussion: """
            The store FROM is only read. With --base, the store both were copied from, changes since then are merged; if one \
            store was shared to the other, that share has the base. Without a base, objects are matched by the model's \
            unique attributes or --identity. Rows that lose a conflict are kept in a file beside the journal.
            """
    )
    static let words = ["merge"]
    static let outcomes: [MigrationOutcome] = [
        .merged, .done, .findings, .needsDecision, .cloudMirrorInBothPlaces, .verificationFailed, .nothingFound, .busy,
        .foundButUnreadable, .notWritable, .orphanSidecar, .incompatible, .noSpace,
    ]

    @Argument(help: "The main file of the store that takes the changes; left out with --group, which names it.")
    var into: PathArgument?

    @Argument(
        help: "The main file of the store whose changes are merged; container get prints the path of a group's store."
    )
    var from: PathArgument?

    @OptionGroup var group: GroupOptions

    @Option(help: ArgumentHelp("Put back the rows that a merge parked in this file.", valueName: "file"))
    var fromParked: PathArgument?

    @Option(help: ArgumentHelp("The store that both were copied from.", valueName: "store"))
    var base: PathArgument?

    @Option(
        help: ArgumentHelp(
            "How far the merged store is proved; a level includes those before it.",
            valueName: "level"
        )
    )
    var level: VerificationLevel = .coredata

    @Flag(
        help:
            "Compare the stores row by row, even if history records the changes: plain SQLite writers leave no history."
    )
    var scan = false

    @OptionGroup var merging: MergeArguments
    @OptionGroup var confinement: SandboxArguments
    @OptionGroup var run: RunOptions
    @OptionGroup var reporting: ReportingOptions
    @OptionGroup var report: ReportOptions

    @Flag(name: [.customShort("n"), .long], help: "Print what would be merged, and write nothing.")
    var dryRun = false

    @Flag(help: "End with status 3 when there are conflicts or findings.")
    var strict = false

    static let summaryOnUsage: [(String, JSONValue)] = [("next", .null)]

    var stateFolder: PathArgument? { run.state }
    var again: NextStep? {
        guard let into = try? receiver, let source else { return nil }
        return .merge(into: into.path, from: source.path)
    }

    /// The store that takes the changes.
    private var receiver: PathArgument? {
        get throws { try group.group == nil ? into : group.path(ofDatabaseLike: source?.location) }
    }

    /// The store whose changes are merged; with a group, the first argument.
    private var source: PathArgument? { group.group == nil ? from : into }

    func validate() throws {
        guard group.group == nil || from == nil else {
            throw ValidationError("name the store once: INTO, or --group ID; FROM in a group is named by its path")
        }
        try group.requireComplete(hasOtherStore: into != nil)
        guard group.group != nil || into != nil else { throw ValidationError("name the store: INTO, or --group ID") }
        guard (source == nil) != (fromParked == nil) else {
            throw ValidationError("name one source: FROM, or --from-parked FILE")
        }
        if fromParked != nil, dryRun || base != nil || report.report != nil || merging.resolver != nil {
            throw ValidationError("--from-parked cannot be combined with -n, --base, --resolver or --report")
        }
    }

    func perform(_ reporter: Reporter) throws -> Ending {
        guard let into = try receiver else {
            throw ValidationError("name the store to merge into")
        }
        try ToolSurroundings.current.becomeOwner(of: into.url, stateFolder: run.state?.url)
        if let fromParked { return try restore(fromParked, into: into, reporter) }
        guard let from = source else { throw ValidationError("name the store to merge from") }
        let stores = [into, from].map(\.location) + (base.map { [$0.location] } ?? [])
        return try report.accompany(Self.words, of: from.location.name, stores, failure: "was not merged", reporter) {
            try merge(from, into: into, $0, reporter)
        }
    }
}

extension MergeVerb {
    /// Merges two stores, or plans that.
    func merge(_ from: PathArgument, into: PathArgument, _ page: RunReport, _ reporter: Reporter) throws -> Ending {
        page.count("INTO before", into.location, run.access)
        page.begin("planning")
        let merger = StoreMerging(
            from.url,
            into: into.url,
            options: try options,
            logger: reporter.logger,
            onProgress: page.onProgress,
            isCancelled: reporter.isCancelled
        )
        let outcome = try dryRun ? merger.planAndWait() : merger.mergeAndWait()
        page.finish(counting: [("FROM", from.location), ("INTO now", into.location)], run.access)
        page.tell(outcome, into: into.location, from: from.location)
        return reporter.show(outcome, into: into.path, from: from.path, isStrict: strict)
    }

    private var options: MergeOptions {
        get throws {
            let common = run.shareOptions
            var options = MergeOptions()
            options.settings = merging.settings
            options.resolver = try confinement.resolver(merging)
            if scan { options.settings.source = .scan }
            options.base = base?.url
            options.level = level
            options.lockTimeout = run.patience
            options.stateFolder = common.stateFolder
            options.allowsNetworkFileSystem = common.allowsNetworkFileSystem
            return options
        }
    }

    /// Restores rows that a merge parked in a file.
    func restore(_ file: PathArgument, into: PathArgument, _ reporter: Reporter) throws -> Ending {
        var options = MergeOptions()
        options.lockTimeout = run.patience
        let outcome = try ParkedRowRestoring(from: file.url, into: into.url, options: options).restoreAndWait()
        reporter.report(outcome.findings)
        reporter.result(
            reporter.style.green("Put back")
                + ": \(outcome.updated) overwritten, \(outcome.inserted) inserted again in \(Escaped.text(into.path))",
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
