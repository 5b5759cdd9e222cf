import ManagedObjects

/// Applies a controller's reported changes to an old list, as a table view would.
final class ListReplay: FetchedResultsControllerDelegate {
    private struct Change {
        let object: ManagedObject
        let old: FetchedResultsController.IndexPath?
        let new: FetchedResultsController.IndexPath?
    }

    /// The objects themselves, because their IDs change in a save.
    private(set) var sections: [[ManagedObject]]
    private(set) var rounds = 0
    private var deletedSections: [Int] = []
    private var insertedSections: [Int] = []
    private var changes: [Change] = []

    init(_ controller: FetchedResultsController) {
        sections = Self.sections(of: controller)
    }

    static func sections(of controller: FetchedResultsController) -> [[ManagedObject]] {
        (controller.sections ?? []).map(\.objects)
    }

    func controllerWillChangeContent(_ controller: FetchedResultsController) { rounds += 1 }

    func controller(
        _ controller: FetchedResultsController,
        didChange section: FetchedResultsController.Section,
        atSectionIndex index: Int,
        for type: FetchedResultsController.ChangeType
    ) {
        if type == .insert { insertedSections.append(index) } else { deletedSections.append(index) }
    }

    func controller(
        _ controller: FetchedResultsController,
        didChange object: ManagedObject,
        at indexPath: FetchedResultsController.IndexPath?,
        for type: FetchedResultsController.ChangeType,
        newIndexPath: FetchedResultsController.IndexPath?
    ) {
        if type != .update { changes.append(Change(object: object, old: indexPath, new: newIndexPath)) }
    }

    /// Removes at the old positions, then inserts at the new ones.
    func controllerDidChangeContent(_ controller: FetchedResultsController) {
        for place in changes.compactMap(\.old).sorted(by: >) { sections[place.section].remove(at: place.item) }
        for index in deletedSections.sorted(by: >) { sections.remove(at: index) }
        for index in insertedSections.sorted() { sections.insert([], at: index) }
        for change in changes.sorted(by: { ($0.new ?? Self.first) < ($1.new ?? Self.first) }) {
            if let place = change.new { sections[place.section].insert(change.object, at: place.item) }
        }
        (deletedSections, insertedSections, changes) = ([], [], [])
    }

    private static let first = FetchedResultsController.IndexPath(item: 0, section: 0)
}
