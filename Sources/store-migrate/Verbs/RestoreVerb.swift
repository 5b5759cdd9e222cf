import ArgumentParser
import StoreMigration

/// `restore FILE DEST`: restores a store from an archive.
struct RestoreVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Unpacks a backup, proves it, and puts the store at DEST; safe to run again.",
        discussion: """
            An existing store is kept unless --overwrite is given; then it is moved aside. With "-" the archive comes from \
            standard input, in a tar format.
            """
    )
    static let words = ["restore"]
    static let outcomes: [MigrationOutcome] = [
        .restored, .needsDecision, .verificationFailed, .interrupted, .nothingFound, .busy, .foundButUnreadable,
        .notWritable, .incompatible, .noSpace,
    ]

    @Argument(help: "The archive, or -.")
    var file: PathArgument

    @Argument(help: "The store's main file, or a folder to restore it to; left out with --group.")
    var dest: PathArgument?

    @OptionGroup var group: GroupOptions

    @Option(
        help: ArgumentHelp("How long to wait for standard input. (default: 10m)", valueName: "duration"),
        transform: LockTimeout.init(argument:)
    )
    var inputTimeout = LockTimeout(seconds: 600)

    @OptionGroup var replacement: ReplacementOptions
    @OptionGroup var access: AccessOptions
    @OptionGroup var reporting: ReportingOptions

    func validate() throws {
        try group.requireComplete(hasOtherStore: true)
        guard (dest == nil) != (group.group == nil) else {
            throw ValidationError("name the destination once: DEST, or --group ID")
        }
    }

    func perform(_ reporter: Reporter) throws -> Ending {
        let dest = try dest ?? group.path()
        try dest.requireFolder()
        let start = ContinuousClock.now
        let restorer = StoreRestorer(
            to: dest.url,
            options: replacement.options(access),
            logger: reporter.logger,
            onProgress: reporter.onProgress
        )
        let outcome =
            file.text == "-"
            ? try restorer.restoreAndWait(reading: input(reporter).read, isCancelled: reporter.isCancelled)
            : try restorer.restoreAndWait(from: file.url, isCancelled: reporter.isCancelled)
        reporter.report(outcome.findings)
        reporter.result(
            outcome.text(reporter.style, start.duration(to: .now)),
            record: outcome.record(of: file.text == "-" ? "-" : file.path)
        )
        return Ending(outcome.outcome, findings: reporter.isJSON ? outcome.findings.count : 0)
    }

    private func input(_ reporter: Reporter) -> StandardInput {
        StandardInput(patience: inputTimeout, isCancelled: reporter.isCancelled)
    }
}
