/// A result that follows its context, with typed objects and changes: a ``FetchedResultsController`` for one class.
///
/// Like its objects it belongs to its context and never leaves it; ``ManagedObjectContext/userInfo`` can retain it.
public final class FetchedResults<Object: TypedObject> {
    public typealias IndexPath = FetchedResultsController.IndexPath

    /// A change of the result.
    ///
    /// Deletions and moves have the position before all changes, insertions and moves the one after them.
    public enum Change {
        case insert(Object, at: IndexPath)
        case delete(Object, from: IndexPath)
        /// The position changed, and usually the object too.
        case move(Object, from: IndexPath, to: IndexPath)
        case update(Object, at: IndexPath)
        case insertSection(name: String, at: Int)
        case deleteSection(name: String, from: Int)
    }

    /// The objects with one section name, in order.
    public struct Section {
        public let name: String
        public let objects: [Object]
    }

    /// Receives the changes after each change of the context; sections come before objects.
    public var changeHandler: (([Change]) -> Void)? {
        didSet { controller.delegate = changeHandler == nil ? nil : follower }
    }

    /// Why the last change of the context could not be applied, and the result is unchanged; or that the result has an
    /// object of another class, which ``objects``, ``sections`` and the changes lack.
    public var updateError: (any Error)? { controller.updateError ?? classError }

    private let controller: FetchedResultsController
    private let follower = Follower()

    /// Creates a result for a request, which must have sort descriptors.
    public init(
        _ request: FetchRequest<Object>,
        in context: isolated ManagedObjectContext,
        behaviour: FetchedResultsController.Behaviour = .complete
    ) {
        controller = FetchedResultsController(
            fetchRequest: request,
            managedObjectContext: context,
            behaviour: behaviour
        )
        follower.results = self
    }

    /// Creates a result with the objects grouped by a property, which must come first in the request's order.
    public init<Value: SortableAttribute>(
        _ request: FetchRequest<Object>,
        in context: isolated ManagedObjectContext,
        sectionedBy property: KeyPath<Object, Value>,
        behaviour: FetchedResultsController.Behaviour = .complete
    ) {
        controller = FetchedResultsController(
            fetchRequest: request,
            managedObjectContext: context,
            sectionNameKeyPath: KeyPathNames.names(of: property).joined(separator: "."),
            behaviour: behaviour
        )
        follower.results = self
    }

    /// Fetches without calling the handler, and follows the context from now on.
    public func performFetch() throws {
        try controller.performFetch()
        let _: [Object] = try ObjectGraph.typed(controller.fetchedObjects ?? [])
    }

    /// The objects in order; empty before the first fetch.
    public var objects: [Object] { Self.typed(controller.fetchedObjects ?? []) }

    /// The sections in order; without a property to group by, one without a name.
    public var sections: [Section] {
        (controller.sections ?? []).map { Section(name: $0.name, objects: Self.typed($0.objects)) }
    }

    /// The position of an object; nil when it is not in the result.
    public func indexPath(of object: Object) -> IndexPath? { controller.indexPath(forObject: object) }

    /// The objects of this class.
    ///
    /// The first fetch fails for another class, but an object may match only later.
    private static func typed(_ objects: [ManagedObject]) -> [Object] { objects.compactMap { $0 as? Object } }

    private var classError: (any Error)? {
        for object in controller.fetchedObjects ?? [] where !(object is Object) {
            do {
                try ObjectGraph.require(Object.self, type(of: object), of: object.shape.name)
            } catch {
                return error
            }
        }
        return nil
    }

    /// Collects the controller's reports of one change.
    private final class Follower: FetchedResultsControllerDelegate {
        weak var results: FetchedResults?
        private var changes: [Change] = []

        func controllerWillChangeContent(_ controller: FetchedResultsController) { changes = [] }

        func controller(
            _ controller: FetchedResultsController,
            didChange section: FetchedResultsController.Section,
            atSectionIndex index: Int,
            for type: FetchedResultsController.ChangeType
        ) {
            changes.append(
                type == .insert
                    ? .insertSection(name: section.name, at: index) : .deleteSection(name: section.name, from: index)
            )
        }

        func controller(
            _ controller: FetchedResultsController,
            didChange object: ManagedObject,
            at indexPath: IndexPath?,
            for type: FetchedResultsController.ChangeType,
            newIndexPath: IndexPath?
        ) {
            // `updateError` reports an object of another class.
            guard let object = object as? Object else { return }
            switch (type, indexPath, newIndexPath) {
            case (.insert, _, let place?): changes.append(.insert(object, at: place))
            case (.delete, let place?, _): changes.append(.delete(object, from: place))
            case (.move, let old?, let new?): changes.append(.move(object, from: old, to: new))
            case (.update, _, let place?): changes.append(.update(object, at: place))
            default: break
            }
        }

        func controllerDidChangeContent(_ controller: FetchedResultsController) { results?.changeHandler?(changes) }
    }
}
