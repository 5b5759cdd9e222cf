import ManagedObjects
import StoreFormat
import StoreMigration

extension InspectVerb {
    /// Shows a part of one store.
    func perform(_ part: InspectionPart, of path: PathArgument, _ reporter: Reporter) throws -> Ending {
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
        reporter.show(model, as: part)
        return Ending(.done)
    }
}
