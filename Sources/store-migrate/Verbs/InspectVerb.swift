import ArgumentParser
import FoundationEssentials
import ManagedObjectGeneration
import ManagedObjects
import StoreAccess
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

extension InspectVerb {
    /// Shows a part of one store, or of a model or recipe.
    func perform(_ part: InspectionPart, of path: PathArgument, _ reporter: Reporter) throws -> Ending {
        if part != .history, !BackupArchive.isArchive(at: path.url), !holdsStores(path),
            let source = try ModelSource(modelFile: path.path)
        {
            show(source.model, source.annotations, as: part, named: path, reporter)
            return Ending(.done)
        }
        guard !StoreInspector.isFolder(path.path) else {
            throw Failure(
                outcome: .usage,
                message: "this is a folder, and --show needs one store",
                path: path.path,
                advice: "Name a store's main file."
            )
        }
        return try access.withStore(at: path, reporter) { try show(part, of: $0, named: path, reporter) }
    }

    private func show(
        _ part: InspectionPart,
        of location: StoreLocation,
        named path: PathArgument,
        _ reporter: Reporter
    ) throws -> Ending {
        let store = try access.layout(of: location, reporter)
        if part == .history {
            let overview = try access.historyReader(reporter).overview(of: location)
            guard let overview else { return reporter.showNoHistory(of: path.path) }
            reporter.show(overview, of: path.path)
            return Ending(.done)
        }
        guard let model = store.model else {
            throw StoreError(.plainStore, path: path.path, "a plain SQLite store has no model")
        }
        show(model, store.annotations, as: part, named: path, reporter)
        return Ending(.done)
    }

    private func show(
        _ model: ManagedObjectModel,
        _ annotations: ModelAnnotations,
        as part: InspectionPart,
        named path: PathArgument,
        _ reporter: Reporter
    ) {
        guard form == .swift else { return reporter.show(model, as: part) }
        let source = ManagedObjectSource(model: model, annotations: annotations, origin: path.url.lastPathComponent)
        reporter.show(source)
    }

    /// True for a folder that is not a model.
    private func holdsStores(_ path: PathArgument) -> Bool {
        StoreInspector.isFolder(path.path) && (try? ModelFile(path: path.path)) == nil
    }
}
