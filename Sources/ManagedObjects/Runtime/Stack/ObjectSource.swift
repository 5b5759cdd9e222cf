internal import FoundationEssentials

/// The source and destination of a context's objects: a coordinator, or the parent of a child context.
protocol ObjectSource: Sendable {
    /// The row of an object, no older than `maximumAge`; nil for a missing row.
    ///
    /// A nil age allows any age.
    func row(of id: ManagedObjectID, maximumAge: Duration?) throws -> RowSnapshot?
    /// The rows of several objects, in the order of the IDs, read with as few statements as possible.
    func rows(of ids: [ManagedObjectID], maximumAge: Duration?) throws -> [RowSnapshot?]
    /// The cached row of an object; nil when it is not cached.
    ///
    /// Never reads the store.
    func sharedRow(of id: ManagedObjectID) -> RowSnapshot?
    /// The rows of several objects, read from the store; missing rows are left out.
    func rows(of ids: [ManagedObjectID]) throws -> [RowSnapshot]
    /// The rows of a fetch, read from the store; ordered and limited only if ``ordersFetches(of:)``.
    func rows(_ fetch: ResolvedFetch) throws -> [RowSnapshot]
    /// The IDs of a fetch's result, ordered and limited; only for an entity with ``ordersFetches(of:)``.
    func objectIDs(_ fetch: ResolvedFetch) throws -> [ManagedObjectID]
    /// True when the source applies order and limit to fetches of an entity, because one store contains all its
    /// objects.
    func ordersFetches(of entity: String) -> Bool
    /// The number of objects of a fetch; nil when only fetching them can determine it.
    func count(_ fetch: ResolvedFetch) throws -> Int?
    /// The dictionaries of a fetch, as stored.
    func dictionaries(_ fetch: ResolvedFetch) throws -> [[String: PredicateConstant]]
    func destinations(of owners: [ManagedObjectID], _ relationship: String) throws -> [ManagedObjectID:
        [ManagedObjectID]]
    func externalData(_ name: String, of id: ManagedObjectID) throws -> Data
    func save(_ request: SaveRequest) throws -> SaveOutcome
    /// Adds a context as a user of cached rows; ``release(_:)`` removes it.
    func retain(_ rows: [RowSnapshot])
    func release(_ id: ManagedObjectID)
    /// Drops cached rows that are older than `age`, so that the next access reads the store; nil drops rows of any age.
    func forget(_ ids: [ManagedObjectID], olderThan age: Duration?)
    /// True for IDs of open stores.
    func canRead(_ id: ManagedObjectID) -> Bool
    func shape() throws -> ModelShape
    /// The class of an entity's objects.
    func type(of shape: ObjectShape) -> ManagedObject.Type
}
