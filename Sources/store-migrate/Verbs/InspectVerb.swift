import ArgumentParser
import StoreBackup
import StoreFormat
import StoreMigration

/// `inspect STORE|FOLDER`: the files, metadata and counts of a store.
struct InspectVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract:
            "Shows a store's files, metadata, counts and history, or those of every store in a folder; writes nothing.",
        discussion: """
            STORE may also be a folder or a backup; with --show model or graph also a model (.xcdatamodeld, .momd, .mom) or a recipe.
            """
    )
    static let words = ["inspect"]
    static let outcomes: [MigrationOutcome] = [
        .done, .nothingFound, .busy, .foundButUnreadable, .orphanSidecar, .incompatible, .noSpace,
    ]

    @OptionGroup var named: StoreArguments

    @Option(help: ArgumentHelp("Only a part of a Core Data store: model, history or graph.", valueName: "part"))
    var show: InspectionPart?

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("With --show model: print Swift classes for the entities (swift).", valueName: "form")
    )
    var form: ModelForm?

    @OptionGroup var access: AccessOptions
    @OptionGroup var reporting: ReportingOptions

    func validate() throws {
        guard form == nil || show == .model else { throw ValidationError("--as needs --show model") }
    }

    func perform(_ reporter: Reporter) throws -> Ending {
        let path = try named.store
        if let show { return try perform(show, of: path, reporter) }
        if BackupArchive.isArchive(at: path.url) { return try performOnArchive(path, reporter) }
        let inspector = StoreInspector(
            depth: reporter.isJSON || reporter.isVerbose ? .digest : .counts,
            lockTimeout: access.lockTimeout.duration,
            allowsNetworkFileSystem: access.allowsNetworkFileSystem,
            onProgress: reporter.onProgress,
            isCancelled: reporter.isCancelled
        )
        var ending = Ending(.done)
        for location in try locations(at: path) {
            do {
                let store = try inspector.inspect(location).requireStore(at: location)
                reporter.result(
                    store.text(reporter.style, verbose: reporter.isVerbose),
                    record: store.record
                )
                reporter.report(store.findings)
                ending.findings += store.findings.count
            } catch {
                let failure = Failure(error)
                reporter.report(failure)
                if ending.exitStatus == 0 || failure.outcome == .cancelled { ending = ending.failing(failure.outcome) }
                if failure.outcome == .cancelled { break }
            }
        }
        return ending
    }

    private func performOnArchive(_ path: PathArgument, _ reporter: Reporter) throws -> Ending {
        try BackupArchive(at: path.url, onProgress: reporter.onProgress, isCancelled: reporter.isCancelled)
            .withStore { _, store in
                reporter.result(store.text(reporter.style, verbose: reporter.isVerbose), record: store.record)
                reporter.report(store.findings)
                return Ending(.done, findings: store.findings.count)
            }
    }

    /// The stores to inspect: the named one, or all of a folder.
    private func locations(at path: PathArgument) throws -> [StoreLocation] {
        guard StoreInspector.isFolder(path.path) else { return [path.location] }
        let stores = try StoreInspector.stores(in: path.path)
        guard !stores.isEmpty else {
            throw Failure(
                outcome: .nothingFound,
                message: "there is no store in the folder",
                path: path.path,
                advice: "Check the path."
            )
        }
        return stores
    }
}
