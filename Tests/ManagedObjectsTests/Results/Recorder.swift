import ManagedObjects

/// Records what a controller reports.
final class Recorder: FetchedResultsControllerDelegate {
    var events: [String] = []
    /// The types of the reported object changes.
    private(set) var kinds: [FetchedResultsController.ChangeType] = []

    func controllerWillChangeContent(_ controller: FetchedResultsController) { events.append("will") }

    func controller(
        _ controller: FetchedResultsController,
        didChange section: FetchedResultsController.Section,
        atSectionIndex index: Int,
        for type: FetchedResultsController.ChangeType
    ) {
        events.append("\(type) section \(section.name) \(index)")
    }

    func controller(
        _ controller: FetchedResultsController,
        didChange object: ManagedObject,
        at indexPath: FetchedResultsController.IndexPath?,
        for type: FetchedResultsController.ChangeType,
        newIndexPath: FetchedResultsController.IndexPath?
    ) {
        kinds.append(type)
        let places = [indexPath, newIndexPath].map { $0.map { "\($0.section).\($0.item)" } ?? "-" }
        let name = (try? object.value(String.self, forKey: "name")) ?? "?"
        events.append("\(type) \(name) \(places.joined(separator: " "))")
    }

    func controllerDidChangeContent(_ controller: FetchedResultsController) { events.append("did") }
}
