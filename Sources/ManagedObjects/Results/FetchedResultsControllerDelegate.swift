/// Receives the changes of a fetched results controller; every method is optional.
///
/// Sections are reported before objects. Deletions and moves have the position before all changes, insertions and moves
/// the one after them.
public protocol FetchedResultsControllerDelegate: AnyObject {
    func controllerWillChangeContent(_ controller: FetchedResultsController)
    /// A section was inserted or deleted.
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
