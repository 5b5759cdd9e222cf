import ArgumentParser
import StoreFormat
import StoreMigration

/// `clean STORE|FOLDER`: lists and removes what earlier runs left on purpose.
struct CleanVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "clean",
        abstract: "Lists what earlier runs left on purpose, and removes what is proved to be elsewhere.",
        discussion: """
            A displaced or withdrawn store is removed if it has no rows, or if every row is, with the same values, in the store that \
            is in use now, and no process has it open. Archives are removed only by --keep, parked rows never. What is kept \
            is listed with the reason.
            """
    )
    static let words = ["clean"]
    static let outcomes: [MigrationOutcome] = [
        .done, .needsDecision, .nothingFound, .busy, .foundButUnreadable, .notWritable, .noSpace,
    ]

    @Argument(
        help: ArgumentHelp(
            "The store whose leftovers are meant, or a folder for those of all stores in it.",
            valueName: "store|folder"
        )
    )
    var place: PathArgument

    @Option(
        help: ArgumentHelp("Keep the last COUNT archives of each retired store, instead of all.", valueName: "count"),
        transform: RelayExtent.count
    )
    var keep: Int?

    @OptionGroup var run: RunOptions
    @OptionGroup var reporting: ReportingOptions

    @Flag(name: [.customShort("n"), .long], help: "Print what would be removed, and remove nothing.")
    var dryRun = false

    static let summaryOnUsage: [(String, JSONValue)] = [("next", .null)]

    var stateFolder: PathArgument? { run.state }

    func perform(_ reporter: Reporter) throws -> Ending {
        if !StoreInspector.isFolder(place.path) {
            try ToolSurroundings.current.becomeOwner(of: place.url, stateFolder: run.state?.url)
        } else if ToolSurroundings.current.ownsProcess {
            try OldStoreOwner.becomeOwner(ofPlace: place.url)
        }
        var options = CleaningOptions()
        options.archives = keep
        options.lockTimeout = run.patience
        options.stateFolder = run.state?.url
        options.allowsNetworkFileSystem = run.access.allowsNetworkFileSystem
        let cleaning = StoreCleaning(
            at: place.url,
            options: options,
            logger: reporter.logger,
            isCancelled: reporter.isCancelled
        )
        let leftovers = try cleaning.cleanAndWait(isRehearsal: dryRun)
        for leftover in leftovers {
            reporter.result(leftover.text(isRehearsal: dryRun), record: leftover.record(isRehearsal: dryRun))
        }
        if leftovers.isEmpty, !reporter.isJSON { reporter.result("There are no leftovers.", record: nil) }
        return Ending(.done, members: Self.summaryOnUsage)
    }
}

extension Leftover {
    /// The leftover as an object.
    func record(isRehearsal: Bool) -> JSONValue {
        .object([
            ("type", .string("leftover")), ("kind", .string(kind.rawValue)), ("path", .string(path)),
            ("state", .string(isRemoved ? isRehearsal ? "wouldBeRemoved" : "removed" : "kept")),
            ("bytes", .integer(bytes)), ("reason", .string(reason)),
        ])
    }

    /// The leftover in one line.
    func text(isRehearsal: Bool) -> String {
        let state = isRemoved ? isRehearsal ? "would be removed" : "removed" : "kept"
        return "\(state)  \(kind.rawValue)  \(Escaped.path(path))  \(Figures.bytes(bytes))  (\(Escaped.text(reason)))"
    }
}
