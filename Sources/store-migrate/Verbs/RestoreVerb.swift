import ArgumentParser
import StoreMigration

/// `restore FILE DEST`: a store from its archive.
struct RestoreVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Unpacks a backup, proves it, and puts the store to its place; safe to run again.",
        discussion: """
            A store that is there stays unless --overwrite says otherwise, and is kept aside then. With "-" the archive comes \
            from standard input, in a tar form.
            """
    )
    static let words = ["restore"]
    static let outcomes: [MigrationOutcome] = [
        .restored, .needsDecision, .verificationFailed, .interrupted, .nothingFound, .busy, .foundButUnreadable,
        .notWritable, .incompatible, .noSpace,
    ]

    @Argument(help: "The archive, or -.")
    var file: PathArgument

    @Argument(help: "The store's main file, or the folder that it goes to.")
    var dest: PathArgument

    @Option(help: ArgumentHelp("Replace a store that is there: never, always or if-older.", valueName: "policy"))
    var overwrite: RestoreOptions.OverwritePolicy = .never

    @Flag(help: "Replace a store of another UUID or kind.")
    var otherStore = false

    @Flag(help: "Restore a store of a model that the place or --model does not know.")
    var otherModel = false

    @Option(
        help: ArgumentHelp(
            "The model your programs carry (.momd, .mom, .xcdatamodeld); a store of a newer one is refused.",
            valueName: "file"
        )
    )
    var model: PathArgument?

    @OptionGroup var access: AccessOptions
    @OptionGroup var reporting: ReportingOptions

    func perform(_ reporter: Reporter) throws -> Ending {
        let start = ContinuousClock.now
        try OldStoreOwner.becomeOwner(ofPlace: dest.url)
        let restorer = StoreRestorer(
            to: dest.url,
            options: options,
            logger: reporter.logger,
            onProgress: reporter.onProgress
        )
        let outcome =
            file.text == "-"
            ? try restorer.restore(reading: StandardStream.readInput, isCancelled: reporter.isCancelled)
            : try restorer.restore(from: file.url, isCancelled: reporter.isCancelled)
        reporter.report(outcome.findings)
        let archive = file.text == "-" ? "-" : file.path
        reporter.result(
            outcome.text(reporter.style, start.duration(to: .now)),
            record: outcome.record(of: archive)
        )
        return Ending(outcome.outcome, findings: reporter.isJSON ? outcome.findings.count : 0)
    }

    private var options: RestoreOptions {
        var options = RestoreOptions()
        options.overwrite = overwrite
        options.allowsOtherStore = otherStore
        options.allowsOtherModel = otherModel
        options.modelFile = model?.url
        options.lockTimeout = access.lockTimeout.duration
        options.allowsNetworkFileSystem = access.allowsNetworkFileSystem
        return options
    }
}
