/// Is told what changed in a fetched results controller; every method may be left out.
///
/// Sections come before objects. Deletions and moves name the place before all changes, insertions and moves the one
/// after them.
public protocol FetchedResultsControllerDelegate: AnyObject {
    func controllerWillChangeContent(_ controller: FetchedResultsController)
    /// A section came (`insert`) or went (`delete`).
    func controller(
        _ controller: FetchedResultsController,
        didChange section: FetchedResultsController.Section,
        atSectionIndex index: Int,
        for type: FetchedResultsController.ChangeType
    )
    func controller(
        _ controller: FetchedResultsController,
        didChange object: ManagedObject,
        at indexPath: FetchedResultsController.IndexPath?,
        for type: FetchedResultsController.ChangeType,
        newIndexPath: FetchedResultsController.IndexPath?
    )
    func controllerDidChangeContent(_ controller: FetchedResultsController)
}

extension FetchedResultsControllerDelegate {
    public func controllerWillChangeContent(_ controller: FetchedResultsController) {}

    public func controller(
        _ controller: FetchedResultsController,
        didChange section: FetchedResultsController.Section,
        atSectionIndex index: Int,
        for type: FetchedResultsController.ChangeType
    ) {}

    public func controller(
        _ controller: FetchedResultsController,
        didChange object: ManagedObject,
        at indexPath: FetchedResultsController.IndexPath?,
        for type: FetchedResultsController.ChangeType,
        newIndexPath: FetchedResultsController.IndexPath?
    ) {}

    public func controllerDidChangeContent(_ controller: FetchedResultsController) {}
}
