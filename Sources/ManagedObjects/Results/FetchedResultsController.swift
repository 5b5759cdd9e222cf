internal import StoreFormat

/// Keeps the result of a fetch up to date while its context changes, and tells a delegate what moved where.
///
/// It belongs to its context and never leaves it, as the objects it holds; ``ManagedObjectContext/userInfo`` is a place to
/// keep it. Without a delegate it stays as the last ``performFetch()`` left it.
public final class FetchedResultsController {
    /// How far the controller looks when its context takes in what others saved.
    public enum Behaviour: Sendable {
        /// After every change and every merge the result equals a fresh fetch.
        case complete
        /// Only objects that the context has are looked at, as Core Data documents it: one that is changed elsewhere so
        /// that it now matches is missed until the next ``FetchedResultsController/performFetch()``.
        case registeredOnly
    }

    /// Objects under one name, in order.
    public struct Section {
        public let name: String
        public let objects: [ManagedObject]
        public var numberOfObjects: Int { objects.count }
        /// The first letter of the name, in upper case.
        public var indexTitle: String? { name.first.map { $0.uppercased() } }
    }

    /// A place in the result.
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

    /// What became of an object or a section.
    public enum ChangeType: Sendable {
        case insert
        case delete
        /// The place changed, and most often the object too; no update is told besides.
        case move
        case update
    }

    public let fetchRequest: FetchRequest
    public let sectionNameKeyPath: String?
    public let behaviour: Behaviour
    public weak var delegate: (any FetchedResultsControllerDelegate)?
    /// Told the difference of the ids instead of the delegate being told of each object.
    public var differenceHandler: ((CollectionDifference<ManagedObjectID>) -> Void)?
    /// Why the last change of the context could not be followed; the result is then as it was before.
    public internal(set) var updateError: (any Error)?

    let graph: ObjectGraph
    var list: FetchedResultsList?
    private(set) var query: FetchedResultsQuery?
    /// What happened in the context and is not followed yet.
    var waiting: [ObjectsDidChange] = []
    var isFollowing = false
    private var observer: Int?

    /// Makes a controller for a request, which must have an order; with a section key path, sections follow it.
    public init(
        fetchRequest: FetchRequest,
        managedObjectContext context: isolated ManagedObjectContext,
        sectionNameKeyPath: String? = nil,
        behaviour: Behaviour = .complete
    ) {
        self.fetchRequest = fetchRequest
        self.sectionNameKeyPath = sectionNameKeyPath
        self.behaviour = behaviour
        graph = context.graph
    }

    deinit {
        if let observer { graph.removeObserver(observer) }
    }

    /// Fetches anew, without telling anybody, and follows the context from here on.
    public func performFetch() throws {
        let query = try FetchedResultsQuery(fetchRequest, sectionNameKeyPath, model: graph.source.shape().model)
        list = try query.list(of: graph.fetch(query.fetch))
        self.query = query
        updateError = nil
        if observer == nil { observer = graph.addObserver { [weak self] in self?.follow($0) } }
    }

    // MARK: The result

    /// The objects in order; nil before the first fetch.
    public var fetchedObjects: [ManagedObject]? { list?.entries.map(\.object) }

    /// The sections in order; one without a name when there is no section key path, nil before the first fetch.
    public var sections: [Section]? {
        list.map { list in
            list.sections.map { section in
                Section(name: section.name, objects: list.entries[section.range].map(\.object))
            }
        }
    }

    /// The object at a place; nil where there is none.
    public func object(at indexPath: IndexPath) -> ManagedObject? {
        guard let list, list.sections.indices.contains(indexPath.section) else { return nil }
        let range = list.sections[indexPath.section].range
        guard indexPath.item >= 0, indexPath.item < range.count else { return nil }
        return list.entries[range.lowerBound + indexPath.item].object
    }

    /// Where an object is; nil when it is not in the result.
    public func indexPath(forObject object: ManagedObject) -> IndexPath? {
        guard let list, let index = list.entries.firstIndex(where: { $0.object === object }) else { return nil }
        return list.indexPath(index)
    }

    /// The titles of the sections' index, each once.
    public var sectionIndexTitles: [String] {
        var titles: [String] = []
        for title in (sections ?? []).compactMap(\.indexTitle) where titles.last != title { titles.append(title) }
        return titles
    }
}
