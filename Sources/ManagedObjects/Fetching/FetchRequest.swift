/// Asks a store, or a context, for objects of an entity.
public struct FetchRequest: Hashable, Sendable {
    public var entityName: String
    /// Which objects are wanted; nil for all.
    public var predicate: FetchPredicate?
    /// The order of the result; objects that it leaves equal follow their keys.
    public var sortDescriptors: [SortDescriptor] = []
    /// The greatest number of results; 0 for all.
    public var fetchLimit = 0
    public var fetchOffset = 0
    /// How many objects ``ManagedObjectContext/fetchInBatches(_:)`` reads at a time; 0 for all at once.
    ///
    /// Other fetches return arrays, and read what is in them.
    public var fetchBatchSize = 0
    public var includesSubentities = true
    /// Whether objects that a context has changed and not saved are taken as they are there.
    public var includesPendingChanges = true
    /// False to read no more of faults than which there are: each is read when it is looked into.
    public var includesPropertyValues = true
    public var returnsObjectsAsFaults = true
    /// Whether objects that a context has already are given the values that were just read.
    public var shouldRefreshRefetchedObjects = false
    /// The relationships whose destinations are read along.
    public var relationshipKeyPathsForPrefetching: [String] = []
    /// Key paths to attributes, to-one relationships and counts, for dictionaries; none for all attributes.
    public var propertiesToFetch: [String] = []
    /// Whether equal dictionaries are returned once.
    public var returnsDistinctResults = false
    /// True where dictionaries are wanted, and not objects.
    package var returnsDictionaries = false

    public init(entityName: String, predicate: FetchPredicate? = nil, sortDescriptors: [SortDescriptor] = []) {
        self.entityName = entityName
        self.predicate = predicate
        self.sortDescriptors = sortDescriptors
    }
}
