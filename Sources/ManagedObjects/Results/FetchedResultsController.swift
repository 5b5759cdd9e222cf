/// Keeps the result of a fetch up to date while its context changes, and notifies a delegate of each change.
///
/// Like its objects it belongs to its context and never leaves it; ``ManagedObjectContext/userInfo`` can retain it.
/// Without a delegate, the result stays as of the last ``performFetch()``.
public final class FetchedResultsController {
    /// Which objects the controller checks when its context merges other saves.
    public enum Behaviour: Sendable {
        /// After every change and every merge the result equals a fresh fetch.
        case complete
        /// Only registered objects are checked, as Core Data documents it.
        ///
        /// An object changed elsewhere so that it now matches is missed until the next
        /// ``FetchedResultsController/performFetch()``.
        case registeredOnly
    }

    /// The objects with one section name, in order.
    public struct Section {
        public let name: String
        public let objects: [ManagedObject]
        public var numberOfObjects: Int { objects.count }
        /// The first letter of the name, in upper case.
        public var indexTitle: String? { name.first.map { $0.uppercased() } }
    }

    /// A position in the result.
    public struct IndexPath: Hashable, Sendable, Comparable {
        public let section: Int
        public let item: Int

        public init(item: Int, section: Int) {
            self.section = section
            self.item = item
        }

        public static func < (first: IndexPath, second: IndexPath) -> Bool {
            (first.section, first.item) < (second.section, second.item)
        }
    }

    /// The kind of change of an object or a section.
    public enum ChangeType: Sendable {
        case insert
        case delete
        /// The position changed, and usually the object too; no separate update is reported.
        case move
        case update
    }

    public let fetchRequest: FetchRequest<ManagedObject>
    public let sectionNameKeyPath: String?
    public let behaviour: Behaviour
    public weak var delegate: (any FetchedResultsControllerDelegate)?
    /// Receives the difference of the IDs; if set, the delegate is not called.
    public var differenceHandler: ((CollectionDifference<ManagedObjectID>) -> Void)?
    /// Why the last change of the context could not be applied; the result is then unchanged.
    public internal(set) var updateError: (any Error)?

    let graph: ObjectGraph
    var list: FetchedResultsList?
    private(set) var query: FetchedResultsQuery?
    /// The context's changes that are not applied yet.
    var waiting: [ObjectsDidChange] = []
    var isFollowing = false
    private var observer: Int?

    /// Creates a controller for a request, which must have sort descriptors; with a section key path it groups objects.
    public init<Object>(
        fetchRequest: FetchRequest<Object>,
        managedObjectContext context: isolated ManagedObjectContext,
        sectionNameKeyPath: String? = nil,
        behaviour: Behaviour = .complete
    ) {
        self.fetchRequest = FetchRequest(fetchRequest)
        self.sectionNameKeyPath = sectionNameKeyPath
        self.behaviour = behaviour
        graph = context.graph
        context.persistentStoreCoordinator.adopt(Object.self)
    }

    deinit {
        guard let observer else { return }
        graph.removeObserver(observer)
        graph.controllers[observer] = nil
    }

    /// Fetches without notifying the delegate, and follows the context from now on.
    public func performFetch() throws {
        let query = try FetchedResultsQuery(fetchRequest, sectionNameKeyPath, model: graph.source.shape().model)
        list = try query.list(of: graph.fetch(query.fetch))
        self.query = query
        updateError = nil
        guard observer == nil else { return }
        let observer = graph.addObserver { [weak self] in self?.follow($0) }
        graph.controllers[observer] = { [weak self] in self }
        self.observer = observer
    }

    // MARK: The result

    /// The objects in order; nil before the first fetch.
    public var fetchedObjects: [ManagedObject]? { list?.entries.map(\.object) }

    /// The sections in order; without a section key path one without a name; nil before the first fetch.
    public var sections: [Section]? {
        list.map { list in
            list.sections.map { section in
                Section(name: section.name, objects: list.entries[section.range].map(\.object))
            }
        }
    }

    /// The object at a position; nil for an invalid position.
    public func object(at indexPath: IndexPath) -> ManagedObject? {
        guard let list, list.sections.indices.contains(indexPath.section) else { return nil }
        let range = list.sections[indexPath.section].range
        guard indexPath.item >= 0, indexPath.item < range.count else { return nil }
        return list.entries[range.lowerBound + indexPath.item].object
    }

    /// The position of an object; nil when it is not in the result.
    public func indexPath(forObject object: ManagedObject) -> IndexPath? {
        guard let list, let index = list.entries.firstIndex(where: { $0.object === object }) else { return nil }
        return list.indexPath(index)
    }

    /// The index titles of the sections, without consecutive duplicates.
    public var sectionIndexTitles: [String] {
        var titles: [String] = []
        for title in (sections ?? []).compactMap(\.indexTitle) where titles.last != title { titles.append(title) }
        return titles
    }
}

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
