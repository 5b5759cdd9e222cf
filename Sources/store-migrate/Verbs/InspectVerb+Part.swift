import FoundationEssentials
import ManagedObjectGeneration
import ManagedObjects
import StoreBackup
import StoreFormat
import StoreMigration

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
