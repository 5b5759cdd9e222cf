/// Asks a store, or a context, for objects of an entity.
public struct FetchRequest: Hashable, Sendable {
    /// What is returned.
    public enum ResultType: Hashable, Sendable {
        case managedObjects
        case managedObjectIDs
        case count
        /// The values of ``FetchRequest/propertiesToFetch``, or of all attributes.
        case dictionaries
    }

    public var entityName: String
    /// Which objects are wanted; nil for all.
    public var predicate: FetchPredicate?
    /// The order of the result; objects that it leaves equal follow their keys.
    public var sortDescriptors: [SortDescriptor] = []
    /// The greatest number of results; 0 for all.
    public var fetchLimit = 0
    public var fetchOffset = 0
    /// How many objects are read at a time once the ids are known; 0 for all at once.
    public var fetchBatchSize = 0
    public var includesSubentities = true
    /// Whether objects that a context has changed and not saved are taken as they are there.
    public var includesPendingChanges = true
    public var includesPropertyValues = true
    public var returnsObjectsAsFaults = true
    /// Whether objects that a context has already are given the values that were just read.
    public var shouldRefreshRefetchedObjects = false
    /// The relationships whose destinations are read along.
    public var relationshipKeyPathsForPrefetching: [String] = []
    public var resultType = ResultType.managedObjects
    /// Key paths to attributes, to-one relationships and counts; for dictionaries.
    public var propertiesToFetch: [String] = []
    /// Whether equal dictionaries are returned once.
    public var returnsDistinctResults = false

    public init(entityName: String, predicate: FetchPredicate? = nil, sortDescriptors: [SortDescriptor] = []) {
        self.entityName = entityName
        self.predicate = predicate
        self.sortDescriptors = sortDescriptors
    }
}
