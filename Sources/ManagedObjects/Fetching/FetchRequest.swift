/// A request to a store or a context for objects of an entity.
///
/// `FetchRequest(entityName: "Habit")` finds plain ``ManagedObject``s; `FetchRequest<Habit>()` finds objects of a generated
/// class, with key paths that the compiler checks.
public struct FetchRequest<Object: ManagedObject>: Hashable, Sendable {
    public var entityName: String
    /// The condition for objects; nil for all.
    public var predicate: FetchPredicate?
    /// The order of the result; equal objects are ordered by key.
    public var sortDescriptors: [SortDescriptor] = []
    /// The maximum number of results; 0 for no limit.
    public var fetchLimit = 0
    public var fetchOffset = 0
    /// The number of objects that ``ManagedObjectContext/fetchInBatches(_:)`` reads at a time; 0 for all at once.
    ///
    /// Other fetches return arrays and read all their objects.
    public var fetchBatchSize = 0
    public var includesSubentities = true
    /// Whether unsaved changes of the context affect the result.
    public var includesPendingChanges = true
    /// False to fetch IDs only: a fault then reads its row on access.
    public var includesPropertyValues = true
    public var returnsObjectsAsFaults = true
    /// Whether objects that are already in the context get the values just read.
    public var shouldRefreshRefetchedObjects = false
    /// The relationships whose destinations are read with the objects.
    public var relationshipKeyPathsForPrefetching: [String] = []
    /// Key paths to attributes, to-one relationships and counts, for dictionaries; empty for all attributes.
    public var propertiesToFetch: [String] = []
    /// Whether equal dictionaries are returned only once.
    public var returnsDistinctResults = false
    /// True to return dictionaries instead of objects.
    package var returnsDictionaries = false

    init(of entityName: String, _ predicate: FetchPredicate?, _ sortDescriptors: [SortDescriptor]) {
        self.entityName = entityName
        self.predicate = predicate
        self.sortDescriptors = sortDescriptors
    }
}

extension FetchRequest where Object == ManagedObject {
    public init(entityName: String, predicate: FetchPredicate? = nil, sortDescriptors: [SortDescriptor] = []) {
        self.init(of: entityName, predicate, sortDescriptors)
    }

    /// The same request for plain objects.
    public init<Typed>(_ request: FetchRequest<Typed>) {
        self.init(of: request.entityName, request.predicate, request.sortDescriptors.map(SortDescriptor.init))
        fetchLimit = request.fetchLimit
        fetchOffset = request.fetchOffset
        fetchBatchSize = request.fetchBatchSize
        includesSubentities = request.includesSubentities
        includesPendingChanges = request.includesPendingChanges
        includesPropertyValues = request.includesPropertyValues
        returnsObjectsAsFaults = request.returnsObjectsAsFaults
        shouldRefreshRefetchedObjects = request.shouldRefreshRefetchedObjects
        relationshipKeyPathsForPrefetching = request.relationshipKeyPathsForPrefetching
        propertiesToFetch = request.propertiesToFetch
        returnsDistinctResults = request.returnsDistinctResults
        returnsDictionaries = request.returnsDictionaries
    }
}

extension FetchRequest where Object: TypedObject {
    /// Creates a request for the objects of a class, and of its subclasses.
    ///
    /// The class is registered with the coordinator by the first request that uses it.
    public init(predicate: TypedPredicate<Object>? = nil, sortDescriptors: [SortDescriptor] = []) {
        self.init(of: Object.entityName, predicate?.untyped, sortDescriptors)
    }
}
