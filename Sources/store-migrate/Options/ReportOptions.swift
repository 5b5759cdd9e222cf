import ArgumentParser
import StoreFormat
import StoreMigration
import UpgradeRehearsal

/// The HTML page that a verb writes beside its result.
struct ReportOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Also write an HTML page: what was done and proved, and the values in conflict, which come from rows. Only the \
            file's owner can read it.
            """,
            valueName: "file.html"
        )
    )
    var report: PathArgument?

    func validate() throws {
        guard report?.text != "-" else { throw ValidationError("--report takes a file, not standard output") }
    }

    /// Runs `body` with a report, and writes the page whether `body` returns or throws.
    ///
    /// Fails before `body` runs if the page cannot be written. The page never replaces a file of `stores`. `subject` and
    /// `failure` form its title when the run failed.
    func accompany(
        _ words: [String],
        of subject: String,
        _ stores: [StoreLocation],
        failure: String,
        _ reporter: Reporter,
        _ body: (RunReport) throws -> Ending
    ) throws -> Ending {
        guard let report else { return try body(RunReport(reporter, words)) }
        try report.requireFile()
        let run = try RunReport(reporter, words, file: ReportFile(report.url, besides: stores))
        do {
            return run.close(try body(run))
        } catch {
            run.close(Failure(error), title: "\(subject) \(failure)")
            throw error
        }
    }
}

/// How a verb reports.
struct ReportingOptions: ParsableArguments {
    /// How progress is shown.
    enum Progress: String, CaseIterable, ExpressibleByArgument {
        /// A redrawn line on a terminal, nothing elsewhere.
        case auto
        /// A line for each phase and each tenth of it.
        case plain
        case none
    }

    @Flag(help: "Print one JSON object per line; the last is a summary.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print only the result and errors.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Print more: every finding, the digest, and a log of the steps.")
    var verbose = false

    @Flag(name: .customLong("no-color"), help: "Use no colours; the variable NO_COLOR does the same.")
    var noColor = false

    @Option(help: ArgumentHelp("How to show progress: auto, plain or none.", valueName: "style"))
    var progress: Progress = .auto
}

/// What a restore may replace.
struct ReplacementOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Replace an existing store: never, always or if-older.", valueName: "policy"))
    var overwrite: RestoreOptions.OverwritePolicy = .never

    @Flag(help: "Replace a store of another UUID or kind.")
    var otherStore = false

    @Flag(help: "Restore a store whose model is not that of the existing store or --model.")
    var otherModel = false

    @Option(
        help: ArgumentHelp(
            "The model your programs carry (.momd, .mom, .xcdatamodeld); a store of a newer one is refused.",
            valueName: "file"
        )
    )
    var model: PathArgument?

    /// The library's options: these, and how to open the store.
    func options(_ access: AccessOptions) -> RestoreOptions {
        var options = RestoreOptions()
        options.overwrite = overwrite
        options.allowsOtherStore = otherStore
        options.allowsOtherModel = otherModel
        options.modelFile = model?.url
        options.lockTimeout = access.lockTimeout.duration
        options.allowsNetworkFileSystem = access.allowsNetworkFileSystem
        options.becomesOwner = Surroundings.current.ownsProcess
        return options
    }
}

/// How scenarios are run.
struct RehearsalOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Also write the results as JUnit XML to this file.", valueName: "file"))
    var junit: PathArgument?

    @Option(help: ArgumentHelp("How many scenarios to run at once. (default: one per core)", valueName: "number"))
    var jobs: Int?

    @Flag(help: "Keep the scratch folders and print their paths.")
    var keep = false

    func validate() throws {
        if let jobs, !(1...256).contains(jobs) { throw ValidationError("--jobs takes a number from 1 to 256") }
    }
}
