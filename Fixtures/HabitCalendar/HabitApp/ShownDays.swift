import Foundation
import HabitData
import ManagedObjects

/// The executed days of a habit, as a list shows them: prints each event of their fetched results controller.
final class ShownDays: FetchedResultsControllerDelegate {
    private let show: (String) -> Void

    private init(_ show: @escaping (String) -> Void) { self.show = show }

    /// Fetches the days, and follows them for as long as the context exists.
    static func follow(
        ofHabit id: UUID,
        in context: isolated ManagedObjectContext,
        show: @escaping (String) -> Void
    ) throws {
        var request = FetchRequest(entityName: "HabitDay")
        request.predicate = try FetchPredicate(format: "habit.id == %@ AND wasExecuted == YES", id)
        request.sortDescriptors = [.init(keyPath: "date")]
        let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
        let delegate = ShownDays(show)
        controller.delegate = delegate
        try controller.performFetch()
        context.userInfo["days"] = (controller, delegate)
    }

    func controllerWillChangeContent(_ controller: FetchedResultsController) { show("  controller: will change") }

    func controller(
        _ controller: FetchedResultsController,
        didChange object: ManagedObject,
        at indexPath: FetchedResultsController.IndexPath?,
        for type: FetchedResultsController.ChangeType,
        newIndexPath: FetchedResultsController.IndexPath?
    ) {
        let day = (try? object.value(Date.self, forKey: "date"))?.day
        let rows = [indexPath, newIndexPath].compactMap { $0.map { "row \($0.item)" } }
        show("  controller: \(type) \(day.map { $0 + " " } ?? "")\(rows.joined(separator: " to "))")
    }

    func controllerDidChangeContent(_ controller: FetchedResultsController) { show("  controller: did change") }
}
