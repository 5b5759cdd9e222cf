import ManagedObjects

/// An app's remedies for objects that begin to match a controller's predicate in another context, and are missed.
enum Remedy: String, CaseIterable {
    case none = "i  none"
    case child = "j  parent and child"
    case refreshing = "k  refresh all updated"
    case refreshingMerged = "l  the same, merged"
    case targeted = "m  refresh strangers that match"
    case accessing = "n  access strangers that match, merge"
    case fetching = "o  fetch at every save"
    case complete = "-  .complete, the default"

    var behaviour: FetchedResultsController.Behaviour { self == .complete ? .complete : .registeredOnly }

    /// Merges a save of the sibling into the displaying context, as each remedy does.
    func take(_ notice: ContextDidSave, into context: isolated ManagedObjectContext) throws {
        switch self {
        case .none, .complete: try context.mergeChanges(fromContextDidSave: notice)
        case .child: break
        case .refreshing, .refreshingMerged:
            try context.mergeChanges(fromContextDidSave: notice)
            for id in notice.updatedObjectIDs {
                let object = try context.object(with: id)
                if self == .refreshingMerged { try object.willAccessValue(forKey: nil) }
                try context.refresh(object, mergeChanges: self == .refreshingMerged)
            }
            try context.processPendingChanges()
        case .targeted:
            try context.mergeChanges(fromContextDidSave: notice)
            for object in try Self.strangers(notice, context) { try context.refresh(object, mergeChanges: false) }
            try context.processPendingChanges()
        case .accessing:
            let strangers = try Self.strangers(notice, context)
            for object in strangers { try object.willAccessValue(forKey: nil) }
            // The context does not retain them, and the merge skips released objects.
            try withExtendedLifetime(strangers) { try context.mergeChanges(fromContextDidSave: notice) }
        case .fetching:
            try context.mergeChanges(fromContextDidSave: notice)
            try (context.userInfo["controller"] as? FetchedResultsController)?.performFetch()
        }
    }

    /// The objects of a save that match and are new to the context.
    private static func strangers(
        _ notice: ContextDidSave,
        _ context: isolated ManagedObjectContext
    ) throws -> [ManagedObject] {
        let ids = notice.insertedObjectIDs.union(notice.updatedObjectIDs)
            .filter { context.registeredObject(for: $0) == nil }
        let these = try FetchPredicate(format: "SELF IN %@", ids)
        let matching = try FetchPredicate(format: "isEven == YES")
        return try context.fetch(FetchRequest(entityName: "Thing", predicate: .and([matching, these])))
    }
}
