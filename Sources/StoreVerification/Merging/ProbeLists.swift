import ManagedObjects

/// The lists of a screen of the reading side, kept up to date by fetched results controllers.
final class ProbeLists: FetchedResultsControllerDelegate {
    /// The key in a context's `userInfo`.
    private static let key = "probe"

    private var controllers: [String: FetchedResultsController] = [:]

    /// Fetches the lists of a context, by name, and tracks them from then on.
    static func follow(
        _ requests: [String: FetchRequest<ManagedObject>],
        behaviour: FetchedResultsController.Behaviour,
        in context: isolated ManagedObjectContext
    ) throws {
        let lists = ProbeLists()
        for (name, request) in requests {
            let controller = FetchedResultsController(
                fetchRequest: request,
                managedObjectContext: context,
                behaviour: behaviour
            )
            // A controller without a delegate does not track changes.
            controller.delegate = lists
            try controller.performFetch()
            lists.controllers[name] = controller
        }
        context.userInfo[key] = lists
    }

    /// The current content of the lists; throws why one of them could not be tracked.
    static func picture(in context: isolated ManagedObjectContext) throws -> ProbePicture {
        guard let lists = context.userInfo[key] as? ProbeLists else { return try ProbePicture([:]) }
        for controller in lists.controllers.values { if let error = controller.updateError { throw error } }
        return try ProbePicture(lists.controllers.mapValues { $0.fetchedObjects ?? [] })
    }

    /// The content of the same lists, fetched in a fresh context.
    static func freshPicture(
        _ requests: [String: FetchRequest<ManagedObject>],
        in context: isolated ManagedObjectContext
    ) throws -> ProbePicture {
        var lists: [String: [ManagedObject]] = [:]
        for (name, request) in requests { lists[name] = try context.fetch(request) }
        return try ProbePicture(lists)
    }
}
