import NearNames
package import StoreFormat

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

extension FetchRequest {
    /// A sort key; nested here to avoid a conflict with `Foundation.SortDescriptor`.
    public struct SortDescriptor: Hashable, Sendable {
        public typealias Comparison = SortComparison

        /// A path of to-one relationships that ends in an attribute or in the `@count` of a to-many relationship.
        public let keyPath: String
        /// True for ascending order; nil sorts before every value.
        public let ascending: Bool
        public let comparison: Comparison

        public init(keyPath: String, ascending: Bool = true, comparison: Comparison = .literal) {
            self.keyPath = keyPath
            self.ascending = ascending
            self.comparison = comparison
        }

        /// The same key for requests of another class.
        init<Other>(_ descriptor: FetchRequest<Other>.SortDescriptor) {
            self.init(
                keyPath: descriptor.keyPath,
                ascending: descriptor.ascending,
                comparison: descriptor.comparison
            )
        }
    }
}

/// How strings compare in an order; other types have only one order.
public enum SortComparison: Hashable, Sendable {
    /// By code point, which can use an index.
    case literal
    case caseInsensitive
    case caseAndDiacriticInsensitive
}

extension SortComparison {
    var options: StringOptions {
        switch self {
        case .literal: []
        case .caseInsensitive: .caseInsensitive
        case .caseAndDiacriticInsensitive: [.caseInsensitive, .diacriticInsensitive]
        }
    }
}

extension ManagedObjectContext {
    /// Fetches objects, by default with this context's unsaved changes.
    ///
    /// An object that is already in the context keeps its values, even if the store has newer ones.
    public func fetch<Object>(_ request: FetchRequest<Object>) throws -> [Object] {
        let request = try untyped(request)
        return try ObjectGraph.typed(graph.fetch(resolved(request)))
    }

    /// Fetches objects that are read on access, in batches of ``FetchRequest/fetchBatchSize``.
    ///
    /// The list of objects is fixed at once; their values are read batch by batch. If unsaved changes may affect the
    /// result, all rows are read once to evaluate the request.
    public func fetchInBatches<Object>(_ request: FetchRequest<Object>) throws -> BatchedObjects<Object> {
        let request = try untyped(request)
        return try BatchedObjects(graph.objectIDs(resolved(request)), request, in: graph)
    }

    /// Fetches the IDs of objects without their values.
    public func fetchObjectIDs<Object>(_ request: FetchRequest<Object>) throws -> [ManagedObjectID] {
        try graph.objectIDs(resolved(FetchRequest(request)))
    }

    /// Counts the objects that match a request.
    public func count<Object>(for request: FetchRequest<Object>) throws -> Int {
        try graph.count(resolved(FetchRequest(request)))
    }

    /// Fetches values as dictionaries, as stored.
    public func fetchDictionaries<Object>(
        _ request: FetchRequest<Object>
    ) throws -> [[String: PredicateConstant]] {
        var request = FetchRequest<ManagedObject>(request)
        request.returnsDictionaries = true
        return try graph.source.dictionaries(resolved(request).renaming(graph.permanentIDs))
    }

    /// The request for plain objects, after its class was registered.
    private func untyped<Object>(_ request: FetchRequest<Object>) throws -> FetchRequest<ManagedObject> {
        persistentStoreCoordinator.adopt(Object.self)
        return FetchRequest(request)
    }

    private func resolved(_ request: FetchRequest<ManagedObject>) throws -> ResolvedFetch {
        try request.resolved(in: graph.source.shape().model)
    }
}

/// A predicate or fetch request that does not fit the entity it is used with.
public struct FetchError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The entity that was fetched.
    public let entity: String
    /// The invalid key path; empty when the error concerns none.
    public let keyPath: String
    /// The reason, as a lower-case fragment.
    public let message: String

    public init(entity: String, keyPath: String, message: String) {
        self.entity = entity
        self.keyPath = keyPath
        self.message = message
    }

    /// The error for an entity that the model lacks, with those it has.
    package init(unknown entity: String, in model: ManagedObjectModel) {
        let hint = NearName.hint(entity, among: model.entitiesByName.keys.sorted(), list: "it has")
        self.init(entity: entity, keyPath: "", message: "the model has no such entity; \(hint)")
    }

    public var description: String {
        keyPath.isEmpty ? "\(entity): \(message)" : "\(entity), key path '\(keyPath)': \(message)"
    }
}
