import ArgumentParser
import FoundationEssentials
import StoreAccess
import StoreBackup
import StoreFormat
import StoreMigration

/// `backup STORE -o FILE`: a self-contained archive of a store.
struct BackupVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Writes a store, its external files and its relay to an archive, and checks it by unpacking it.",
        discussion: """
            Writers are not blocked. The same store gives the same bytes, and nothing is ever overwritten. In a folder the \
            archive is named after the store and the time; with "-" it goes to standard output once it is checked.
            """
    )
    static let words = ["backup"]
    static let outcomes: [MigrationOutcome] = [
        .done, .nothingFound, .busy, .foundButUnreadable, .notWritable, .orphanSidecar, .incompatible, .noSpace,
    ]

    @OptionGroup var named: StoreArguments

    @Option(name: .shortAndLong, help: ArgumentHelp("The archive, a folder of archives, or -.", valueName: "file"))
    var output: PathArgument

    @OptionGroup var form: FormOptions
    @OptionGroup var access: AccessOptions
    @OptionGroup var reporting: ReportingOptions

    func validate() throws {
        guard output.text == "-", reporting.json else { return }
        throw ValidationError("an archive and JSON cannot both go to standard output; leave out --json")
    }

    func perform(_ reporter: Reporter) throws -> Ending {
        try output.requireFolder()
        let start = ContinuousClock.now
        let store = try named.store
        let found = try access.layout(of: store.location, reporter).findings.filter { $0.code == .walHeaderWithoutLog }
        var options = BackupOptions()
        options.form = try form.form(for: output.text)
        options.lockTimeout = access.lockTimeout.duration
        options.allowsNetworkFileSystem = access.allowsNetworkFileSystem
        options.tool = "store-migrate \(Versions.tool)"
        let report = try make(of: store, options, reporter)
        let findings = found + report.findings
        reporter.report(findings)
        if output.text != "-" {
            reporter.result(report.text(reporter.style, start.duration(to: .now)), record: report.record)
        }
        return Ending(.done, findings: findings.count)
    }

    private func make(of store: PathArgument, _ options: BackupOptions, _ reporter: Reporter) throws -> BackupReport {
        if output.text != "-", StoreInspector.isFolder(output.path) {
            return try BackupFolder(at: output.url, onProgress: reporter.onProgress, isCancelled: reporter.isCancelled)
                .add(store.url, options: options)
        }
        let maker = BackupMaker(
            of: store.url,
            options: options,
            onProgress: reporter.onProgress,
            isCancelled: reporter.isCancelled
        )
        guard output.text == "-" else { return try maker.make(at: output.url) }
        return try maker.make { bytes in
            guard reporter.surroundings.output.write(bytes) else {
                throw Failure(
                    outcome: .failed,
                    message: "the archive could not be written to standard output",
                    advice: "Check what standard output is connected to."
                )
            }
        }
    }
}
