internal import Dispatch

/// How a context takes in a save of another context on the same coordinator.
///
/// A controller with ``FetchedResultsController/Behaviour/complete`` needs only ``merge``. The others are the remedies
/// that apps use for controllers that check registered objects only.
public enum SaveProcessing: Sendable, Hashable {
    /// Merges the save.
    case merge
    /// Merges the save, then refreshes every updated object.
    case refreshUpdated(mergeChanges: Bool)
    /// Merges the save, then refreshes the objects that match a controller of the context and are not registered in it.
    case refreshMatching
    /// Reads the updated objects that match a controller of the context and are not registered in it, then merges.
    case accessMatching
    /// Merges the save, then fetches each controller of the context again.
    ///
    /// A fetch reports nothing to the delegate. `reloadingDelegates` calls its methods for the beginning and the end of a
    /// change, for a delegate that then reloads its list.
    case fetchAgain(reloadingDelegates: Bool)
}

extension ManagedObjectContext {
    /// Takes in every save of another context, until the result is cancelled or released.
    ///
    /// The saving context does not wait. The next save of this context throws an error that occurs meanwhile.
    public nonisolated func observeSaves(
        of other: ManagedObjectContext,
        processing: SaveProcessing = .merge
    ) -> ChangeObservation {
        other.onDidSave { [weak self] notice in
            guard let self else { return }
            self.executor.queue.async {
                self.assumeIsolated { context in
                    do { try context.process(notice, as: processing) } catch { context.graph.keepFailure(error) }
                }
            }
        }
    }

    /// Takes in a save of another context.
    public func process(_ notice: ContextDidSave, as processing: SaveProcessing) throws {
        let controllers = graph.controllers.values.compactMap { $0() as? FetchedResultsController }
        switch processing {
        case .merge:
            try mergeChanges(fromContextDidSave: notice)
        case .refreshUpdated(let mergeChanges):
            try self.mergeChanges(fromContextDidSave: notice)
            for id in notice.updatedObjectIDs { try refresh(object(with: id), mergeChanges: mergeChanges) }
            try processPendingChanges()
        case .refreshMatching:
            try mergeChanges(fromContextDidSave: notice)
            let saved = notice.insertedObjectIDs.union(notice.updatedObjectIDs)
            for controller in controllers {
                for object in try controller.unregisteredMatches(among: saved) {
                    try refresh(object, mergeChanges: false)
                }
            }
            try processPendingChanges()
        case .accessMatching:
            let objects = try controllers.flatMap { try $0.unregisteredMatches(among: notice.updatedObjectIDs) }
            for object in objects { try object.willAccessValue(forKey: nil) }
            // The context does not retain them, and the merge ignores released objects.
            try withExtendedLifetime(objects) { try mergeChanges(fromContextDidSave: notice) }
        case .fetchAgain(let reloadingDelegates):
            try mergeChanges(fromContextDidSave: notice)
            for controller in controllers {
                let delegate = reloadingDelegates ? controller.delegate : nil
                delegate?.controllerWillChangeContent(controller)
                defer { delegate?.controllerDidChangeContent(controller) }
                try controller.performFetch()
            }
        }
    }
}
