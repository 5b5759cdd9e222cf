import ArgumentParser
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
        options.becomesOwner = ToolSurroundings.current.ownsProcess
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
